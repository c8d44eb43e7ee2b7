"""Global memory: numpy buffers at chosen addresses, every access checked."""

from __future__ import annotations

import bisect

import numpy as np

from zyfa.sim.errors import BoundsError

GUARD = 1 << 16
"""Unmapped bytes between buffers, so that an overrun never hits a neighbour."""


class Buffer:
    """`size` usable bytes at `base`; `bytes` (uint8) and `words` (uint32) are padded views."""

    def __init__(self, base: int, data: np.ndarray, name: str):
        self.base, self.size, self.name = base, data.nbytes, name
        padded = -(-max(data.nbytes, 4) // 16) * 16
        self.bytes = np.zeros(padded, np.uint8)
        self.bytes[: data.nbytes] = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        self.words = self.bytes.view(np.uint32)


class Memory:
    """An address space of buffers, allocated upwards from `first`."""

    def __init__(self, first: int = 0x7F00_0000_0000):
        self.buffers: list[Buffer] = []
        self.bases: list[int] = []
        self.free = first
        self.recent: Buffer | None = None

    def allocate(self, data: np.ndarray, name: str, address: int | None = None) -> Buffer:
        """Map a copy of `data`; raises BoundsError when it overlaps a buffer."""
        base = self.free if address is None else address
        buffer = Buffer(base, np.asarray(data), name)
        at = bisect.bisect(self.bases, base)
        below = self.buffers[at - 1] if at else None
        above = self.buffers[at] if at < len(self.buffers) else None
        if (below and below.base + below.size > base) or (
            above and base + buffer.size > above.base
        ):
            raise BoundsError(f"{name} at 0x{base:x} overlaps another buffer")
        self.buffers.insert(at, buffer)
        self.bases.insert(at, base)
        self.free = max(self.free, -(-(base + buffer.size) // GUARD) * GUARD + GUARD)
        return buffer

    def find(self, low: int, high: int) -> Buffer:
        """The buffer that holds bytes low..high-1. Raises BoundsError."""
        recent = self.recent
        if recent is not None and recent.base <= low and high <= recent.base + recent.size:
            return recent
        at = bisect.bisect(self.bases, low) - 1
        if at >= 0:
            buffer = self.buffers[at]
            if high <= buffer.base + buffer.size:
                self.recent = buffer
                return buffer
            if low < buffer.base + buffer.size + GUARD:
                raise BoundsError(
                    f"bytes 0x{low:x}..0x{high:x} leave {buffer.name} "
                    f"(0x{buffer.base:x}, {buffer.size} bytes)"
                )
        raise BoundsError(f"bytes 0x{low:x}..0x{high:x} are not mapped")

    def read(self, address: int, size: int) -> bytes:
        """Bytes for scalar loads."""
        buffer = self.find(address, address + size)
        at = address - buffer.base
        return buffer.bytes[at : at + size].tobytes()

    def gather(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """uint32[dwords, n] from uint64[n] byte addresses; 1 and 2 bytes give one row.

        Addresses must be aligned to the size, at most 4. Raises BoundsError.
        """
        if len(addresses) == 0:
            return np.zeros((max(size // 4, 1), 0), np.uint32)
        low, high = int(addresses.min()), int(addresses.max())
        _aligned(addresses, min(size, 4), low)
        try:
            buffer = self.find(low, high + size)
        except BoundsError:
            return self._lane_by_lane(addresses, size)
        return _load(buffer, (addresses - np.uint64(buffer.base)).astype(np.int64), size)

    def _lane_by_lane(self, addresses: np.ndarray, size: int) -> np.ndarray:
        columns = []
        for address in addresses.tolist():
            buffer = self.find(address, address + size)
            columns.append(_load(buffer, np.array([address - buffer.base]), size))
        return np.concatenate(columns, axis=1)

    def scatter(self, addresses: np.ndarray, values: np.ndarray, size: int) -> None:
        """Store uint32[dwords, n] (or [1, n] for 1 and 2 bytes); later lanes win."""
        if len(addresses) == 0:
            return
        low, high = int(addresses.min()), int(addresses.max())
        _aligned(addresses, min(size, 4), low)
        try:
            buffer = self.find(low, high + size)
        except BoundsError:
            for n, address in enumerate(addresses.tolist()):
                one = self.find(address, address + size)
                _store(one, np.array([address - one.base]), values[:, n : n + 1], size)
            return
        _store(buffer, (addresses - np.uint64(buffer.base)).astype(np.int64), values, size)


def _aligned(addresses: np.ndarray, align: int, low: int) -> None:
    if align > 1 and np.count_nonzero(addresses & np.uint64(align - 1)):
        raise BoundsError(f"an address of this access is not {align}-byte aligned (0x{low:x}..)")


def _load(buffer: Buffer, at: np.ndarray, size: int) -> np.ndarray:
    if size >= 4:
        word = at >> 2
        if size == 4:
            found: np.ndarray = buffer.words[word][None]
        else:
            found = buffer.words[word + STEPS[: size // 4]]
    elif size == 2:
        found = buffer.bytes.view(np.uint16)[at >> 1].astype(np.uint32)[None]
    else:
        found = buffer.bytes[at].astype(np.uint32)[None]
    return found


def _store(buffer: Buffer, at: np.ndarray, values: np.ndarray, size: int) -> None:
    if size >= 4:
        buffer.words[(at >> 2) + STEPS[: size // 4]] = values
    elif size == 2:
        buffer.bytes.view(np.uint16)[at >> 1] = values[0]
    else:
        buffer.bytes[at] = values[0]


STEPS = np.arange(4)[:, None]
