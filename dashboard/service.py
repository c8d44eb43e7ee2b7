"""The data service: decoded captures and their analyses, each computed once.

It adds no number of its own: every table is what ``tracekit.analysis`` returns for the
window, as the command line prints it.
"""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dashboard.library import Library
from tracekit.analysis.bubbles import Bubbles, bubbles
from tracekit.analysis.budget import Budget, budget
from tracekit.analysis.causes import Causes, causes
from tracekit.analysis.checks.quality import quality
from tracekit.analysis.clock import Clock, clock
from tracekit.analysis.compare import Comparison, compare
from tracekit.analysis.hotspots import Hotspots, hotspots
from tracekit.analysis.maps import by_offset, by_time
from tracekit.analysis.model.loops import Loops, loops
from tracekit.analysis.model.window import check
from tracekit.analysis.occupancy import Occupancy, occupancy
from tracekit.analysis.overlap import Overlap, overlap
from tracekit.capture.opening import open_all
from tracekit.errors import TracekitError
from tracekit.tables.timeline import Timeline

T = TypeVar("T")

#: Timelines kept in memory; the one used longest ago goes first.
KEPT = 4
#: Results of analyses kept per timeline (windows come and go while one looks around).
RESULTS = 64


@dataclass
class Progress:
    """Bytes of streams that are decoded, of ``total``."""

    total: int = 0
    done: int = 0
    ready: bool = False


@dataclass
class _Loaded:
    timeline: Timeline
    results: OrderedDict[Any, Any] = field(default_factory=OrderedDict)
    lock: threading.RLock = field(default_factory=threading.RLock)


def _places(timeline: Timeline) -> list[tuple[int, int]]:
    table = timeline.instructions[["se", "dispatch"]].drop_duplicates()
    return sorted((int(se), int(dispatch)) for se, dispatch in table.to_numpy().tolist())


class Service:
    """Timelines and analyses by the key of their capture (see ``Library``).

    ``options`` are those of ``tracekit.capture.opening.open_all``; ``filters`` select a part
    (se, cu, ...) of every timeline.  All methods may be called from several threads.
    """

    def __init__(
        self,
        library: Library,
        timing: str = "exact",
        options: dict[str, Any] | None = None,
        filters: dict[str, int | None] | None = None,
    ) -> None:
        self.library, self.timing = library, timing
        self.options, self.filters = options or {}, filters or {}
        self.progress: dict[str, Progress] = {}
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def command_options(self) -> str:
        """The options of the command line that read the same part in the same way."""
        listed = {"listing": self.options.get("listing"), "arch": self.options.get("arch"),
                  "assume-mfma-cycles": self.options.get("assume_mfma_cycles")}  # fmt: skip
        words = ["--timing amd"] if self.timing == "amd" else []
        for name, value in {**listed, **self.filters}.items():
            values = value if isinstance(value, tuple) else (value,)
            words += [f"--{name} {shlex.quote(str(v))}" for v in values if v is not None]
        for name, sign in (("load_base", "{}={:#x}"), ("source_root", "{}={}")):
            pairs = (self.options.get(name) or {}).items()
            option = name.replace("_", "-")
            words += [f"--{option} {shlex.quote(sign.format(a, b))}" for a, b in pairs]
        return "".join(f" {word}" for word in words)

    def timeline(self, key: str) -> Timeline:
        """The decoded capture; raises TracekitError (Refused for a key not on offer)."""
        return self._get(key).timeline

    def occupancy(self, key: str, window: str) -> Occupancy:
        return self._result(key, ("occupancy", window), lambda t: occupancy(t, window))

    def loops(self, key: str) -> Loops:
        return self._result(key, ("loops",), loops)

    def causes(self, key: str, window: str) -> Causes:
        return self._result(key, ("causes", window), lambda t: causes(t, window, self.loops(key)))

    def bubbles(self, key: str, window: str) -> Bubbles:
        return self._result(
            key, ("bubbles", window), lambda t: bubbles(t, window, found=self.causes(key, window))
        )

    def budget(self, key: str, window: str) -> Budget:
        return self._result(
            key, ("budget", window), lambda t: budget(t, window, found=self.causes(key, window))
        )

    def overlap(self, key: str, window: str) -> Overlap:
        return self._result(key, ("overlap", window), lambda t: overlap(t, window, self.loops(key)))

    def by_offset(self, key: str, window: str) -> Any:
        return self._result(
            key, ("by_offset", window), lambda t: by_offset(self.causes(key, window))
        )

    def by_time(self, key: str, window: str) -> Any:
        return self._result(key, ("by_time", window), lambda t: by_time(self.causes(key, window)))

    def places(self, key: str) -> list[tuple[int, int]]:
        """(se, dispatch) with traced instructions."""
        return self._result(key, ("places",), _places)

    def clock(self, key: str) -> Clock:
        return self._result(key, ("clock",), clock)

    def hotspots(self, key: str) -> Hotspots:
        return self._result(key, ("hotspots",), hotspots)

    def compare(self, base: str, new: str, window: str) -> Comparison:
        other = self.timeline(new)
        return self._result(base, ("compare", new, window), lambda t: compare(t, other, window))

    def cached(self, key: str, what: Any, make: Callable[[Timeline], T]) -> T:
        """``make(timeline)``, kept under ``what`` (for shapes of data that pages need)."""
        return self._result(key, what, make)

    def _result(self, key: str, what: Any, make: Callable[[Timeline], T]) -> T:
        if len(what) > 1 and isinstance(what[-1], str):
            check(what[-1])
        loaded = self._get(key)
        with loaded.lock:
            if what not in loaded.results:
                loaded.results[what] = make(loaded.timeline)
                while len(loaded.results) > RESULTS:
                    loaded.results.popitem(last=False)
            loaded.results.move_to_end(what)
            result: T = loaded.results[what]
            return result

    def _get(self, key: str) -> _Loaded:
        self.library.get(key)
        with self._lock:
            if key in self._loaded:
                self._loaded.move_to_end(key)
                return self._loaded[key]
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._loaded:
                made = _Loaded(self._decode(key))
                with self._lock:
                    self._loaded[key] = made
                    while len(self._loaded) > KEPT:
                        self._loaded.popitem(last=False)
                return made
            return self._loaded[key]

    def _decode(self, key: str) -> Timeline:
        entry = self.library.get(key)
        found = open_all([entry.path], **self.options)
        if len(found) > 1:
            names = ", ".join(capture.name for capture in found[:8])
            raise TracekitError(
                f"{entry.name} holds {len(found)} captures ({names}): unpack it, and start the "
                "dashboard with the directory"
            )
        capture, se = found[0], self.filters.get("se")
        progress = self.progress[key] = Progress(
            sum(s.size for s in capture.streams if se in (None, s.se))
        )

        def advance(size: int) -> None:
            progress.done += size

        capture.progress = advance
        try:
            whole = capture.timeline(self.timing, se=se)
        finally:
            capture.progress = None
        whole.quality = quality(whole)
        progress.ready = True
        return whole.select(**self.filters)
