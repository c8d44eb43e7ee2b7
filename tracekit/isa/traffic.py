"""Bytes that a memory instruction moves, from its mnemonic: an upper bound, as EXEC is not traced.

Widths are those of the mnemonics (LLVM's AMDGPU opcodes, AMD's CDNA3 and CDNA4 ISA documents).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.isa.classify import Expect, expected, mnemonic

Array = NDArray[np.int64]

#: Lanes of a wave: all of them are taken to be active.
LANES = 64
_DWORDS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}
_NARROW = re.compile(r"_(?:[us]?byte|[us]?short|[iu](?:8|16))(?:_|$)")
_WIDE = re.compile(r"_(dword(?:x[234])?)(?:_|$)")
_FORMAT = re.compile(r"_format(_d16)?_(x|xy|xyz|xyzw)(?:_|$)")
_BITS = re.compile(r"_[buif](8|16|32|64|96|128)(?=_|$)")
_TO_LDS = re.compile(r"\blds\b")


@dataclass(frozen=True)
class Traffic:
    """Bytes of one lane through the vector memory path and through the LDS.

    A load straight to the LDS goes through both.
    """

    memory: int = 0
    lds: int = 0


def traffic(text: str) -> Traffic:
    """What one lane of ``text`` moves; nothing for other than vector memory and LDS."""
    kind, name = expected(text), mnemonic(text)
    if kind is Expect.LDS:
        return Traffic(lds=_of_lds(name))
    if kind not in (Expect.VMEM, Expect.FLAT):
        return Traffic()
    width = _of_memory(name)
    to_lds = "_load_" in name and ("_load_lds" in name or bool(_TO_LDS.search(text)))
    return Traffic(memory=width, lds=width if to_lds else 0)


def _of_memory(name: str) -> int:
    if "_atomic_" in name:
        return 8 if re.search(r"_x2|f64|b64|u64", name) else 4
    if not re.search(r"_(?:load|store)_", name):
        return 0  # cache control
    formatted = _FORMAT.search(name)
    if formatted:
        return len(formatted[2]) * (2 if formatted[1] else 4)
    wide = _WIDE.search(name)
    if wide:
        return _DWORDS[wide[1]]
    narrow = _NARROW.search(name)
    return 0 if narrow is None else 2 if re.search("short|16", narrow[0]) else 1


def _of_lds(name: str) -> int:
    """Permutes go through the crossbar of the LDS, a dword a lane; reads2 move two values."""
    if re.match(r"ds_(?:swizzle|b?permute)", name):
        return 4
    found = _BITS.search(name)
    width = int(found[1]) // 8 if found else 0
    return width * (2 if re.match(r"ds_(?:read|write|wrxchg)2", name) else 1)


def widths(texts: Sequence[str]) -> tuple[Array, Array]:
    """Bytes a wave moves at most with each line: (vector memory, LDS), and 0 for row -1."""
    found = [traffic(text) for text in texts]
    memory = np.array([each.memory for each in found] + [0], np.int64)
    lds = np.array([each.lds for each in found] + [0], np.int64)
    return LANES * memory, LANES * lds
