"""Cycles of every matrix instruction, as a table.

A pass is 4 clocks.  An MFMA holds the matrix pipe of its SIMD for passes * 4 cycles; on
public gfx942 and gfx950 traces no two MFMAs of a SIMD are ever closer than that (checked
for 249,000).  Sources, by the tags in the table:

CALC     AMD's matrix instruction calculator, CDNA2 and CDNA3 tables
LLVM     SISchedule.td, full-speed models of gfx90a, gfx942, gfx950
ISA4     CDNA4 ISA document, 7.1.2 table 28 and 7.1.5
TRACE    issue distances on public MI325X and MI350X captures
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tracekit.gfx9 import ARCHS
from tracekit.isa.costs import Confidence, Cost, Pipe

CYCLES_PER_PASS = 4


class Row(NamedTuple):
    """Passes of one shape; ``kind`` is the element type of A and B."""

    kind: str
    shape: tuple[int, int, int]  # M, N, K
    blocks: int
    passes: tuple[int | None, int | None, int | None]  # gfx90a, gfx942, gfx950
    source: str
    confidence: Confidence = "high"

    @property
    def flop(self) -> int:
        """Floating-point (or integer) operations; sparse ones count their zeros."""
        m, n, k = self.shape
        return 2 * m * n * k * self.blocks


_ALL, _OLD, _NEW = "CALC, LLVM, ISA4", "CALC, LLVM", "ISA4, LLVM"
_CDNA3 = "CALC, LLVM; gfx950: ISA4"

#: Kinds: bf16 (gfx90a: the forms without _1k), bf16_1k (gfx90a only; the same as bf16
#: later), fp8 = any mix of FP8 and BF8, f8f6f4_fp8 = A or B is FP8 or BF8, f8f6f4_fp6fp4 =
#: both are FP6, BF6 or FP4; "sparse_" for SMFMAC.
TABLE: tuple[Row, ...] = (
    Row("f16", (4, 4, 4), 16, (2, 2, 2), _ALL),
    Row("f16", (16, 16, 4), 4, (8, 8, 8), _ALL),
    Row("f16", (32, 32, 4), 2, (16, 16, 16), _ALL),
    Row("f16", (16, 16, 16), 1, (8, 4, 4), _ALL + "; gfx942: TRACE"),
    Row("f16", (32, 32, 8), 1, (16, 8, 8), _ALL + "; gfx942: TRACE"),
    Row("f16", (16, 16, 32), 1, (None, None, 4), _NEW),
    Row("f16", (32, 32, 16), 1, (None, None, 8), _NEW),
    Row("bf16", (4, 4, 4), 16, (None, 2, 2), _ALL),
    Row("bf16", (16, 16, 4), 4, (None, 8, 8), _ALL),
    Row("bf16", (32, 32, 4), 2, (None, 16, 16), _ALL),
    Row("bf16", (16, 16, 16), 1, (None, 4, 4), _ALL + "; gfx942: TRACE"),
    Row("bf16", (32, 32, 8), 1, (None, 8, 8), _ALL),
    Row("bf16", (16, 16, 32), 1, (None, None, 4), _NEW + ", TRACE"),
    Row("bf16", (32, 32, 16), 1, (None, None, 8), _NEW + ", TRACE"),
    Row("bf16", (4, 4, 2), 16, (2, None, None), "CALC"),
    Row("bf16", (16, 16, 2), 4, (8, None, None), "CALC"),
    Row("bf16", (32, 32, 2), 2, (16, None, None), "CALC"),
    Row("bf16", (16, 16, 8), 1, (8, None, None), _OLD),
    Row("bf16", (32, 32, 4), 1, (16, None, None), _OLD),
    Row("bf16_1k", (4, 4, 4), 16, (2, None, None), _OLD),
    Row("bf16_1k", (16, 16, 4), 4, (8, None, None), _OLD),
    Row("bf16_1k", (32, 32, 4), 2, (16, None, None), _OLD),
    Row("bf16_1k", (16, 16, 16), 1, (8, None, None), _OLD),
    Row("bf16_1k", (32, 32, 8), 1, (16, None, None), _OLD),
    Row("i8", (4, 4, 4), 16, (2, 2, 2), _ALL),
    Row("i8", (16, 16, 4), 4, (8, 8, 8), _ALL),
    Row("i8", (32, 32, 4), 2, (16, 16, 16), _ALL),
    Row("i8", (16, 16, 16), 1, (8, None, None), _OLD),
    Row("i8", (32, 32, 8), 1, (16, None, None), _OLD),
    Row("i8", (16, 16, 32), 1, (None, 4, 4), _ALL),
    Row("i8", (32, 32, 16), 1, (None, 8, 8), _ALL),
    Row("i8", (16, 16, 64), 1, (None, None, 4), _NEW),
    Row("i8", (32, 32, 32), 1, (None, None, 8), _NEW),
    Row("fp8", (16, 16, 32), 1, (None, 4, 4), _ALL + "; gfx950: TRACE"),
    Row("fp8", (32, 32, 16), 1, (None, 8, 8), _ALL),
    Row("f8f6f4_fp8", (16, 16, 128), 1, (None, None, 8), "ISA4, TRACE"),
    Row("f8f6f4_fp6fp4", (16, 16, 128), 1, (None, None, 4), "ISA4; FP4: TRACE"),
    Row("f8f6f4_fp8", (32, 32, 64), 1, (None, None, 16), "ISA4, microbenchmark"),
    Row("f8f6f4_fp6fp4", (32, 32, 64), 1, (None, None, 8), "ISA4, microbenchmark"),
    Row("f32", (4, 4, 1), 16, (2, 2, 2), _ALL),
    Row("f32", (16, 16, 1), 4, (8, 8, 8), _ALL),
    Row("f32", (32, 32, 1), 2, (16, 16, 16), _ALL),
    Row("f32", (16, 16, 4), 1, (8, 8, 8), _ALL),
    Row("f32", (32, 32, 2), 1, (16, 16, 16), _ALL),
    Row("xf32", (16, 16, 8), 1, (None, 4, None), "CALC, LLVM"),
    Row("xf32", (32, 32, 4), 1, (None, 8, None), "CALC, LLVM"),
    Row("f64", (16, 16, 4), 1, (8, 8, 16), "CALC, LLVM; gfx950: ISA4, LLVM"),
    Row("f64", (4, 4, 4), 4, (4, 4, None), "CALC, LLVM"),
    Row("f64", (4, 4, 4), 4, (None, None, 8), "ISA4 says 8 passes, LLVM 4; not measured", "low"),
    Row("sparse_f16", (16, 16, 32), 1, (None, 4, 4), _CDNA3),
    Row("sparse_f16", (32, 32, 16), 1, (None, 8, 8), _CDNA3),
    Row("sparse_f16", (16, 16, 64), 1, (None, None, 4), _NEW),
    Row("sparse_f16", (32, 32, 32), 1, (None, None, 8), _NEW),
    Row("sparse_bf16", (16, 16, 32), 1, (None, 4, 4), _CDNA3),
    Row("sparse_bf16", (32, 32, 16), 1, (None, 8, 8), _CDNA3),
    Row("sparse_bf16", (16, 16, 64), 1, (None, None, 4), _NEW),
    Row("sparse_bf16", (32, 32, 32), 1, (None, None, 8), _NEW),
    Row("sparse_i8", (16, 16, 64), 1, (None, 4, 4), _CDNA3),
    Row("sparse_i8", (32, 32, 32), 1, (None, 8, 8), _CDNA3),
    Row("sparse_i8", (16, 16, 128), 1, (None, None, 4), _NEW),
    Row("sparse_i8", (32, 32, 64), 1, (None, None, 8), _NEW),
    Row("sparse_fp8", (16, 16, 64), 1, (None, 4, 4), _CDNA3),
    Row("sparse_fp8", (32, 32, 32), 1, (None, 8, 8), _CDNA3),
    Row("sparse_fp8", (16, 16, 128), 1, (None, None, 4), _NEW),
    Row("sparse_fp8", (32, 32, 64), 1, (None, None, 8), _NEW),
)

#: Dense operations per CU and clock at full rate (four matrix pipes), by architecture; that
#: of a data type, which its slower shapes do not reach (bf16 of gfx90a is full rate as _1k).
PEAK: dict[str, dict[str, int]] = {
    "gfx90a": {"f16": 1024, "bf16": 1024, "bf16_1k": 1024, "i8": 1024, "f32": 256, "f64": 256},
    "gfx942": {
        "f16": 2048, "bf16": 2048, "i8": 4096, "fp8": 4096, "f32": 256, "xf32": 1024, "f64": 256,
    },
    "gfx950": {
        "f16": 4096, "bf16": 4096, "i8": 8192, "fp8": 8192, "f8f6f4_fp8": 8192,
        "f8f6f4_fp6fp4": 16384, "f32": 256, "f64": 128,
    },
}  # fmt: skip

#: Kinds that are another opcode family of the same data type.
_TYPE = {"bf16_1k": "bf16", "f8f6f4_fp8": "fp8"}

_BY_SHAPE: dict[tuple[str, str, tuple[int, int, int]], list[Row]] = {}
for _row in TABLE:
    for _arch, _passes in zip(ARCHS, _row.passes, strict=True):
        if _passes is not None:
            _BY_SHAPE.setdefault((_arch, _row.kind, _row.shape), []).append(_row)

#: Old and new spellings: 32x32x8bf16_1k, 32x32x8_bf16, 32x32x4_2b_bf16, and the suffixes
#: of LLVM's own opcode names.
_OPCODE = re.compile(
    r"v_(?:mfma|mfma_scale|(?P<sparse>smfmac))_[fi]\d\d_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_?"
    r"(?:(?P<blocks>\d+)b_?)?"
    r"(?:(?P<kind>f8f6f4|xf32|bf16_1k|bf16|f16|f32|f64|i8)|(?:fp8|bf8)_(?:fp8|bf8))"
    r"(?:_vgprcd|_mac|_e64)*$",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"\b(?:cbsz|blgp):(\d+)")
#: cbsz and blgp of f8f6f4: 0 FP8, 1 BF8 (slow), 2 FP6, 3 BF6, 4 FP4.
_SLOW_FORMATS, _FORMATS = (0, 1), 5


def row(arch: str, text: str) -> Row | None:
    """The table row of a matrix instruction; None when ``arch`` has no such opcode.

    ``text`` may be a whole line: the formats of f8f6f4 are in its modifiers (missing = 0 =
    FP8, the slow case).
    """
    name, _, operands = text.strip().partition(" ")
    found = _OPCODE.match(name)
    if found is None:
        return None
    kind = (found["kind"] or "fp8").lower()
    if kind == "f8f6f4":
        given = [int(value) for value in _FORMAT.findall(operands)]
        if any(value >= _FORMATS for value in given):
            return None
        slow = len(given) < 2 or any(value in _SLOW_FORMATS for value in given)
        kind = "f8f6f4_fp8" if slow else "f8f6f4_fp6fp4"
    shape = (int(found["m"]), int(found["n"]), int(found["k"]))
    if found["sparse"]:
        kind = f"sparse_{kind}"
    # The _1k forms of gfx90a are the plain bf16 of later chips, in either spelling.
    other = {"bf16": "bf16_1k", "bf16_1k": "bf16"}.get(kind, kind)
    for candidate in (kind, other):
        for entry in _BY_SHAPE.get((arch, candidate, shape), ()):
            if found["blocks"] is None or int(found["blocks"]) == entry.blocks:
                return entry
    return None


def faster(arch: str, text: str) -> tuple[str, float] | None:
    """The fastest opcode of the data type and tile (M x N) of a matrix instruction, if faster.

    Its name as ``arch`` spells it, and how many times the operations per cycle.  None for
    opcodes without a row, and where none is faster.
    """
    own = row(arch, text)
    if own is None:
        return None
    at = ARCHS.index(arch)

    def speed(entry: Row) -> float:
        passes = entry.passes[at]
        return entry.flop / passes if passes else 0.0

    def family(entry: Row) -> tuple[str, tuple[int, int]]:
        return _TYPE.get(entry.kind, entry.kind), entry.shape[:2]

    def nearness(entry: Row) -> tuple[float, bool, int]:
        return speed(entry), entry.blocks == own.blocks, entry.shape[2]

    best = max((each for each in TABLE if family(each) == family(own)), key=nearness)
    if speed(best) <= speed(own):
        return None
    return _spelled(arch, best), speed(best) / speed(own)


def _spelled(arch: str, entry: Row) -> str:
    """LLVM's name of a dense opcode: gfx90a has no underscore before the type."""
    result = {"i8": "i32", "f64": "f64"}.get(entry.kind, "f32")
    kind = {"f8f6f4_fp8": "f8f6f4", "fp8": "fp8_fp8"}.get(entry.kind, entry.kind)
    shape = "x".join(map(str, entry.shape))
    return f"v_mfma_{result}_{shape}{'' if arch == 'gfx90a' else '_'}{kind}"


def cost(arch: str, text: str) -> Cost:
    """The matrix-pipe cost of ``text``; cycles None for an opcode that is not in the table."""
    if arch == "gfx950" and text.startswith("v_mfma_ld_scale_b32"):
        return Cost(Pipe.MATRIX, CYCLES_PER_PASS, "scale", "LLVM", "medium")
    entry = row(arch, text)
    passes = None if entry is None else entry.passes[ARCHS.index(arch)]
    if entry is None or passes is None:
        return Cost(Pipe.MATRIX, None, "", f"no entry for {arch}", "low")
    return Cost(Pipe.MATRIX, passes * CYCLES_PER_PASS, entry.kind, entry.source, entry.confidence)
