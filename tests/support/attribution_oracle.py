"""The rules of the attribution, cycle by cycle, in plain Python: slow, and read off one by one.

Nothing here is shared with the package but the tables of the timeline and of the listing.
``Oracle(timeline).cause(se, simd, dispatch, cycle)`` says what the vectorised engine must say.
"""

import re
from bisect import bisect_left, bisect_right
from collections import namedtuple
from functools import cached_property

from tracekit.isa.classify import Expect
from tracekit.isa.listing import Pipe

Answer = namedtuple("Answer", "cause split phase wave at others decider")
Row = namedtuple(
    "Row", "wave number time issue arrival end until pipe klass expect text cycles listed"
)
TO_SCALAR = re.compile(
    r"v_(readlane|readfirstlane|cmp|cmpx|add_co|sub_co|subrev_co|addc_co|subb_co|subbrev_co"
    r"|div_scale|mad_u64|mad_i64)_"
)
WAITING = ("vmcnt_wait", "lgkmcnt_wait", "barrier", "nop", "drain")


class Wave:
    def __init__(self, number, place, begin, end):
        self.number, self.begin, self.end = number, begin, end
        self.se, self.cu, self.simd, self.dispatch, self.slot, self.wave = place
        self.rows = []

    @property
    def group(self):
        return self.se, self.dispatch, self.simd

    @property
    def age(self):
        return self.begin, self.slot, self.wave

    @cached_property
    def mfmas(self):
        return sorted(row.issue for row in self.rows if row.pipe == Pipe.MATRIX)

    @cached_property
    def barriers(self):
        return [row for row in self.rows if row.expect == Expect.BARRIER]

    @cached_property
    def vectors(self):
        return [row for row in self.rows if row.pipe == Pipe.VECTOR]

    @cached_property
    def issues(self):
        return [row.issue for row in self.vectors]

    @cached_property
    def times(self):
        return [row.time for row in self.rows]

    def next_mfma(self, cycle):
        at = bisect_left(self.mfmas, cycle)
        return self.mfmas[at] if at < len(self.mfmas) else None


class Oracle:
    def __init__(self, timeline):
        self.amd = timeline.decoded or timeline.timing == "amd"
        self.listing = timeline.listing
        self.waves = self._waves(timeline)
        self.by_simd = {}
        for wave in self.waves:
            self.by_simd.setdefault(wave.group, []).append(wave)
        self.busy = {key: self._busy(waves) for key, waves in self.by_simd.items()}
        self.packed = {key: [(s, e + tail) for s, e, tail in runs]
                       for key, runs in self.busy.items()}  # fmt: skip
        self.workgroup = self._workgroups()
        self.vm_waits = {row for wave in self.waves for row in self._vm_waits(wave)}

    def _waves(self, timeline):
        keys = ["se", "cu", "simd", "dispatch", "slot", "wave"]
        order = ["se", "dispatch", "simd", "slot", "wave"]  # as the engine numbers them
        waves = {}
        for row in timeline.waves.sort_values(order).to_dict("records"):
            place = tuple(int(row[key]) for key in keys)
            waves[place] = Wave(len(waves), place, int(row["begin"]), int(row["end"]))
        listing, costs = self.listing, timeline.costs
        columns = [timeline.instructions[name].tolist() for name in
                   [*keys, "time", "stall", "duration", "row"]]  # fmt: skip
        for number, (*place, time, stall, duration, at) in enumerate(zip(*columns, strict=True)):
            wave = waves[tuple(place)]
            end = time + duration
            listed = at >= 0
            pipe = int(costs.pipe[at]) if listed else -1
            cycles = int(costs.cycles[at]) if listed else 4
            issue = time + stall
            if listed and pipe == Pipe.NONE:
                issue = end - 4
            until = max(end, issue + cycles) if pipe == Pipe.VECTOR else end
            wave.rows.append(Row(
                wave.number, number, time, issue, time + stall, end, until, pipe,
                str(costs.klass[at]) if listed else "", int(listing.expect[at]) if listed else 0,
                listing.text[at] if listed else "", cycles, listed,
            ))  # fmt: skip
        return list(waves.values())

    def _busy(self, waves):
        runs = sorted(
            (row.issue, row.cycles, self._tail(row.text))
            for wave in waves for row in wave.rows if row.pipe == Pipe.MATRIX
        )  # fmt: skip
        done = []
        for start, cycles, tail in runs:
            if self.amd and done and 0 < done[-1][1] - start <= 4:
                start = done[-1][1]
            done.append((start, start + cycles, tail))
        return done

    @staticmethod
    def _tail(text):
        found = re.match(r"[va]\[(\d+):(\d+)\]", text.split(None, 1)[1].split(",")[1].strip())
        return 12 if found and int(found[2]) - int(found[1]) + 1 >= 4 else 8

    def _workgroups(self):
        """wave -> list of waves that share all its barriers."""
        result = {}
        for wave in self.waves:
            result[wave.number] = [
                other for other in self.waves
                if (other.se, other.cu, other.dispatch) == (wave.se, wave.cu, wave.dispatch)
                and wave.barriers and other.barriers
                and all(abs(a.end - b.end) <= 8
                        for a, b in zip(wave.barriers, other.barriers, strict=False))
            ]  # fmt: skip
        return result

    @staticmethod
    def _vm_waits(wave):
        """Rows of waits for both counters that must wait for a vector operation, or may."""
        queue = []  # of "is unordered"
        for row in wave.rows:
            if row.pipe == Pipe.VMEM and re.search(r"_(load|store|atomic)", row.text):
                queue.append(row.text.startswith("flat_"))
            found = re.search(r"vmcnt\((\d+)\)", row.text) if row.klass == "wait" else None
            if found:
                allowed = int(found[1])
                if len(queue) > allowed:
                    yield row.number
                if allowed == 0 or not any(queue):
                    queue = queue[len(queue) - allowed :] if allowed else []

    def is_busy(self, group, cycle):
        runs = self.busy[group]
        at = bisect_right(runs, (cycle, 1 << 60, 0))
        return any(s <= cycle < e for s, e, _ in runs[max(0, at - 8) : at])

    def kind(self, number, cycle):
        """(class, row) of what the wave does in that cycle of its life."""
        wave = self.waves[number]
        near = bisect_right(wave.issues, cycle)
        for row in wave.vectors[max(0, near - 6) : near]:
            if row.listed and row.issue <= cycle < row.until:
                return "vector_work", row
        rows = wave.rows
        at = bisect_right(wave.times, cycle)
        for row in rows[max(0, at - 6) : at]:
            if row.time <= cycle < row.end:
                return self._in_row(wave, row, cycle), row
        if at == len(rows):
            if rows and rows[-1].expect == Expect.ENDPGM:
                return "drain", rows[-1]
            return "data_lost", rows[-1] if rows else None
        return self._gap(wave, at), rows[at]

    def _in_row(self, wave, row, cycle):
        if not row.listed:
            return "data_lost"
        refused = cycle < row.issue
        if row.pipe == Pipe.VECTOR:
            assert refused
            return "vector_refused"
        if row.pipe == Pipe.LDS:
            return "lds_refused_or_issue"
        if row.pipe == Pipe.VMEM:
            return "vmem_refused_or_issue"
        if row.pipe == Pipe.MATRIX:
            return "mfma"
        if row.pipe in (Pipe.SCALAR, Pipe.BRANCH):
            if refused:
                return self._scalar(wave, row.number - wave.rows[0].number)
            return "scalar_or_branch"
        if row.expect == Expect.BARRIER:
            return "barrier"
        if row.expect == Expect.ENDPGM:
            return "drain"
        if row.klass in ("nop", "sleep"):
            return "nop"
        if row.klass == "wait":
            vm, lgkm = "vmcnt" in row.text, "lgkmcnt" in row.text
            if vm and (not lgkm or row.number in self.vm_waits):
                return "vmcnt_wait"
            return "lgkmcnt_wait" if lgkm else "no_attempt"
        return "scalar_or_branch"

    def _gap(self, wave, at):
        row = wave.rows[at]
        if not row.listed:
            return "data_lost"
        if row.expect == Expect.ENDPGM:
            return "drain"
        if at == 0:
            return "no_attempt"
        if row.pipe in (Pipe.SCALAR, Pipe.BRANCH):
            return self._scalar(wave, at)
        return "scalar_or_branch" if wave.rows[at - 1].pipe == Pipe.BRANCH else "no_attempt"

    @staticmethod
    def _scalar(wave, at):
        for row in reversed(wave.rows[:at]):
            if row.pipe in (Pipe.SCALAR, Pipe.BRANCH):
                break
            if row.pipe == Pipe.VECTOR and TO_SCALAR.match(row.text):
                near = wave.rows[at].time - row.issue <= 24
                return "scalar_waits_for_vector" if near else "scalar_or_branch"
        return "scalar_or_branch"

    def followed(self, number, cycle):
        """(class, row, wave) after going from barrier to barrier."""
        kind, row = self.kind(number, cycle)
        if kind != "barrier":
            return kind, row, number
        wave = self.waves[number]
        k = wave.barriers.index(row)
        there = [w for w in self.workgroup[number] if k < len(w.barriers)]

        def arrival(w):
            return w.barriers[k].time if self.amd else w.barriers[k].arrival

        latest = max(map(arrival, there))
        tied = [w for w in there if arrival(w) == latest]
        last = min(tied, key=lambda w: (w is not wave, w.simd != wave.simd, w.age))
        if last is not wave and last.begin <= cycle < latest:
            return self.followed(last.number, cycle)
        return "barrier", row, number

    def decider(self, group, cycle):
        here = [w for w in self.by_simd[group] if w.begin <= cycle < w.end]
        coming = [w for w in here if w.next_mfma(cycle) is not None]
        if coming:
            return min(coming, key=lambda w: (w.next_mfma(cycle), w.age))
        return min(here, key=lambda w: (-w.end, w.age)) if here else None

    def cause(self, group, cycle):
        """The Answer of an idle cycle of the SIMD ``group`` (se, dispatch, simd)."""
        assert not self.is_busy(group, cycle)
        if not self.busy[group] or cycle >= max(e for _, e, _ in self.busy[group]):
            return Answer("after_last_mfma", "", "", None, None, "none", None)
        decider = self.decider(group, cycle)
        if decider is None:
            return Answer("no_wave", "", "", None, None, "none", None)
        kind, row, number = self.followed(decider.number, cycle)
        wave = self.waves[number]
        split = ""
        if kind == "vector_refused":
            split = self._split(wave, row, cycle)
        elif kind == "mfma":
            elsewhere = wave.group != group and self.is_busy(wave.group, cycle)
            kind = "matrix_elsewhere" if elsewhere else "mfma_refused"
        phase = "main"
        if wave.mfmas and cycle < wave.mfmas[0]:
            phase = "prologue"
        elif wave.mfmas and cycle > wave.mfmas[-1]:
            phase = "epilogue"
        others = [
            self.kind(w.number, cycle)[0] for w in self.by_simd[group]
            if w is not decider and w.begin <= cycle < w.end and w.next_mfma(cycle) is not None
        ]  # fmt: skip
        column = "none" if not others else "working"
        if others and all(other in WAITING for other in others):
            column = "waiting"
        at = None if row is None else row.number
        return Answer(kind, split, phase, number, at, column, decider.number)

    def _split(self, wave, row, cycle):
        for other in self.by_simd[wave.group]:
            near = bisect_right(other.issues, cycle)
            if any(r.until > cycle for r in other.vectors[max(0, near - 6) : near]):
                return "port"
        if row.klass in ("packed", "dot"):
            runs = self.packed[wave.group]
            at = bisect_right(runs, (cycle, 1 << 60))
            if any(s <= cycle < e for s, e in runs[max(0, at - 8) : at]):
                return "packed"
        return "rest"
