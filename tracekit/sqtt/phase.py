"""Where a stream's clock lies inside the 4-cycle tick, and the lag that follows from it.

An INST token comes a fixed, type-dependent time after its issue, but tokens are stamped
on a 4-cycle grid, so the lag seen is that time rounded up or down by the phase::

    phase = (c - timestamp + simd) mod 4        timestamp: of the epoch's TIME token
    expected lag = 4 * ((phase + offset[type]) // 4)

``c`` is one constant of the stream (and not derivable from its header): the only one of
0..3 under which no instruction is typed before it can be.  Measured on 1.8 M INST tokens
of 18 shader engines of public gfx950 captures: no negative residual, and the residual is
0 but for opcodes whose issue takes more than 4 cycles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import REPLAYS, Inst
from tracekit.sqtt.raw import LAG_BINS, RawStream

#: Offset of each INST type; 255 where the lag is not modelled.
OFFSET = np.full(256, 255, np.uint8)
for _types, _offset in (
    ((Inst.SMEM_RD, Inst.SALU_32, Inst.SALU_64, Inst.SMEM_WR), 5),
    ((Inst.VALU_32, Inst.VALU_64, Inst.VALU_MAI), 2),
    ((Inst.LDS, Inst.JUMP, Inst.NEXT, Inst.OTHER_MSG, Inst.PC), 1),
    ((Inst.VMEM_RD, Inst.VMEM_WR, Inst.FLAT_RD, Inst.FLAT_WR), 1),
):
    OFFSET[list(_types)] = _offset
for _replay, _base in REPLAYS.items():
    OFFSET[_replay] = OFFSET[_base]

#: Fewer typed instructions than this cannot tell the phase.
MIN_EVIDENCE = 16


@dataclass(frozen=True)
class Phase:
    """``constant`` c, None when the stream cannot tell; ``negative`` share for c = 0..3."""

    constant: int | None
    negative: tuple[float, float, float, float]
    instructions: int


def expected_ticks(phase: int, offset: int) -> int:
    """Ticks of 4 cycles from issue to INST token, for a phase 0..3 and a type's offset."""
    return (phase + offset) // 4


def _too_early(c: int) -> NDArray[np.bool_]:
    """Bins of lag_counts that constant ``c`` calls typed before they can be."""
    early = np.zeros((32, 4, LAG_BINS), bool)
    for kind in np.flatnonzero(OFFSET[:32] != 255).tolist():
        for shift in range(4):
            early[kind, shift, : expected_ticks((c + shift) & 3, int(OFFSET[kind]))] = True
    return early


_EARLY = [_too_early(c) for c in range(4)]


def fit(raw: RawStream) -> Phase:
    """Find c of a stream.

    Unknown (None) with fewer than MIN_EVIDENCE typed instructions, or when not exactly
    one c leaves no instruction typed too early.
    """
    total = int(raw.lag_counts[OFFSET[:32] != 255].sum())
    if total < MIN_EVIDENCE:
        return Phase(None, (0.0, 0.0, 0.0, 0.0), total)
    shares = [int(raw.lag_counts[early].sum()) / total for early in _EARLY]
    fitting = [c for c in range(4) if shares[c] == 0]
    constant = fitting[0] if len(fitting) == 1 else None
    return Phase(constant, (shares[0], shares[1], shares[2], shares[3]), total)


def lag_table(phase: Phase) -> NDArray[np.int16]:
    """Expected ticks by record type and (simd - timestamp) mod 4: int16[256, 5].

    Column 4 is for records before the first timestamp: there, and throughout when the
    phase is unknown, the largest lag is expected, so that no issue is called long that
    may be short.  Types that are not modelled read as a lag beyond any.
    """
    table = np.full((256, 5), np.iinfo(np.int16).max, np.int16)
    for kind in np.flatnonzero(OFFSET != 255).tolist():
        offset = int(OFFSET[kind])
        table[kind] = expected_ticks(3, offset)
        if phase.constant is not None:
            table[kind, :4] = [expected_ticks((phase.constant + s) & 3, offset) for s in range(4)]
    return table
