"""LDS storage of one workgroup, with bounds and race checks.

Two accesses of different waves to the same dword conflict when one writes and no s_barrier orders
them. Every wave counts the barriers it has passed (its epoch), which is its vector clock: accesses
of equal epochs are unordered, unequal ones are ordered. A write becomes visible at the s_waitcnt
of its wave; until then it belongs to no epoch, and any other wave's access is a race.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from zyfa.sim.errors import BoundsError, RaceError

UNSETTLED = 1 << 30
WAVES = 16
"""Most waves of a workgroup."""

STEPS = np.arange(4)[:, None]


class Member(Protocol):
    """What races are told apart by: a wave's number in its workgroup and its epoch."""

    index: int
    epoch: int


class Shared:
    """`size` bytes of LDS; `words` is uint32[size / 4]."""

    def __init__(self, size: int):
        self.size = size
        self.words = np.full(-(-max(size, 16) // 16) * 4, 0x7FC0DEAD, np.uint32)
        self.bytes = self.words.view(np.uint8)
        count = len(self.words)
        self.write_epoch = np.full(count, -1, np.int32)
        self.writer = np.full(count, -1, np.int16)
        self.read_epoch = np.full((WAVES, count), -1, np.int32)

    def check(self, address: np.ndarray, size: int, align: int, where: str) -> np.ndarray:
        """Word indices int64[dwords, n] of an access; raises BoundsError."""
        if len(address) == 0:
            return np.zeros((1, 0), np.int64)
        low, high = int(address.min()), int(address.max())
        if low < 0 or high + size > self.size:
            raise BoundsError(
                f"LDS bytes {low}..{high + size} are outside the {self.size} allocated: {where}"
            )
        if align > 1 and np.count_nonzero(address & (align - 1)):
            raise BoundsError(f"LDS address is not {align}-byte aligned: {where}")
        word = address >> 2
        return word[None] if size <= 4 else word + STEPS[: size // 4]

    def note_read(self, words: np.ndarray, wave: Member, where: str) -> None:
        """Record a read; raises RaceError when another wave's write is unordered with it."""
        epochs = self.write_epoch[words]
        if epochs.max(initial=-1) >= wave.epoch:
            other = (epochs >= wave.epoch) & (self.writer[words] != wave.index)
            if np.count_nonzero(other):
                self._race(words, other, wave, where, "reads")
            direct = (epochs == UNSETTLED + 1) & (self.writer[words] == wave.index)
            if np.count_nonzero(direct):
                self._race(words, direct, wave, where, "reads, before its own s_waitcnt,")
        self.read_epoch[wave.index, words] = wave.epoch

    def note_write(self, words: np.ndarray, wave: Member, where: str, direct: bool = False) -> None:
        """Record a write that is not settled yet; raises RaceError. `direct`: a load to LDS."""
        hot = self.write_epoch[words] >= wave.epoch
        if np.count_nonzero(hot):
            other = hot & (self.writer[words] != wave.index)
            if np.count_nonzero(other):
                self._race(words, other, wave, where, "writes")
        read = self.read_epoch[:, words] >= wave.epoch
        read[wave.index] = False
        if np.count_nonzero(read):
            raise RaceError(
                f"wave {wave.index} writes LDS dword {4 * int(words[read.any(axis=0)].min())} that "
                f"another wave read since the last barrier: {where}"
            )
        self.write_epoch[words] = UNSETTLED + int(direct)
        self.writer[words] = wave.index

    def settle(self, words: np.ndarray, wave: Member) -> None:
        """A s_waitcnt of the writer has passed: the write belongs to its present epoch."""
        mine = words[self.writer[words] == wave.index]
        self.write_epoch[mine] = wave.epoch

    def _race(
        self, words: np.ndarray, which: np.ndarray, wave: Member, where: str, verb: str
    ) -> None:
        word = int(words[which].min())
        raise RaceError(
            f"wave {wave.index} {verb} LDS bytes {4 * word}..{4 * word + 3} that wave "
            f"{int(self.writer[word])} writes without a barrier in between: {where}"
        )
