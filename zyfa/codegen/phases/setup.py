"""Once per workgroup: arguments, the wave's place, constants."""

from __future__ import annotations

from zyfa.codegen import kernargs, lds
from zyfa.codegen.instruction import Line, op, scalar, wait
from zyfa.codegen.machine import Machine
from zyfa.codegen.numbers import COOL_EXPONENT, LARGEST, MINUS_INFINITY, SCALE_RANGE, power
from zyfa.codegen.registers import Reg


def arguments(k: Machine) -> list[Line]:
    """Kernel arguments, descales and the wave's number."""
    return [
        *(
            op(f"s_load_dwordx{count}", register, k.kernarg, at)
            for register, (at, count) in zip(k.loaded, kernargs.loads(), strict=True)
        ),
        op("v_lshrrev_b32", k.temp[0], 6, k.lane).noted("v0 is the work-item; 64 a wave"),
        op("v_readfirstlane_b32", k.wave, k.temp[0]),
        op("v_and_b32", k.lane, 63, k.lane),
        wait(lgkmcnt=0),
        *(
            op("s_load_dword", register, k.argument(name), 0)
            for name, register in k.descale.items()
        ),
        wait(lgkmcnt=0),
    ]


def constants(k: Machine) -> list[Line]:
    """Softmax constants, matrix constants, LDS bases of this wave."""
    softmax = k.softmax
    product = k.temp[0]
    lowest, highest = (power(exponent) for exponent in SCALE_RANGE)
    lines: list[Line] = [
        op("v_mov_b32", product, k.descale["q_descale"]),
        op("v_mul_f32", product, k.argument("scale_log2e"), product),
        *bound(k, "v_minimum3_f32", product, LARGEST),
        op("v_mul_f32", product, k.descale["k_descale"], product).noted("scale log2(e) dq dk"),
        *bound(k, "v_maximum3_f32", product, lowest),
        *bound(k, "v_minimum3_f32", product, highest),
    ]
    if softmax.qk_exponent:
        lines.append(op("v_mul_f32", product, power(-softmax.qk_exponent), product))
    lines.append(op("v_readfirstlane_b32", k.base_scale, product))
    scales = 127 << 8 | 127 + softmax.qk_exponent
    return [
        *lines,
        op("v_mov_b32", k.bias_slope, softmax.slope),
        op("v_mov_b32", k.bias_origin, softmax.origin),
        op("v_mov_b32", k.unit_scales, scales).noted("byte 0: scale of K, byte 1: 2^0"),
        op("v_mov_b32", k.minus_inf, MINUS_INFINITY),
        *landings(k),
        op("s_lshl_b32", k.block_bytes, k.argument("kv_stride"), k.shape.keys.bit_length() - 1)
        .noted(f"{k.shape.keys} keys"),
        op("v_and_b32", k.row, 31, k.lane),
        op("s_lshl_b32", k.t[0], k.wave, 5),
        op("v_add_u32", k.row, k.t[0], k.row).noted("query row of the lane in the tile"),
        *k.rowsum.selector(k),
    ]  # fmt: skip


def bound(k: Machine, mnemonic: str, value: Reg, limit: int) -> list[Line]:
    """minimum or maximum of `value` and a constant's bits; a NaN stays."""
    return [op("v_mov_b32", k.temp[1], limit), op(mnemonic, value, value, k.temp[1], k.temp[1])]


def scales(k: Machine) -> list[Line]:
    """log2_scale and coefficient as they are while no row of the tile is cooled."""
    softmax, coefficient = k.softmax, k.coefficient
    lines: list[Line] = [
        op("v_mov_b32", k.log2_scale, k.base_scale),
        op("v_mul_f32", coefficient[0], power(softmax.qk_exponent), k.log2_scale),
        op("v_mul_f32", coefficient[0], power(softmax.element_exponent), coefficient[0]),
        op("v_mov_b32", coefficient[1], coefficient[0]),
        op("s_mov_b32", k.cool_from, power(COOL_EXPONENT)),
    ]
    return lines


def landings(k: Machine) -> list[Line]:
    """Where this wave's loads of each plane land: 1 KB a wave, two loads a plane."""
    own, second = k.lands[k.layout.planes[0]]
    lines: list[Line] = [
        op("s_lshl_b32", own, k.wave, lds.LOAD.bit_length() - 1).noted("1 KB a wave and load"),
        scalar("s_add_u32", second, own, k.layout.stride // 2),
    ]
    for plane in k.layout.planes[1:]:
        lines += [
            scalar("s_add_u32", to, start, plane.base)
            for to, start in zip(k.lands[plane], (own, second), strict=True)
        ]
    return lines
