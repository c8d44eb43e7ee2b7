"""Memory and scalar instructions: class and issue cycles, as tables.

Cycles are the smallest distance to the next instruction of the same kind on the SIMD: a
cost of the issue port, not of the data, which takes longer.  Source: issue distances on
public MI350X (gfx950) and MI325X (gfx942) captures; a row names the architectures on which
its values were seen, elsewhere they are taken over with less confidence.
"""

from __future__ import annotations

import re

from tracekit.isa.classify import Expect, expected
from tracekit.isa.costs import Confidence, Cost, Pipe

_BOTH, _GFX950, _NONE = ("gfx942", "gfx950"), ("gfx950",), ()

#: (pattern, class, cycles, seen on); the first match wins.
LDS: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    (r"ds_read_b64$", "read", 4, _BOTH),
    (r"ds_read_(b32|b128|u8|b64_tr_b16)$", "read", 4, _GFX950),
    (r"ds_read2_b64$", "read", 8, _GFX950),
    (r"ds_read2", "read", 8, _NONE),
    (r"ds_read", "read", 4, _NONE),
    (r"ds_swizzle", "permute", 4, _GFX950),
    (r"ds_bpermute", "permute", 8, _GFX950),
    (r"ds_permute", "permute", 8, _NONE),
    (r"ds_write_b32$", "write", 8, _BOTH),
    (r"ds_write_b64$", "write", 12, _BOTH),
    (r"ds_write_b16$", "write", 8, _GFX950),
    (r"ds_write_(b8|b16)", "write", 8, _NONE),
    (r"ds_write_b96$", "write", 16, _NONE),
    (r"ds_write_b128$", "write", 20, _GFX950),
    (r"ds_write2_b32$", "write", 12, _GFX950),
    (r"ds_write2_b64$", "write", 20, _GFX950),
    (r"ds_write2st64_b32$", "write", 12, _NONE),
    (r"ds_write2st64_b64$", "write", 20, _NONE),
    (r"ds_\w+64$", "atomic", 12, _NONE),
    (r"ds_", "atomic", 8, _NONE),
)

#: Every vector memory instruction issues in 4 cycles (any width).
VMEM_CYCLES = 4
VMEM: tuple[tuple[str, str], ...] = (
    (r"(buffer|global)_load_.*\blds\b|global_load_lds", "load_lds"),
    (r"\w+_load_", "load"),
    (r"\w+_store_", "store"),
    (r"\w+_atomic_", "atomic"),
    (r"", "cache"),
)

#: Scalar ALU, scalar memory and branches issue in 4 cycles; a taken branch costs its own
#: wave 20 until the next instruction.
SCALAR_CYCLES = 4

#: Instructions that hold no pipe, by class.
INTERNAL: tuple[tuple[str, str], ...] = (
    (r"s_waitcnt", "wait"),
    (r"s_nop", "nop"),
    (r"s_sleep", "sleep"),
    (r"s_barrier", "barrier"),
    (r"s_endpgm", "end"),
    (r"s_setprio", "priority"),
    (r"s_ttrace", "marker"),
    (r"s_sendmsg", "message"),
    (r"", "other"),
)


def cost(arch: str, text: str) -> Cost | None:
    """The cost of a memory, scalar, branch or internal instruction; None for vector ones."""
    kind = expected(text)
    name = text.split(None, 1)[0] if text else ""
    if kind is Expect.LDS:
        for pattern, klass, cycles, seen in LDS:
            if re.match(pattern, name):
                return Cost(Pipe.LDS, cycles, klass, *_evidence(arch, seen))
    if kind in (Expect.VMEM, Expect.FLAT):
        klass = _first(VMEM, text)
        return Cost(Pipe.VMEM, VMEM_CYCLES, klass, *_evidence(arch, _BOTH))
    if kind is Expect.SALU:
        return Cost(Pipe.SCALAR, SCALAR_CYCLES, "salu", *_evidence(arch, _BOTH))
    if kind is Expect.SMEM:
        return Cost(Pipe.SCALAR, SCALAR_CYCLES, "smem", *_evidence(arch, _BOTH))
    if kind is Expect.BRANCH:
        return Cost(Pipe.BRANCH, SCALAR_CYCLES, "branch", *_evidence(arch, _BOTH))
    if kind is Expect.PC:
        return Cost(Pipe.SCALAR, SCALAR_CYCLES, "call", *_evidence(arch, _NONE))
    if kind in (Expect.IMMED, Expect.BARRIER, Expect.ENDPGM, Expect.SKIP):
        return Cost(Pipe.NONE, 0, _first(INTERNAL, name), "runs inside the wave", "high")
    return None


def _first(table: tuple[tuple[str, str], ...], text: str) -> str:
    return next(klass for pattern, klass in table if re.match(pattern, text))


def _evidence(arch: str, seen: tuple[str, ...]) -> tuple[str, Confidence]:
    """Source and confidence of a value that was seen on the architectures ``seen``."""
    if arch in seen:
        return "TRACE", "high"
    if seen and arch != "gfx90a":
        return f"as {seen[-1]}", "medium"
    return "by analogy", "low"
