"""Global memory to registers and LDS: descriptors, lane addresses, direct loads."""

from __future__ import annotations

from zyfa.codegen.instruction import Line, lds_load, op, scalar
from zyfa.codegen.lds import Plane
from zyfa.codegen.machine import Machine
from zyfa.codegen.registers import M0, Reg

RAW_BUFFER = 0x00020000
"""Word 3 of a raw buffer descriptor on gfx9: 32-bit data format, no swizzle."""


def descriptor(desc: Reg, base: Reg, offset: Reg) -> list[Line]:
    """Base address and format; the caller sets word 2, the bytes in range."""
    return [
        scalar("s_add_u32", desc[0], base[0], offset[0]),
        scalar("s_addc_u32", desc[1], base[1], offset[1]),
        op("s_mov_b32", desc[3], RAW_BUFFER),
    ]


def descriptors(k: Machine) -> list[Line]:
    """Q rows of the tile, K and V rows up to its last block: reads beyond return zero."""
    shape = k.shape
    return [
        *descriptor(k.q_desc, k.argument("q"), k.field("q")),
        op("s_mul_i32", k.q_desc[2], k.argument("q_stride"), shape.rows - 1),
        scalar("s_add_u32", k.q_desc[2], k.q_desc[2], shape.d_qk),
        *descriptor(k.k_desc, k.argument("k"), k.field("kv")),
        op("s_lshl_b32", k.t[0], k.field("blocks"), shape.keys.bit_length() - 1),
        scalar("s_sub_u32", k.t[0], k.t[0], 1),
        op("s_mul_i32", k.k_desc[2], k.t[0], k.argument("kv_stride")),
        scalar("s_add_u32", k.k_desc[2], k.k_desc[2], shape.d_qk),
        *descriptor(k.v_desc, k.argument("v"), k.field("kv")),
        op("s_mov_b32", k.v_desc[2], k.k_desc[2]),
    ]


def load_q(k: Machine) -> list[Line]:
    """Q as B operand: query l % 32, the dimensions that lds.k_address gives K."""
    offset, half = k.temp[0], k.temp[1]
    lines: list[Line] = [
        op("v_mul_lo_u32", offset, k.row, k.argument("q_stride")),
        op("v_lshrrev_b32", half, 5, k.lane),
        op("v_lshl_add_u32", offset, half, 4, offset),
    ]
    for step in range(k.shape.qk_steps):
        for part in range(2):
            to = k.q[step][4 * part : 4 * part + 4]
            mods = f"offen offset:{64 * step + 32 * part}"
            lines.append(op("buffer_load_dwordx4", to, offset, k.q_desc, 0, mods=mods))
    return lines


def addresses(k: Machine) -> list[Line]:
    """Lane addresses for buffer 0: K and V reads (lds.k_address, lds.v_address), direct loads."""
    a, b, c, d = k.temp
    lines: list[Line] = [
        op("v_bfe_u32", a, k.lane, 2, 1),
        op("v_and_or_b32", a, k.lane, 2, a),
        op("v_lshrrev_b32", b, 1, k.lane),
        op("v_and_or_b32", a, b, 4, a).noted("lds.mask of K's row l % 32"),
        op("v_lshrrev_b32", b, 5, k.lane),
        op("v_xor_b32", a, a, b),
        op("v_and_b32", b, 31, k.lane),
        op("v_lshlrev_b32", b, 7, b),
    ]
    for i, register in enumerate(k.k_read):
        lines += [op("v_xor_b32", c, 2 * i, a), op("v_lshl_or_b32", register, c, 4, b)]
    lines += [
        op("v_lshrrev_b32", a, 5, k.lane),
        op("v_bfe_u32", b, k.lane, 1, 2),
        op("v_lshl_or_b32", a, a, 2, b),
        op("v_bfe_u32", b, k.lane, 3, 1),
        op("v_lshl_or_b32", a, b, 3, a).noted("V's key, lds.v_key"),
        op("v_lshlrev_b32", b, 7, a),
        op("v_lshrrev_b32", a, 5, k.lane),
        op("v_lshrrev_b32", c, 1, k.lane),
        op("v_and_or_b32", a, c, 6, a).noted("its mask"),
        op("v_bfe_u32", c, k.lane, 4, 1),
        op("v_xor_b32", a, a, c),
        op("v_and_b32", c, 1, k.lane),
        op("v_lshl_add_u32", b, c, 3, b),
        op("v_add_u32", b, k.layout.v[0].base, b),
    ]
    for i, register in enumerate(k.v_read):
        lines += [op("v_xor_b32", c, 2 * i, a), op("v_lshl_add_u32", register, c, 4, b)]
    lines += [
        scalar("s_and_b32", k.t[0], k.wave, 1),
        op("s_lshl_b32", k.t[0], k.t[0], 2),
        op("v_lshrrev_b32", a, 5, k.lane),
        op("v_lshrrev_b32", b, 3, k.lane),
        op("v_and_or_b32", a, b, 2, a),
        op("v_or_b32", a, k.t[0], a).noted("mask of row 8 w + l / 8"),
        op("v_and_b32", b, 7, k.lane),
        op("v_xor_b32", a, a, b).noted("lds.load_chunk"),
        op("s_lshl_b32", k.t[1], k.wave, 3),
        op("v_lshrrev_b32", c, 3, k.lane),
        op("v_add_u32", c, k.t[1], c),
        op("v_mul_lo_u32", d, c, k.argument("kv_stride")),
        op("v_lshl_add_u32", k.load_from[0], a, 4, d),
    ]
    lines += [
        op("v_add_u32", register, first, k.load_from[0])
        for first, register in k.load_from.items()
        if first
    ]
    return lines


def counters(k: Machine) -> list[Line]:
    """LDS buffers in turn, global offsets of the next block to load."""
    return [
        *(op("s_mov_b32", register, i * k.layout.stride) for i, register in enumerate(k.lds)),
        op("s_mov_b32", k.k_next[0], 0),
        op("s_lshr_b32", k.k_next[1], k.block_bytes, 1).noted("64 rows on"),
        op("s_mov_b32", k.v_next[0], 0),
        op("s_mov_b32", k.v_next[1], k.k_next[1]),
    ]


def load_block(k: Machine, operand: str, buffer: Reg) -> list[list[Line]]:
    """A wave's direct loads of the next block of K or V, each a rider of its own."""
    planes = k.layout.k if operand == "k" else k.layout.v
    return [load_plane(k, plane, i, buffer) for plane in planes for i in range(2)]


def load_plane(k: Machine, plane: Plane, part: int, buffer: Reg) -> list[Line]:
    """Half `part` of a plane's rows; after an operand's last plane its offset moves on a block."""
    desc, following, planes = (
        (k.k_desc, k.k_next, k.layout.k)
        if plane.operand == "k"
        else (k.v_desc, k.v_next, k.layout.v)
    )
    rows = f"{plane.operand.upper()} rows {part * k.shape.keys // 2} + 8 w"
    lines: list[Line] = [
        scalar("s_add_u32", M0, buffer, k.lands[plane][part]).noted(rows),
        op("s_nop", 0, writes=0),
        lds_load(k.load_from[plane.first], desc, following[part]),
    ]
    if plane is planes[-1]:
        lines.append(scalar("s_add_u32", following[part], following[part], k.block_bytes))
    return lines


def rotate(k: Machine) -> list[Line]:
    """Reads move on one buffer: V from that of block i to i + 1, K from i + 1 to i + 2."""
    t = k.t
    return [
        scalar("s_sub_u32", t[0], k.lds[1], k.lds[0]),
        scalar("s_sub_u32", t[1], k.lds[2], k.lds[1]),
        op("s_mov_b32", t[2], k.lds[0]),
        op("s_mov_b32", k.lds[0], k.lds[1]),
        op("s_mov_b32", k.lds[1], k.lds[2]),
        op("s_mov_b32", k.lds[2], t[2]),
    ]


def move_reads(k: Machine) -> list[Line]:
    """Vector half of `rotate`; eight ticks, used to fill slots of the softmax scalars.

    Four bytes each, so they also keep the eight-byte instructions after them aligned.
    """
    moves = [(k.t[0], register) for register in k.v_read]
    moves += [(k.t[1], register) for register in k.k_read]
    return [op("v_add_u32", register, by, register) for by, register in moves]
