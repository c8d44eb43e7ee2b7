"""What an MFMA keeps from issuing beside it: for how many cycles, as rules.

Source: issue distances on public MI350X (gfx950) and MI325X (gfx942) captures, as far as
they contain the opcode; LLVM PRs 233721 and 239095 give the same closed forms.  All counts
are from the MFMA's issue and hold for every wave of the SIMD.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tracekit.gfx9 import TICK

#: After the end of the matrix operation packed F32 and DOT still wait this long, and one
#: tick more where A is 16 bytes a lane or wider.
PACKED_TAIL, PACKED_WIDE = 8, 4
#: A plain VALU waits a tick, and one more for each 16 bytes of the wider of A and B.
WIDE_BYTES = 16
#: After a sparse MFMA (measured on gfx950).
SPARSE_VALU = 12
#: After an MFMA on F32 or F64 every VALU waits, until this long after its end.
FULL_TAIL = 8
#: Cycles of the vector port that the scale half takes before a scaled MFMA.
SCALE_PORT = 4

_OPERAND = re.compile(r"[va]\[(\d+):(\d+)\]|[va]\d+")
_WHOLE = re.compile(r"v_mfma_f32_\d+x\d+x\d+_?(?:\d+b_?)?f32|v_mfma_f64_")


class Blocking(NamedTuple):
    """Cycles from the issue of an MFMA in which the others may not issue.

    ``valu``: plain vector instructions; ``packed``: packed F32 and DOT; ``before``: cycles
    of the vector port taken ahead of the issue (scaled MFMAs).
    """

    valu: int
    packed: int
    before: int


@lru_cache(maxsize=4096)
def blocking(arch: str, text: str, cycles: int) -> Blocking:
    """What the matrix instruction ``text`` blocks, if it holds its pipe for ``cycles``."""
    a, b = _bytes(text)
    name = text.split(None, 1)[0]
    before = SCALE_PORT if name.startswith("v_mfma_scale") else 0
    wide = PACKED_WIDE if a >= WIDE_BYTES else 0
    packed = cycles + PACKED_TAIL + wide
    if _WHOLE.match(name):
        # gfx90a runs VALU beside F32, not beside F64 (AMD's matrix calculator).
        if arch == "gfx90a" and not name.startswith("v_mfma_f64"):
            return Blocking(TICK, cycles + FULL_TAIL, before)
        return Blocking(cycles + FULL_TAIL, cycles + FULL_TAIL, before)
    if name.startswith("v_smfmac"):
        return Blocking(SPARSE_VALU, packed, before)
    return Blocking(TICK + TICK * (max(a, b) // WIDE_BYTES), packed, before)


def _bytes(text: str) -> tuple[int, int]:
    """Bytes a lane of the operands A and B (0 where they cannot be read)."""
    operands = text.split(None, 1)[-1].split(",")[1:3]
    sizes = [0, 0]
    for place, operand in enumerate(operands):
        found = _OPERAND.search(operand)
        width = 0 if found is None else 1
        if found is not None and found[1]:
            width = int(found[2]) - int(found[1]) + 1
        sizes[place] = 4 * width
    return sizes[0], sizes[1]
