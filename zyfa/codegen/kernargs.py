"""The kernel's arguments, from one table: registers, metadata, values, struct, documentation."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from zyfa.codegen.numbers import log2_scale
from zyfa.jobs import ITEM, Problem
from zyfa.shape import D128, Shape

Pointer = TypeVar("Pointer")


@dataclass(frozen=True, slots=True)
class Call:
    """What the arguments that are no pointers follow from; `scale`: of the scores, base e."""

    problem: Problem
    scale: float
    grid: int

    @property
    def shape(self) -> Shape:
        return self.problem.shape


@dataclass(frozen=True, slots=True)
class Argument:
    """`value` of a call; None for a pointer, which the caller gives."""

    name: str
    offset: int
    format: str
    """struct format: Q pointer, I uint32, f float32."""
    meaning: str
    """In the words of the documentation; {d_qk}, {d_v} and {out_row} stand for the shape's."""
    value: Callable[[Call], int | float] | None = None

    @property
    def size(self) -> int:
        return struct.calcsize(self.format)


_ROWS: tuple[tuple[str, str, str, Callable[[Call], int | float] | None], ...] = (
    ("q", "Q", "FP8 E4M3 (B, S, H, {d_qk}), contiguous", None),
    ("k", "Q", "FP8 E4M3 (B, S, Hk, {d_qk}), contiguous", None),
    ("v", "Q", "FP8 E4M3 (B, S, Hk, {d_v}), contiguous", None),
    ("out", "Q", "bf16 (B, S, H, {d_v}), contiguous", None),
    ("lse", "Q", "f32 (B, H, S), natural logarithm", None),
    ("jobs", "Q", f"job table, {ITEM.itemsize} bytes an item (zyfa.jobs)", None),
    ("q_descale", "Q", "one f32 on the device", None),
    ("k_descale", "Q", "one f32 on the device", None),
    ("v_descale", "Q", "one f32 on the device", None),
    ("scale_log2e", "f", "softmax scale times log2(e)", lambda c: log2_scale(c.scale)),
    ("job_count", "I", "jobs of two items each", lambda c: c.problem.job_count),
    ("q_stride", "I", "bytes between rows of q: {d_qk} H",
     lambda c: c.shape.d_qk * c.problem.heads),
    ("kv_stride", "I", "bytes between rows of k and v: {d_qk} Hk",
     lambda c: c.shape.d_qk * c.problem.kv_heads),
    ("out_stride", "I", "bytes between rows of out: {out_row} H",
     lambda c: 2 * c.shape.d_v * c.problem.heads),
    ("grid", "I", "workgroups, a multiple of 8", lambda c: c.grid),
)  # fmt: skip


def _layout() -> tuple[Argument, ...]:
    offset, out = 0, []
    for name, fmt, meaning, value in _ROWS:
        out.append(Argument(name, offset, fmt, meaning, value))
        offset += struct.calcsize(fmt)
    return tuple(out)


ARGUMENTS = _layout()
BY_NAME = {argument.name: argument for argument in ARGUMENTS}
SIZE = sum(argument.size for argument in ARGUMENTS)
WORD = 4
WIDEST_LOAD = 16
"""Registers of the widest scalar load."""


def loads() -> list[tuple[int, int]]:
    """(byte offset, registers) of the scalar loads that fetch the whole segment.

    Widths are powers of two, as s_load_dwordx2 to x16 are; no argument straddles two of them.
    """
    out, at = [], 0
    while at < SIZE:
        width = min(WIDEST_LOAD, 1 << ((SIZE - at) // WORD).bit_length() - 1)
        out.append((at, width))
        at += WORD * width
    return out


def values(call: Call, pointers: Mapping[str, Pointer]) -> dict[str, Pointer | int | float]:
    """Every argument by name. Raises KeyError naming a pointer that is not given."""
    return {
        a.name: pointers[a.name] if a.value is None else a.value(call) for a in ARGUMENTS
    }  # fmt: skip


def pack(given: Mapping[str, int | float]) -> bytes:
    """The kernarg segment, `SIZE` bytes. Raises KeyError naming a missing argument."""
    return struct.pack(
        "<" + "".join(a.format for a in ARGUMENTS), *(given[a.name] for a in ARGUMENTS)
    )


def metadata() -> str:
    """The `.args` list of the code object's metadata, YAML."""
    lines = []
    for argument in ARGUMENTS:
        kind = "global_buffer" if argument.format == "Q" else "by_value"
        space = "\n        .address_space: global" if kind == "global_buffer" else ""
        lines.append(
            f"      - .name: {argument.name}\n        .offset: {argument.offset}\n"
            f"        .size: {argument.size}\n        .value_kind: {kind}{space}"
        )
    return "\n".join(lines)


def table(shape: Shape = D128) -> str:
    """Markdown rows for the documentation."""
    words = {"d_qk": shape.d_qk, "d_v": shape.d_v, "out_row": 2 * shape.d_v}
    rows = [
        f"| {a.offset} | {a.name} | {a.size} | {a.meaning.format(**words)} |" for a in ARGUMENTS
    ]
    return "\n".join(["| offset | argument | bytes | meaning |", "|---|---|---|---|", *rows])
