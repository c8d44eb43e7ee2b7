"""The event loop of one CU: four SIMDs, their ports, the CU's memory queues and barriers.

Rules and numbers: `zyfa.sim.timing.parameters`. Per tick and SIMD: one MFMA or up to two VALU
instructions, one LDS, one VMEM, one scalar, one branch; an MFMA goes before a VALU whatever the
age, everything else oldest first.
"""

from __future__ import annotations

from collections.abc import Callable

from tracekit.gfx9 import TICK
from zyfa.sim.errors import SimError
from zyfa.sim.timing.costs import BRANCH, INTERNAL, LDS, MATRIX, PAIRS, SCALAR, VALU, VMEM
from zyfa.sim.timing.parameters import Parameters
from zyfa.sim.timing.queues import Queue
from zyfa.sim.timing.track import NEVER, Given, Track


class Simd:
    """Port state of one SIMD, in cycles. `waves` are kept oldest first."""

    def __init__(self, number: int):
        self.number = number
        self.waves: list[Track] = []
        self.port_free = self.matrix_free = 0
        self.valu_block = self.memory_block = self.packed_block = 0
        self.wake = 0
        self.matrix: list[tuple[int, int, Track, int]] = []

    def add(self, track: Track) -> None:
        track.simd = self.number
        self.waves.append(track)
        self.waves.sort(key=lambda other: other.age)


class Barrier:
    """s_barrier of one workgroup: releases when every wave that has not ended has arrived."""

    def __init__(self, tracks: list[Track]):
        self.tracks = tracks

    def complete(self) -> bool:
        return all(track.waiting or track.done for track in self.tracks)


class Cu:
    """Simulates the tracks that were placed on its SIMDs until all have ended."""

    def __init__(self, p: Parameters):
        self.p = p
        self.simds = [Simd(n) for n in range(4)]
        self.lds = Queue(p.lds_queue, p.lds_issues_per_tick, bool(p.queues and p.ports))
        self.vmem = Queue(p.vmem_queue, p.vmem_issues_per_tick, bool(p.queues and p.ports))
        self.barriers: dict[Track, Barrier] = {}
        self.now = 0
        self.on_end: Callable[[Track], None] | None = None

    def place(self, tracks: list[Track], simds: list[int]) -> None:
        """Add the waves of one workgroup."""
        barrier = Barrier(tracks)
        for track, number in zip(tracks, simds, strict=True):
            self.barriers[track] = barrier
            self.simds[number].add(track)
            track.fetch()
            self.settle(track)
            self.simds[number].wake = min(self.simds[number].wake, track.start)

    def run(self) -> int:
        """Run to the end; returns the last cycle. Raises SimError on a deadlock."""
        simds = self.simds
        while True:
            now = min(simd.wake for simd in simds)
            if now >= NEVER:
                break
            self.now = now
            first = now // TICK % 4
            for n in range(4):
                simd = simds[(first + n) & 3]
                if simd.wake <= now:
                    self.step(simd, now)
        waiting = [track for simd in simds for track in simd.waves if not track.done]
        if waiting:
            raise SimError(f"{len(waiting)} waves wait at a barrier that the others never reach")
        return max((t.finish for simd in simds for t in simd.waves), default=0)

    def settle(self, track: Track) -> None:
        """Resolve internal instructions, which need no port, until one does or a barrier waits."""
        while not track.done and track.cost.port == INTERNAL:
            cost, ready = track.cost, track.ready
            kind = cost.internal
            target = 0
            if kind == "wait" and track.last_taken:
                # A wait at a branch target is done while the target is fetched.
                target, ready = ready, ready - self.p.branch_taken + self.p.issue
            if kind == "barrier":
                track.waiting = True
                track.barrier_at = ready
                self.release(self.barriers[track])
                return
            if kind == "end":
                track.driver.issue(ready)
                track.log.append(_entry(track, ready, ready + 4))
                track.done, track.finish = True, ready + 4
                self.release(self.barriers[track])
                if self.on_end is not None:
                    self.on_end(track)
                return
            if kind == "ghost":
                self.ghost(track, ready)
                continue
            completion = ready + cost.count - 4
            if kind == "wait":
                completion = self.waited(track, ready)
            track.driver.issue(completion)
            track.log.append(_entry(track, ready, completion + 4))
            track.last_taken = False
            track.ready = max(completion + 4, target)
            track.fetch()

    def ghost(self, track: Track, ready: int) -> None:
        """An instruction that a replay takes out: no time, no port; what it loads arrives."""
        cost = track.cost
        if cost.was in (LDS, VMEM) or (cost.was == SCALAR and cost.smem):
            (track.vm if cost.was == VMEM else track.lgkm).append(ready + cost.latency)
            track.issues.append(ready)
        track.driver.issue(ready)
        track.log.append(_entry(track, ready, ready + 4))
        track.fetch()

    def waited(self, track: Track, ready: int) -> int:
        """Completion of a s_waitcnt."""
        given = track.driver.given()
        counts = track.cost.counts
        when = ready
        if given is not None:
            when = max(ready, given_completion(track, given, ready))
        for queue, name, ours in (
            (track.vm, "vmcnt", given is None),
            (track.lgkm, "lgkmcnt", True),
        ):
            limit = counts.get(name)
            if limit is not None:
                while len(queue) > limit:
                    done = queue.popleft()
                    if ours and done > when:
                        when = done
        return -(-when // TICK) * TICK

    def release(self, barrier: Barrier) -> None:
        """Let the waves of a workgroup pass once all have arrived."""
        if not barrier.complete():
            return
        waiting = [track for track in barrier.tracks if track.waiting]
        if not waiting:
            return
        when = max(track.barrier_at for track in waiting) + self.p.barrier_release
        for track in waiting:
            track.waiting = False
        for track in waiting:
            track.driver.issue(when)
            track.log.append(_entry(track, track.barrier_at, when + 4))
            track.last_taken = False
            track.ready = when + 4
            track.fetch()
            self.settle(track)
            simd = self.simds[track.simd]
            if not track.done and track.blocked < simd.wake:
                simd.wake = max(track.blocked, self.now)

    def step(self, simd: Simd, now: int) -> None:  # noqa: C901 - the hottest loop, so no calls
        """One tick of one SIMD."""
        if not self.p.ports:
            self.naive(simd, now)
            return
        matrix: Track | None = None
        lds = vmem = scalar = branch = matrix
        older: list[Track] = []
        for track in simd.waves:
            if track.done or track.waiting or track.blocked > now:
                continue
            port = track.cost.port
            if port == VALU:
                older.append(track)
            elif port == MATRIX:
                if matrix is None:
                    matrix = track
            elif port == LDS:
                if lds is None:
                    lds = track
            elif port == VMEM:
                if vmem is None:
                    vmem = track
            elif port == SCALAR:
                if scalar is None:
                    scalar = track
            elif port == BRANCH and branch is None:
                branch = track
        if matrix is not None and simd.port_free <= now:
            lead = self.p.scaled_mfma_port_lead if matrix.cost.scaled else 0
            if simd.matrix_free <= now + lead:
                self.issue_matrix(simd, matrix, now + lead)
                older = []
        if older and simd.port_free <= now and simd.valu_block <= now:
            self.issue_valu(simd, older, now)
        if lds is not None and simd.memory_block <= now and self.lds.accepts(now):
            self.issue_lds(lds, now)
        if vmem is not None and simd.memory_block <= now and self.vmem.accepts(now):
            given = vmem.driver.given()
            if given is None or now >= vmem.ready + given.stall:
                self.issue_vmem(vmem, now)
        if scalar is not None:
            if scalar.cost.smem:
                scalar.lgkm.append(now + scalar.cost.latency)
                scalar.issues.append(now)
            self.advance(scalar, now)
        if branch is not None:
            self.advance(branch, now)
        self.reschedule(simd, now)

    def naive(self, simd: Simd, now: int) -> None:
        """One tick without pipes: whatever is ready issues."""
        for track in simd.waves:
            if track.done or track.waiting or track.blocked > now:
                continue
            cost = track.cost
            if cost.port == VMEM:
                given = track.driver.given()
                if given is None or now >= track.ready + given.stall:
                    self.issue_vmem(track, now)
            elif cost.port == LDS:
                self.issue_lds(track, now)
            else:
                if cost.port == MATRIX:
                    simd.matrix.append((now, now + cost.cycles, track, track.row))
                elif cost.port == SCALAR and cost.smem:
                    track.issues.append(now)
                self.advance(track, now)
        self.reschedule(simd, now)

    def reschedule(self, simd: Simd, now: int) -> None:
        """Find the next tick at which this SIMD has something to try."""
        wake = NEVER
        after = now + TICK
        for track in simd.waves:
            if track.done or track.waiting:
                continue
            when = track.blocked
            if when < after:
                when = after
                port = track.cost.port
                if port == MATRIX:
                    lead = self.p.scaled_mfma_port_lead if track.cost.scaled else 0
                    when = max(when, simd.matrix_free - lead, simd.port_free)
                elif port == VALU:
                    block = simd.packed_block if track.cost.packed else simd.valu_block
                    when = max(when, block, simd.port_free)
                elif port in (LDS, VMEM):
                    when = max(when, simd.memory_block)
            if when < wake:
                wake = when
        simd.wake = -(-wake // TICK) * TICK if wake < NEVER else NEVER

    def advance(self, track: Track, now: int) -> None:
        track.issued(now)
        if not track.done and track.cost.port == INTERNAL:
            self.settle(track)

    def issue_matrix(self, simd: Simd, track: Track, when: int) -> None:
        cost = track.cost
        simd.matrix_free = when + cost.cycles
        simd.port_free = when + TICK
        simd.valu_block = max(simd.valu_block, when + cost.block_valu)
        simd.memory_block = max(simd.memory_block, when + cost.block_memory)
        simd.packed_block = max(simd.packed_block, when + cost.block_packed)
        simd.matrix.append((when, when + cost.cycles, track, track.row))
        self.advance(track, when)

    def issue_valu(self, simd: Simd, ready: list[Track], now: int) -> None:
        """Issue the oldest VALU instruction that is allowed, and one that may join it."""
        first = None
        for track in ready:
            if not track.cost.packed or simd.packed_block <= now:
                first = track
                break
        if first is None:
            return
        cost = first.cost
        simd.port_free = now + cost.hold
        if cost.dual and simd.matrix_free <= now and len(ready) > 1:
            allowed = PAIRS[cost.dual]
            for second in ready:
                other = second.cost
                if second is first or other.dual == "" or other.dual not in allowed:
                    continue
                if cost.reads_scalar and other.reads_scalar and not self.p.dual_issue_both_scalar:
                    continue
                self.advance(second, now)
                break
        self.advance(first, now)

    def issue_lds(self, track: Track, now: int) -> None:
        cost = track.cost
        extra = self.conflict_cycles(track, now)
        start = self.lds.push(now, cost.service + extra)
        if cost.reads and start > now:
            track.war.append((cost.reads, start))
        track.lgkm.append(start + cost.latency + extra)
        track.issues.append(now)
        self.advance(track, now)

    def issue_vmem(self, track: Track, now: int) -> None:
        cost = track.cost
        start = self.vmem.push(now, cost.service)
        if cost.reads and start > now:
            track.war.append((cost.reads, start))
        done = start + cost.latency
        track.vm.append(max(done, track.vm[-1]) if track.vm else done)
        track.issues.append(now)
        if cost.flat:
            track.lgkm.append(done)
        self.advance(track, now)

    def conflict_cycles(self, track: Track, now: int) -> int:
        """Extra service of an LDS access; needs addresses, so none in trace-driven runs."""
        return 0


def given_completion(track: Track, given: Given, ready: int) -> int:
    """Completion of a wait whose latency a capture gives."""
    issues = track.issues
    return max((issues[number] + late for number, late in given.producers), default=ready)


def _entry(track: Track, start: int, end: int) -> tuple[int, int, int, int, bool]:
    return track.row, start, start, end, False
