"""Memory queues of a CU: when an instruction may enter, and when it is served."""

from __future__ import annotations

from collections import deque


class Queue:
    """An in-order memory queue of the CU. `starts`: service starts of the entries in it."""

    def __init__(self, depth: int, per_tick: int, enabled: bool):
        self.depth, self.per_tick, self.enabled = depth, per_tick, enabled
        self.tick, self.entered = -1, 0
        self.tail = 0
        self.leaves: deque[int] = deque()

    def accepts(self, now: int) -> bool:
        """Whether an instruction may enter at `now`."""
        leaves = self.leaves
        while leaves and leaves[0] <= now:
            leaves.popleft()
        if self.tick == now and self.entered >= self.per_tick:
            return not self.enabled
        return len(leaves) < self.depth or not self.enabled

    def push(self, now: int, service: int) -> int:
        """Enter at `now`; returns the start of service."""
        if not self.enabled:
            return now
        if self.tick != now:
            self.tick, self.entered = now, 0
        self.entered += 1
        start = max(now, self.tail)
        self.tail = start + service
        self.leaves.append(self.tail)
        return start
