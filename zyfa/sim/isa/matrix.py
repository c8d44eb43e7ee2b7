"""MFMA: operand layouts as index tables, products by `zyfa.arithmetic`.

Layouts (lane l, register r): A and B 8-bit 32x32x64: row l % 32, byte j holds
k = 32 (j / 16) + 16 (l / 32) + j % 16; 8-bit 16x16x128: k = 64 (j / 16) + 16 (l / 16) + j % 16.
All other formats: the elements of a lane are consecutive k, lanes of higher groups follow.
C and D, 32x32: row 8 (r / 4) + 4 (l / 32) + r % 4, column l % 32; 16x16: row 4 (l / 16) + r.
Sources: rocjitsu's layout tables, HipKittens' FP8 tiles, AITER's addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from zyfa import arithmetic
from zyfa.sim.errors import UnknownInstruction
from zyfa.sim.isa.access import Getter, block_getter, cast, constant_bits
from zyfa.sim.isa.builders import handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave

Reader = Callable[[Wave], np.ndarray]

SHAPE = re.compile(
    r"v_(?:smfmac|mfma(?:_scale)?)_(f32|f64|i32)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_([a-z0-9_]+)$"
)
LANE = np.arange(64)
F8F6F4 = ("fp8", "bf8", "fp6", "bf6", "fp4")
"""Formats that cbsz (A) and blgp (B) number."""

BITS = {
    "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4, "bf16": 16, "f16": 16, "i8": 8, "f32": 32,
    "xf32": 32,
}  # fmt: skip
TABLES = {
    "fp8": arithmetic.E4M3, "bf8": arithmetic.E5M2, "fp6": arithmetic.E2M3,
    "bf6": arithmetic.E3M2, "fp4": arithmetic.E2M1,
}  # fmt: skip


@lru_cache(maxsize=64)
def element_index(rows: int, depth: int, width: int, interleaved: bool) -> np.ndarray:
    """Flat element index [row, k] into elements[lane, j] of one block (see module text).

    `width`: elements per lane. `interleaved`: the 16-byte chunks of FP8 alternate between lane
    groups.
    """
    groups = 64 // rows
    k = np.arange(depth)[None, :]
    row = np.arange(rows)[:, None]
    if interleaved and width > 16:
        group, j = k // 16 % groups, k // (16 * groups) * 16 + k % 16
    else:
        group, j = k // width, k % width
    return (group * rows + row) * width + j


def unpack(block: np.ndarray, form: str) -> np.ndarray:
    """Elements [lane, j] of a register block uint32[registers, 64], decoded to float64/int64."""
    lanes = np.ascontiguousarray(block.T)
    if form in ("fp8", "bf8"):
        return TABLES[form].take(lanes.view(np.uint8))
    if form == "fp4":
        raw = lanes.view(np.uint8)
        both = np.stack([raw & np.uint8(15), raw >> np.uint8(4)], axis=-1)
        return arithmetic.E2M1.take(both.reshape(64, -1))
    if form in ("fp6", "bf6"):
        bits = np.unpackbits(lanes.view(np.uint8), axis=1, bitorder="little")
        six = bits.reshape(64, -1, 6) @ (1 << np.arange(6))
        return TABLES[form].take(six)
    if form == "bf16":
        return arithmetic.bf16_decode(lanes.view(np.uint16)).astype(np.float64)
    if form == "f16":
        return lanes.view(np.float16).astype(np.float64)
    if form == "i8":
        return lanes.view(np.int8).astype(np.float64)
    return lanes.view(np.float32).astype(np.float64)


def operand_matrix(
    get: Getter, form: str, rows: int, depth: int, blocks: int
) -> Callable[..., Any]:
    """Reader of A (or B transposed): float64[blocks, rows, depth]."""
    width = depth * rows * blocks // 64
    registers = width * BITS[form] // 32 or 1
    per_block = element_index(rows, depth, width, form in ("fp8", "bf8") and blocks == 1)
    if blocks > 1:
        # Legacy multi-block shapes: block b lives in lanes b * rows * groups ...
        groups = 64 // (rows * blocks)
        k = np.arange(depth)[None, None, :]
        row = np.arange(rows)[None, :, None]
        block = np.arange(blocks)[:, None, None]
        width = max(depth // groups, 1) if groups else depth
        lane = (k // width) * rows * blocks + block * rows + row
        index = lane * width + k % width
    else:
        index = per_block[None]

    def read(w: Wave) -> np.ndarray:
        return unpack(get(w)[:registers], form).reshape(-1).take(index)

    return read


@lru_cache(maxsize=16)
def accumulator_index(rows: int, blocks: int) -> np.ndarray:
    """Flat index [block, row, column] into registers[r, lane] of C and D."""
    block = np.arange(blocks)[:, None, None]
    row = np.arange(rows)[None, :, None]
    column = np.arange(rows)[None, None, :]
    if rows == 32:
        register = 16 * block + row // 8 * 4 + row % 4
        lane = row // 4 % 2 * 32 + column
    elif rows == 16:
        register = 4 * block + row % 4
        lane = row // 4 * 16 + column
    else:
        register = row % 4
        lane = block * 4 + column
    return register * 64 + lane


def _accumulate(  # noqa: PLR0913 - the operands and the shape of one instruction
    inst: Instruction, a: Reader, b: Reader, rows: int, blocks: int, integer: bool,
    scales: tuple[Reader, Reader] | None, c_position: int,
) -> Execute:  # fmt: skip
    index = accumulator_index(rows, blocks)
    registers = rows * rows * blocks // 64
    item = inst.operands[c_position]
    get_c = block_getter(item)
    first = inst.operands[0].base
    last = first + registers
    inverse = np.argsort(index.reshape(-1)).reshape(registers, 64)
    fixed = None if item.vector else cast(constant_bits(item, "f"), "u")
    kind = np.int32 if integer else np.float32

    def run(w: Wave) -> None:
        left, right = a(w), b(w)
        if scales is not None:
            left, right = left * scales[0](w), right * scales[1](w)
        c = get_c(w).view(kind).reshape(-1).take(index) if fixed is None else fixed.view(kind)
        total = left @ right.swapaxes(1, 2) + c
        # Through int64, so that sums beyond 32 bits wrap.
        result = (total.astype(np.int64) if integer else total).astype(kind)
        w.v[first:last] = result.reshape(-1).take(inverse).view(np.uint32)

    return run


def _scale_reader(
    inst: Instruction, position: int, number: int, rows: int, depth: int
) -> Callable[..., Any]:
    """Reader of E8M0 scales spread over k: float64[1, rows, depth]."""
    low, high = inst.bits("op_sel", 3), inst.bits("op_sel_hi", 3)
    shift = np.uint32(8 * (low[number] + 2 * high[number]))
    base = inst.operands[position].base
    k, row = np.arange(depth)[None, :], np.arange(rows)[:, None]
    lane = k // 32 * rows + row

    def read(w: Wave) -> np.ndarray:
        codes = (w.u[base] >> shift) & np.uint32(0xFF)
        return arithmetic.e8m0_decode(codes).take(lane)[None]

    return read


def build_mfma(inst: Instruction) -> Execute:
    """Builder for every dense MFMA with float32 or int32 accumulators."""
    found = SHAPE.match(inst.syntax.stem)
    if found is None or found[1] == "f64":
        raise UnknownInstruction(f"not simulated: {inst.where}")
    rows, columns, depth = int(found[2]), int(found[3]), int(found[4])
    blocks = int(found[5] or 1)
    form = found[6]
    scaled = "_scale_" in inst.syntax.stem
    if form == "f8f6f4":
        form_a = F8F6F4[inst.modifier("cbsz", 0)]
        form_b = F8F6F4[inst.modifier("blgp", 0)]
    else:
        names = {"fp8_fp8": ("fp8", "fp8"), "bf8_bf8": ("bf8", "bf8"), "fp8_bf8": ("fp8", "bf8"),
                 "bf8_fp8": ("bf8", "fp8"), "bf16_1k": ("bf16", "bf16")}  # fmt: skip
        form_a, form_b = names.get(form, (form, form))
        if inst.modifier("cbsz", 0) or inst.modifier("blgp", 0):
            raise UnknownInstruction(f"broadcast modifiers are not simulated: {inst.where}")
    if form_a not in BITS or rows != columns:
        raise UnknownInstruction(f"not simulated: {inst.where}")
    a = operand_matrix(block_getter(inst.operands[1]), form_a, rows, depth, blocks)
    b = operand_matrix(block_getter(inst.operands[2]), form_b, rows, depth, blocks)
    scales = None
    if scaled:
        of_a, of_b = (_scale_reader(inst, 4 + n, n, rows, depth) for n in (0, 1))
        scales = of_a, of_b
    return _accumulate(inst, a, b, rows, blocks, found[1] == "i32", scales, 3)


MNEMONICS = [
    *(f"v_mfma{scale}_f32_{shape}_f8f6f4"
      for scale in ("", "_scale") for shape in ("32x32x64", "16x16x128")),
    *(f"v_mfma_f32_{shape}_{form}" for shape in ("32x32x16", "16x16x32")
      for form in ("bf16", "f16", "fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8")),
    *(f"v_mfma_f32_{shape}{blocks}_{form}"
      for shape, blocks in (("32x32x8", ""), ("16x16x16", ""), ("32x32x4", "_2b"),
                            ("16x16x4", "_4b"), ("4x4x4", "_16b"))
      for form in ("bf16", "f16", "bf16_1k")),
    *(f"v_mfma_f32_{shape}_f32" for shape in ("32x32x2", "16x16x4", "32x32x1_2b", "16x16x1_4b",
                                              "4x4x1_16b")),
    *(f"v_mfma_i32_{shape}_i8" for shape in ("32x32x32", "16x16x64", "32x32x16", "16x16x32",
                                             "32x32x4_2b", "16x16x4_4b", "4x4x4_16b")),
]  # fmt: skip
for _name in MNEMONICS:
    handles(_name)(build_mfma)


@handles("v_smfmac_f32_16x16x128_fp8_fp8", "v_smfmac_f32_32x32x64_fp8_fp8")
def _smfmac(inst: Instruction) -> Execute:
    """4:2 structured sparsity: A holds two of every four k, the index register says which."""
    found = SHAPE.match(inst.syntax.stem)
    assert found is not None
    rows, depth = int(found[2]), int(found[4])
    if inst.modifier("cbsz", 0) or inst.modifier("abid", 0):
        raise UnknownInstruction(f"index selection is not simulated: {inst.where}")
    compressed = depth // 2
    a = operand_matrix(block_getter(inst.operands[1]), "fp8", rows, compressed, 1)
    b = operand_matrix(block_getter(inst.operands[2]), "fp8", rows, depth, 1)
    index = inst.operands[3].base
    # Lane group g holds 16-byte chunks; its index register has two bits per compressed element.
    width = compressed * rows // 64
    place = element_index(rows, compressed, width, True)
    lane, j = place // width, place % width
    k = np.arange(compressed)[None, :] // 2 * 4
    row = np.arange(rows)[:, None]

    def dense(w: Wave) -> np.ndarray:
        pick = (w.u[index].take(lane) >> (2 * j).astype(np.uint32)) & np.uint32(3)
        out = np.zeros((1, rows, depth))
        out[0, row, k + pick] = a(w)[0]
        return out

    return _accumulate(inst, dense, b, rows, 1, False, None, 0)
