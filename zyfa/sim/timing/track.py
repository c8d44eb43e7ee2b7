"""A wave as the timing model sees it: what comes next, when it may issue, what it waits for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import NamedTuple

from zyfa.sim.timing.costs import BRANCH, LDS, SCALAR, VALU, VMEM, Cost
from zyfa.sim.timing.parameters import Parameters

NEVER = 1 << 60


class Issue(NamedTuple):
    """One executed instruction: cycles of the first attempt, the issue and the end of its cost.

    For s_waitcnt, s_nop and s_barrier `end` is the completion + 4. `row`: the driver's number of
    the instruction. `released`: barrier release or -1.
    """

    row: int
    ready: int
    issued: int
    end: int
    taken: bool


class Driver(ABC):
    """Where a track gets its instructions from; see `Execution` and `zyfa.sim.runs.replay`."""

    markers: list[tuple[int, int]]
    """(cycle, M0) of every s_ttracedata, where the driver sees them."""

    @abstractmethod
    def current(self) -> tuple[int, Cost] | None:
        """(row, cost) of the next instruction, None at the end."""

    @abstractmethod
    def issue(self, now: int) -> bool:
        """The instruction issues at `now`; returns whether a branch was taken."""

    def given(self) -> Given | None:
        """Measured delays of the current instruction, for trace-driven runs."""
        return None


class Given(NamedTuple):
    """Delays taken from a capture instead of predicted.

    producers: what a s_waitcnt waits for: (number among the wave's memory instructions, in the
    order of issue; cycles from its issue to the completion); stall: back-pressure of a VMEM
    issue.
    """

    producers: tuple[tuple[int, int], ...] = ()
    stall: int = 0


class Track:
    """Timing state of one wave on one SIMD.

    ready: cycle from which the current instruction tries to issue; blocked: cycle before which the
    WAR interlock refuses it. vm and lgkm: completion times of outstanding memory instructions.
    """

    __slots__ = (
        "age",
        "barrier_at",
        "blocked",
        "cost",
        "done",
        "driver",
        "finish",
        "history",
        "issues",
        "last_compare",
        "last_memory_safe",
        "last_salu",
        "last_scc",
        "last_sgpr",
        "last_taken",
        "lgkm",
        "log",
        "number",
        "p",
        "ready",
        "row",
        "simd",
        "slot",
        "start",
        "vm",
        "waiting",
        "war",
    )  # fmt: skip

    simd: int
    """Of the CU that the track is placed on."""
    cost: Cost
    """Of the current instruction; of the last one at the end."""

    def __init__(self, driver: Driver, p: Parameters, number: int, start: int):
        self.driver, self.p, self.number = driver, p, number
        self.age = (start, number)
        self.start = self.ready = start
        self.blocked = 0
        self.done = self.waiting = False
        self.finish = 0
        self.last_sgpr = self.last_compare = self.last_salu = self.last_scc = -1000
        self.last_memory_safe = 0
        self.last_taken = False
        self.vm: deque[int] = deque()
        self.lgkm: deque[int] = deque()
        self.war: list[tuple[int, int]] = []
        self.log: list[tuple[int, int, int, int, bool]] = []
        self.issues: list[int] = []
        self.barrier_at = 0
        self.row = -1

    def executed(self) -> list[Issue]:
        """What the wave has executed, in program order."""
        return [Issue(*entry) for entry in self.log]

    def fetch(self) -> None:  # noqa: C901 - every instruction goes through it, so no calls
        """Take the next instruction and find when it may first try to issue."""
        found = self.driver.current()
        if found is None:
            self.done = True
            return
        self.row, cost = found
        self.cost = cost
        p, ready, port = self.p, self.ready, cost.port
        if not p.ports:
            self.blocked = ready
            return
        if port in (LDS, VMEM):
            if ready < self.last_memory_safe:
                ready = self.last_memory_safe
            if ready < self.last_salu + p.salu_to_memory:
                ready = self.last_salu + p.salu_to_memory
        elif port in (SCALAR, BRANCH):
            if ready < self.last_sgpr + p.valu_sgpr_to_salu:
                ready = self.last_sgpr + p.valu_sgpr_to_salu
            if port == BRANCH and cost.reads_scc:
                if ready < self.last_compare + p.compare_to_branch:
                    ready = self.last_compare + p.compare_to_branch
                if ready < self.last_scc + p.salu_to_branch:
                    ready = self.last_scc + p.salu_to_branch
        elif cost.internal == "nop" and self.last_taken:
            ready -= p.branch_taken - p.branch_taken_to_nop
        self.ready = ready
        self.blocked = ready
        if self.war:
            self._interlock(cost, ready)

    def _interlock(self, cost: Cost, ready: int) -> None:
        self.war = [entry for entry in self.war if entry[1] > ready]
        if cost.port == VALU and self.p.war_interlock:
            for mask, free in self.war:
                if free > self.blocked and mask & cost.writes:
                    self.blocked = free

    def issued(self, now: int) -> None:
        """Account for the issue of the current instruction at `now`, then fetch the next."""
        cost, p = self.cost, self.p
        taken = self.driver.issue(now)
        end = now + 4
        port = cost.port
        self.last_taken = False
        if port == VALU:
            reach = p.transcendental_to_memory if cost.transcendental else p.valu_to_memory
            self.last_memory_safe = now + reach
            if cost.writes_scalar:
                self.last_sgpr = now
                if cost.is_compare:
                    self.last_compare = now
            following = end = now + cost.hold
        elif port == SCALAR:
            if not cost.smem:
                self.last_salu = now
                if cost.writes_scc:
                    self.last_scc = now
            following = now + p.issue
        elif port == BRANCH:
            following = now + (p.branch_taken if taken else p.branch_not_taken)
            self.last_taken = taken
        else:
            following = now + cost.next_distance
            end = following
        if not p.ports:
            following = now + 4
        self.log.append((self.row, self.ready, now, end, taken))
        self.ready = following
        self.fetch()
