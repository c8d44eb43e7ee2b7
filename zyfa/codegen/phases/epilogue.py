"""O / l to bf16 and the log-sum-exp of the rounded probabilities."""

from __future__ import annotations

from zyfa.codegen.instruction import Label, Line, control, op, scalar, store
from zyfa.codegen.machine import Machine
from zyfa.codegen.numbers import LARGEST_BF16, LARGEST_DESCALE, LN2, bits
from zyfa.codegen.phases.load import descriptor
from zyfa.codegen.registers import Reg
from zyfa.shape import SIDE

INFINITY = bits(float("inf"))
ONE = bits(1.0)
SIGN = 0x80000000


def write(k: Machine, rare: list[Line]) -> list[Line]:
    """Rows of the wave: bf16 out, f32 LSE (m 2^K + log2 l) ln 2, K of a cooled row's scale.

    `rare` collects the out-of-line path for a descale with which bf16 may overflow.
    """
    inverse, offset, half, lse = k.temp
    large, ready, above = k.label("large"), k.label("ready"), bits(LARGEST_DESCALE) + 1
    descale = k.descale["v_descale"]
    rare += [Label(large), *saturate(k, inverse), control("s_branch", ready)]
    lines: list[Line] = [
        *k.rowsum.total(k),
        op("v_rcp_f32", inverse, k.l),
        op("v_log_f32", lse, k.l),
        op("v_sub_u32", half, k.base_scale, k.log2_scale),
        op("v_lshrrev_b32", half, 23, half).noted("K"),
        op("v_ldexp_f32", k.m, k.m, half),
        scalar("s_sub_u32", k.t[0], descale, above),
        scalar("s_cmp_lt_u32", k.t[0], INFINITY - above).noted("above it, and finite"),
        control("s_cbranch_scc1", large, reads=("scc",)),
        op("v_mul_f32", inverse, descale, inverse).noted("V's descale"),
        Label(ready),
        op("v_add_f32", lse, k.m, lse),
        op("v_mul_f32", lse, LN2, lse),
        *descriptor(k.q_desc, k.argument("out"), k.field("out")),
        op("s_mul_i32", k.q_desc[2], k.argument("out_stride"), k.shape.rows - 1),
        scalar("s_add_u32", k.q_desc[2], k.q_desc[2], 2 * k.shape.d_v),
        op("v_mul_lo_u32", offset, k.row, k.argument("out_stride")),
        op("v_lshrrev_b32", half, 5, k.lane),
        op("v_lshl_add_u32", offset, half, 3, offset),
    ]
    for tile, o in enumerate(k.o):
        lines += [op("v_mul_f32_e64", o[r], o[r], inverse) for r in range(16)]
        for group in range(4):
            r = 4 * group
            pair = o[r : r + 2]
            lines += [
                op("v_cvt_pk_bf16_f32", pair[0], o[r], o[r + 1]),
                op("v_cvt_pk_bf16_f32", pair[1], o[r + 2], o[r + 3]),
            ]
        for group in range(4):
            mods = f"offen offset:{2 * (SIDE * tile + 8 * group)}"
            pair = o[4 * group : 4 * group + 2]
            lines.append(store("buffer_store_dwordx2", pair, offset, k.q_desc, 0, mods=mods))
    lines += [
        *descriptor(k.k_desc, k.argument("lse"), k.field("lse")),
        op("s_mov_b32", k.k_desc[2], 4 * k.shape.rows).noted(f"{k.shape.rows} rows of f32"),
        op("v_lshlrev_b32", offset, 2, k.row),
        op("s_mov_b32", "exec_hi", 0).noted("both lane halves hold the row: one writes"),
        store("buffer_store_dword", lse, offset, k.k_desc, 0, mods="offen"),
        op("s_mov_b32", "exec_hi", -1),
        control("s_waitcnt", "vmcnt(0)"),
    ]
    return lines


def saturate(k: Machine, inverse: Reg) -> list[Line]:
    """O / l times V's descale, at most bf16's largest; leaves 1 in `inverse`. A NaN stays."""
    most, least = k.alpha.each()
    lines: list[Line] = [
        op("v_mov_b32", most, LARGEST_BF16),
        op("v_mov_b32", least, SIGN | LARGEST_BF16),
    ]
    for o in (one for tile in k.o for one in tile.each()):
        lines += [
            op("v_mul_f32", o, inverse, o),
            op("v_mul_f32", o, k.descale["v_descale"], o),
            op("v_minimum3_f32", o, o, most, most),
            op("v_maximum3_f32", o, o, least, least),
        ]
    return [*lines, op("v_mov_b32", inverse, ONE)]
