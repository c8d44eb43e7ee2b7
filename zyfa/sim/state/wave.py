"""The architectural state of one wave."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from zyfa.sim.state.memory import Memory
from zyfa.sim.state.registers import REGISTERS
from zyfa.sim.state.shared import Shared

LANES = 64
ALL = (1 << LANES) - 1
ROWS = 512
POISON = 0x7FC0DEAD
"""Initial content of every register that the hardware does not define (a quiet NaN)."""


class Located(Protocol):
    """An instruction, as far as messages about its result need it."""

    @property
    def where(self) -> str: ...


class Group(Protocol):
    """What the waves of a workgroup share."""

    memory: Memory
    shared: Shared


@dataclass
class Pending:
    """A memory instruction in flight: `commit` writes its result when a s_waitcnt covers it.

    `done`: cycle at which the result has arrived (0 without timing); `kind`: "vmem", "lds", "smem";
    `written`: the hazard entry of its registers, back in force after the wait.
    """

    registers: tuple[int, ...]
    commit: Callable[[], None] | None
    instruction: Located
    kind: str
    done: int = 0
    written: object = None


_masks: dict[int, np.ndarray | None] = {ALL: None}
_bools: dict[int, np.ndarray] = {}


def lane_mask(bits: int) -> np.ndarray:
    """bool[64] of a 64-bit mask."""
    found = _bools.get(bits)
    if found is None:
        if len(_bools) > 4096:
            _bools.clear()
        raw = np.frombuffer(bits.to_bytes(8, "little"), np.uint8)
        found = np.unpackbits(raw, bitorder="little").view(np.bool_)
        found.flags.writeable = False
        _bools[bits] = found
    return found


def mask_bits(lanes: np.ndarray) -> int:
    """The 64-bit mask of bool[64]."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


class Wave:
    """Registers, masks and counters of a wave.

    v: uint32[512, 64], AGPRs from row 256; u, i, f: its rows as uint32, int32, float32. s: 128
    Python ints (106/107 VCC, 124 M0; EXEC lives in `exec`). `mask` is None when EXEC is full.
    `next` is the index of the next instruction in the program. `writers`, `readers`: what
    `zyfa.sim.rules.hazards` notes of each register; from cycle `held_until` on, no entry of
    `readers` counts any more.
    """

    def __init__(self, workgroup: Group, index: int):
        self.workgroup = workgroup
        self.index = index
        self.v = np.full((ROWS, LANES), POISON, np.uint32)
        self.u = list(self.v)
        self.i = list(self.v.view(np.int32))
        self.f = list(self.v.view(np.float32))
        self.s = [0xDEAD0000 + n for n in range(128)]
        self.s[106] = self.s[107] = 0
        self.scc = 0
        self.exec = ALL
        self.mask: np.ndarray | None = None
        self.dpp_exec: np.ndarray | None = None
        self.next = 0
        self.mode = 0
        self.ended = False
        self.waiting = False
        self.clock = 0
        self.epoch = 0
        self.executed = 0
        self.vmem: deque[Pending] = deque()
        self.lgkm: deque[Pending] = deque()
        self.writers: list[Any] = [None] * REGISTERS
        self.readers: list[Any] = [None] * REGISTERS
        self.held_until = 0
        self.guard = 0
        self.addresses: np.ndarray | None = None
        self.scratch: np.ndarray | None = None
        self.hardware = {"HW_REG_XCC_ID": 0, "HW_REG_HW_ID": 0}

    def set_exec(self, bits: int) -> None:
        """Write EXEC."""
        self.exec = bits
        self.mask = None if bits == ALL else lane_mask(bits)

    @property
    def lanes(self) -> np.ndarray:
        """EXEC as bool[64]."""
        return lane_mask(self.exec)

    def pair(self, index: int) -> np.ndarray:
        """Registers index, index + 1 as uint64[64]."""
        return self.u[index].astype(np.uint64) | (self.u[index + 1].astype(np.uint64) << SHIFT32)

    def vcc(self) -> int:
        return self.s[106] | self.s[107] << 32

    def set_vcc(self, bits: int) -> None:
        self.s[106] = bits & 0xFFFFFFFF
        self.s[107] = bits >> 32


SHIFT32 = np.array(32, np.uint64)
