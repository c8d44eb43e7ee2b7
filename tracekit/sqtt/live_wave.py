"""A wave on the target CU while it lives, in plain Python (twin of ``Wave`` in the core)."""

from __future__ import annotations

from collections import deque

from tracekit.gfx9 import INST_UNTYPED
from tracekit.sqtt.raw import WaveFlag

#: Type of a record that turned out to be no instruction of the wave.
REMOVED = 255

# Phases of a wave around a context save (CWSR) or a trap.
NORMAL, REQUESTED, SAVED, WAIT_FOR_PC = range(4)


class Wave:
    """One wave on the target CU while it lives, and its records."""

    def __init__(self, simd: int, slot: int, index: int, begin: int, offset: int) -> None:
        self.simd, self.slot, self.index = simd, slot, index
        self.begin, self.end, self.start_offset = begin, -1, offset
        self.flags = WaveFlag(0)
        self.phase = NORMAL
        self.records: list[list[int]] = []  # type, issue, typed, stall, epoch, sequence, flags
        self.waiting: deque[int] = deque()  # issued, not yet typed
        self.last_of_type: dict[int, int] = {}
        self.anchors: list[list[int]] = []  # record index, byte address or -1
        self.open_anchor = -1  # oldest anchor that an INST_PC may still fill
        self.context = -1  # record that a context save or trap opened
        self.replays: list[tuple[int, int]] = []
        self.stall = -1

    def add(self, kind: int, issue: int, flags: int = 0) -> None:
        self.records.append([kind, issue, -1, -1, -1, 0, flags])

    def previous_typed(self) -> bool:
        for record in reversed(self.records):
            if record[0] != REMOVED:
                return record[0] != INST_UNTYPED
        return False

    def expect_pc(self, record: int) -> None:
        """The flow jumps at ``record``; an INST_PC should tell where to."""
        if self.open_anchor < 0:
            self.open_anchor = len(self.anchors)
        self.anchors.append([record, -1])

    def set_pc(self, address: int) -> None:
        if self.open_anchor < 0:
            self.anchors.append([len(self.records), address])
            return
        self.anchors[self.open_anchor][1] = address
        self.open_anchor += 1
        if self.open_anchor == len(self.anchors):
            self.open_anchor = -1

    def trap(self, record: int) -> None:
        self.flags |= WaveFlag.CONTEXT
        self.phase = WAIT_FOR_PC
        self.context = record
        for anchor in reversed(self.anchors):
            if anchor[0] < record:
                break
            if anchor[0] == record:
                anchor[0] = record + 1

    def lose(self) -> None:
        self.waiting.clear()
        self.stall = -1
        self.flags |= WaveFlag.PACKETS_LOST
        self.open_anchor = -1
        if not self.anchors or self.anchors[-1] != [len(self.records), -1]:
            self.anchors.append([len(self.records), -1])
