"""Vector instructions: class and issue-port cycles, as tables.

Cycles are the distance to the next VALU or MFMA of the same SIMD.  Sources, by tag:

TRACE    issue distances on public MI325X (gfx942) and MI350X (gfx950) captures
LLVM     SISchedule.td, full-speed models (1 pass = 4 clocks); for conversions it says 4
         passes, which traces contradict
"""

from __future__ import annotations

import re

from tracekit.gfx9 import ARCHS
from tracekit.isa.costs import Confidence, Cost, Pipe

#: Class by mnemonic (without its _e32, _e64, _sdwa suffix); the first match wins.
CLASSES: tuple[tuple[str, str], ...] = (
    ("cross_lane", r"v_(permlane|readlane|readfirstlane|writelane|\w+_dpp$)"),
    ("accvgpr", r"v_accvgpr_"),
    ("transcendental", r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_"),
    ("conversion", r"v_cvt_"),
    ("packed", r"v_pk_(fma|mul|add)_f32|v_pk_mov_b32"),
    ("dot", r"v_dot\d"),
    ("integer_multiply", r"v_mul_(lo_u32|hi_[iu]32)$"),
    ("64bit", r"v_\w*_[fiub]64"),
    ("full_rate", r"v_"),
)

_Rate = tuple[int, str, Confidence]

#: Cycles per class on gfx90a, gfx942, gfx950.
RATES: dict[str, tuple[_Rate, _Rate, _Rate]] = {
    "full_rate": ((4, "LLVM", "medium"), (4, "TRACE, LLVM", "high"), (4, "TRACE, LLVM", "high")),
    "packed": ((4, "LLVM", "medium"), (4, "LLVM", "medium"), (4, "TRACE", "high")),
    "transcendental": (
        (16, "LLVM", "medium"),
        (16, "TRACE (v_rcp_iflag_f32), LLVM", "high"),
        (8, "TRACE; LLVM PR 156411", "high"),
    ),
    "conversion": (
        (4, "as gfx950", "low"),
        (4, "as gfx950", "low"),
        (4, "TRACE (v_cvt_f32_u32, v_cvt_u32_f32, v_cvt_pk_bf16_f32); others alike", "medium"),
    ),
    "cross_lane": ((4, "LLVM", "low"), (4, "LLVM", "medium"), (4, "TRACE", "high")),
    "accvgpr": ((4, "LLVM", "medium"), (4, "LLVM", "medium"), (4, "TRACE", "high")),
    "dot": ((4, "LLVM", "low"), (4, "LLVM", "low"), (4, "LLVM", "low")),
    "integer_multiply": ((4, "LLVM", "medium"), (4, "LLVM", "medium"), (4, "TRACE", "high")),
    "64bit": (
        (4, "LLVM", "medium"),
        (4, "LLVM", "medium"),
        (4, "TRACE (shift, add, compare); LLVM (f64)", "medium"),
    ),
}

_ALL, _GFX950 = ARCHS, ("gfx950",)

#: Opcodes that differ from their class.
EXCEPTIONS: tuple[tuple[tuple[str, ...], str, _Rate], ...] = (
    (_ALL, r"v_(rcp|rsq|sqrt)_f64", (16, "LLVM", "low")),
    (_GFX950, r"v_cvt_pk_bf16_f32$", (4, "TRACE", "high")),
    (_GFX950, r"v_cvt_(f32_u32|u32_f32)$", (4, "TRACE", "high")),
    (_GFX950, r"v_cvt_pk_fp8_f32$", (8, "TRACE (96 executions)", "high")),
    (_GFX950, r"v_cvt_\w*(fp8|bf8)_\w+", (8, "as v_cvt_pk_fp8_f32", "low")),
    (_GFX950, r"v_permlane(16|32)_swap_b32", (8, "TRACE", "high")),
    (_GFX950, r"v_bitop3_b16", (8, "TRACE", "high")),
    (_GFX950, r"v_fma_mixlo_f16", (8, "TRACE", "high")),
    (_GFX950, r"v_fma_mixhi_f16", (8, "as v_fma_mixlo_f16", "low")),
)

_CLASS = re.compile("|".join(f"(?P<c{i}>{pattern})" for i, (_, pattern) in enumerate(CLASSES)))
_SUFFIX = re.compile(r"_(e32|e64|sdwa|e64_dpp)$")


def cost(arch: str, name: str) -> Cost:
    """The vector-pipe cost of the VALU opcode ``name`` (no MFMA)."""
    name = _SUFFIX.sub(lambda found: "_dpp" if found[1] == "e64_dpp" else "", name)
    found = _CLASS.match(name)
    klass = CLASSES[int(found.lastgroup[1:])][0] if found and found.lastgroup else "full_rate"
    rate = RATES[klass][ARCHS.index(arch)]
    for archs, pattern, exception in EXCEPTIONS:
        if arch in archs and re.match(pattern, name):
            rate = exception
            break
    cycles, source, confidence = rate
    return Cost(Pipe.VECTOR, cycles, klass, source, confidence)
