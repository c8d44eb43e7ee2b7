"""The raw facts of one stream, as both decoders return them.

All times are cycles of the stream's own clock (4-cycle grain): ``base`` of the epoch
turns them into the 48-bit shader clock of that SE.  Nothing here is interpreted: the
timing passes (``exact``, ``amd``) and ``registers`` do that once, for both decoders.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

#: Lags from this many 4-cycle ticks on share one bin of ``lag_counts``.
LAG_BINS = 16


class RecordFlag(IntFlag):
    """``flags`` of a record."""

    NEWEST = 1  # its INST token came while it was the newest record of the wave
    PREVIOUS_TYPED = 2  # IMMED: the record before it had its type by then


class WaveFlag(IntFlag):
    """``flags`` of a wave."""

    COMPLETE = 1  # WAVE_START and WAVE_END both seen
    NO_START = 2  # already running when the trace began (or its start was lost)
    LOST_END = 4  # another wave started in its slot: its WAVE_END was lost
    PACKETS_LOST = 8  # tokens were dropped during its life
    CONTEXT = 16  # saved and restored, or trapped


@dataclass
class RawStream:
    """Facts of one stream.

    Records (one an ISSUE state INST or IMMED; sorted by simd, slot, wave, program order):

    ============  ======  ==========================================================
    type          uint8   INST type, or INST_UNTYPED / INST_IMMED / INST_CONTEXT
    issue         int64   ISSUE token time (IMMED: completion)
    typed         int64   INST token time, -1 without (CONTEXT: time it was left)
    stall         int64   time of the STALL token that preceded it, -1 without
    epoch         int32   index into epochs at the INST token, -1 before the first
    sequence      uint32  ordinal of its INST token in the stream
    flags         uint8   RecordFlag
    ============  ======  ==========================================================

    ``waves`` maps column -> int64[m]: simd, slot, index (n-th wave of that slot), begin,
    end, start_offset (byte offset of WAVE_START, -1), first (record), count, flags.
    ``anchors``: int64[k, 3] of (wave, record of the wave, byte address or -1 unknown)
    where an indirect jump or a loss broke the flow; ``replays``: int64[k, 2] of
    (record, time of the XNACK replay token).
    ``side``: tokens that are neither time nor instruction: offset, time int64[s] and
    raw uint64[s], in stream order.  ``epochs``: offset, time, timestamp, base int64[e].
    """

    type: NDArray[np.uint8]
    issue: NDArray[np.int64]
    typed: NDArray[np.int64]
    stall: NDArray[np.int64]
    epoch: NDArray[np.int32]
    sequence: NDArray[np.uint32]
    flags: NDArray[np.uint8]
    waves: dict[str, NDArray[np.int64]]
    anchors: NDArray[np.int64]
    replays: NDArray[np.int64]
    side_offset: NDArray[np.int64]
    side_time: NDArray[np.int64]
    side_raw: NDArray[np.uint64]
    epochs: dict[str, NDArray[np.int64]]
    token_counts: NDArray[np.int64]  # [16] tokens of each type id
    misc_counts: NDArray[np.int64]  # [8] MISC tokens of each type
    inst_counts: NDArray[np.int64]  # [32] INST tokens of each type
    state_counts: NDArray[np.int64]  # [4] ISSUE states (0 unused)
    # [32, 4, LAG_BINS] typed records by type, (simd - timestamp) mod 4, ticks from issue to
    # INST token: what the phase of the stream is told from.
    lag_counts: NDArray[np.int64]
    truncated_at: int  # byte offset of a token that runs past the end, -1 without
    illegal_tokens: int  # tokens naming a wave slot above 9
    orphan_tokens: int  # INST tokens without an issued instruction to type
    last_time: int

    @property
    def records(self) -> int:
        return len(self.type)
