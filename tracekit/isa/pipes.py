"""Which pipe executes an instruction and for how long: ``cost(arch, text)``.

The numbers are in the tables of ``mfma``, ``valu`` and ``memory``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tracekit.gfx9 import ARCHS
from tracekit.isa import memory, mfma, valu
from tracekit.isa.classify import Expect, expected, mnemonic
from tracekit.isa.costs import Confidence, Cost, Pipe

__all__ = ["Confidence", "Cost", "Pipe", "cost"]

_UNKNOWN = Cost(Pipe.NONE, None, "", "not an instruction of this ISA", "low")
#: The only operands that change a cost.
_MODIFIERS = re.compile(r"\s(?:cbsz:\d+|blgp:\d+|lds\b)")


def cost(arch: str, text: str) -> Cost:
    """The cost of the line ``text`` on ``arch`` (one of ARCHS; ValueError otherwise).

    An MFMA that is not in the table has pipe MATRIX and cycles None: it is never guessed.
    """
    name = mnemonic(text)
    if name.startswith("buffer_load") or "f8f6f4" in name:
        name += "".join(_MODIFIERS.findall(text))
    return _cost(arch, name)


@lru_cache(maxsize=8192)
def _cost(arch: str, text: str) -> Cost:
    if arch not in ARCHS:
        raise ValueError(f"unknown architecture {arch!r}; known: {', '.join(ARCHS)}")
    kind = expected(text)
    if kind in (Expect.MFMA, Expect.MFMA_SCALE):
        return mfma.cost(arch, text)
    if kind is Expect.VALU:
        return valu.cost(arch, text)
    return memory.cost(arch, text) or _UNKNOWN
