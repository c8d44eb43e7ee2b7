"""Registers that an instruction reads and writes, from its text, as bit sets.

Bits: VGPRs from 0, AGPRs from 512, SGPRs from 1024 (vcc, exec and m0 are left out: no memory
operation loads them).  Enough to find who reads what a load brought; no full ISA model.
"""

from __future__ import annotations

import re
from functools import lru_cache

_OPERAND = re.compile(r"(?<![\w.])([vas])(?:\[(\d+):(\d+)\]|(\d+))(?!\w)")
_BASE = {"v": 0, "a": 512, "s": 1024}
#: These have no result: every operand is read.
_NO_RESULT = re.compile(
    r"(?:ds_write|\w+_store_|s_store|s_cmp|s_bitcmp|s_cbranch|s_branch|s_waitcnt|s_setpc|"
    r"s_sendmsg|s_setreg|s_barrier|s_nop|ds_(?!read|bpermute|permute|swizzle|\w*rtn)|"
    r"(?:buffer|global|flat)_(?:atomic|wb|inv))"
)
#: These read their result register too.
_READS_RESULT = re.compile(r"v_(?:fmac|mac|dot\w*c|swap|permlane\w*swap|writelane|pk_fmac|cvt_sr)")
#: These write their second operand as well.
_SWAPS = re.compile(r"v_(?:swap|permlane\w*swap)")
_TO_LDS = re.compile(r"\blds\b|_load_lds_")


def _bits(operand: str) -> int:
    bits = 0
    for kind, low, high, one in _OPERAND.findall(operand):
        first = int(one or low)
        last = int(one or high)
        bits |= ((1 << (last - first + 1)) - 1) << (_BASE[kind] + first)
    return bits


@lru_cache(maxsize=1 << 14)
def usage(text: str) -> tuple[int, int]:
    """(read, written) bits of the line ``text``."""
    name, _, rest = text.partition(" ")
    operands = rest.split(",")
    everything = _bits(rest)
    returns = name.find("atomic") >= 0 and re.search(r"\b(?:glc|sc0)\b", rest) is not None
    if (_NO_RESULT.match(name) and not returns) or _TO_LDS.search(text):
        return everything, 0
    written = _bits(operands[0])
    read = _bits(",".join(operands[1:]))
    if _READS_RESULT.match(name):
        read |= written
    if _SWAPS.match(name) and len(operands) > 1:
        written |= _bits(operands[1])
    return read, written
