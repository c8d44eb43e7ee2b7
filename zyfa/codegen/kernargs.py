"""The kernel's arguments: one table for the metadata, the host's struct and the documentation."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    offset: int
    format: str
    """struct format: Q pointer, I uint32, f float32."""
    meaning: str

    @property
    def size(self) -> int:
        return struct.calcsize(self.format)


_ROWS = (
    ("q", "Q", "FP8 E4M3 (B, S, H, 128), contiguous"),
    ("k", "Q", "FP8 E4M3 (B, S, Hk, 128), contiguous"),
    ("v", "Q", "FP8 E4M3 (B, S, Hk, 128), contiguous"),
    ("out", "Q", "bf16 (B, S, H, 128), contiguous"),
    ("lse", "Q", "f32 (B, H, S), natural logarithm"),
    ("jobs", "Q", "job table, 64 bytes an item (zyfa.jobs)"),
    ("q_descale", "Q", "one f32 on the device"),
    ("k_descale", "Q", "one f32 on the device"),
    ("v_descale", "Q", "one f32 on the device"),
    ("scale_log2e", "f", "softmax scale times log2(e)"),
    ("job_count", "I", "jobs of two items each"),
    ("q_stride", "I", "bytes between rows of q: 128 H"),
    ("kv_stride", "I", "bytes between rows of k and v: 128 Hk"),
    ("out_stride", "I", "bytes between rows of out: 256 H"),
    ("grid", "I", "workgroups, a multiple of 8"),
)


def _layout() -> tuple[Argument, ...]:
    offset, out = 0, []
    for name, fmt, meaning in _ROWS:
        out.append(Argument(name, offset, fmt, meaning))
        offset += struct.calcsize(fmt)
    return tuple(out)


ARGUMENTS = _layout()
SIZE = sum(argument.size for argument in ARGUMENTS)
OFFSET = {argument.name: argument.offset for argument in ARGUMENTS}


def pack(values: dict[str, int | float]) -> bytes:
    """The kernarg segment, `SIZE` bytes. Raises KeyError naming a missing argument."""
    return struct.pack(
        "<" + "".join(a.format for a in ARGUMENTS), *(values[a.name] for a in ARGUMENTS)
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


def table() -> str:
    """Markdown rows for the documentation."""
    rows = [f"| {a.offset} | {a.name} | {a.size} | {a.meaning} |" for a in ARGUMENTS]
    return "\n".join(["| offset | argument | bytes | meaning |", "|---|---|---|---|", *rows])
