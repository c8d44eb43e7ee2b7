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
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.compare import Comparison, compare_of
from tracekit.analysis.model.window import check
from tracekit.build import open_all
from tracekit.commands.selection import missing
from tracekit.errors import TracekitError
from tracekit.tables.timeline import Timeline

T = TypeVar("T")

#: Timelines kept in memory; the one used longest ago goes first.
KEPT = 4
#: Results of analyses kept per timeline (windows come and go while one looks around).
RESULTS = 64
#: Windows whose answers are kept per timeline.
WINDOWS = 8


@dataclass
class Progress:
    """Bytes of streams that are decoded, of ``total``."""

    total: int = 0
    done: int = 0
    ready: bool = False


@dataclass
class _Loaded:
    whole: Analysis
    analyses: OrderedDict[str, Analysis] = field(default_factory=OrderedDict)
    results: OrderedDict[Any, Any] = field(default_factory=OrderedDict)

    @property
    def timeline(self) -> Timeline:
        return self.whole.timeline

    lock: threading.RLock = field(default_factory=threading.RLock)


def _places(timeline: Timeline) -> list[tuple[int, int]]:
    table = timeline.executed[["se", "dispatch"]].drop_duplicates()
    return sorted((int(se), int(dispatch)) for se, dispatch in table.to_numpy().tolist())


class Service:
    """Timelines and analyses by the key of their capture (see ``Library``).

    ``options`` are those of ``tracekit.build.open_all``; ``filters`` select a part
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

    def analysis(self, key: str, window: str) -> Analysis:
        """What can be asked of the capture in ``window``; UnknownWindow for one that is none."""
        check(window)
        loaded = self._get(key)
        with loaded.lock:
            if window not in loaded.analyses:
                loaded.analyses[window] = loaded.whole.in_window(window)
                while len(loaded.analyses) > WINDOWS:
                    loaded.analyses.popitem(last=False)
            loaded.analyses.move_to_end(window)
            return loaded.analyses[window]

    def whole(self, key: str) -> Analysis:
        """What can be asked of the capture where no window matters."""
        return self._get(key).whole

    def places(self, key: str) -> list[tuple[int, int]]:
        """(se, dispatch) with traced instructions."""
        return self._result(key, ("places",), _places)

    def compare(self, base: str, new: str, window: str) -> Comparison:
        one, other = self.analysis(base, window), self.analysis(new, window)
        return self._result(base, ("compare", new, window), lambda _: compare_of(one, other))

    def cached(self, key: str, what: Any, make: Callable[[Timeline], T]) -> T:
        """``make(timeline)``, kept under ``what`` (for shapes of data that pages need)."""
        return self._result(key, what, make)

    def _result(self, key: str, what: Any, make: Callable[[Timeline], T]) -> T:
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

    def _decode(self, key: str) -> Analysis:
        entry = self.library.get(key)
        found = open_all([entry.path], **self.options)
        if len(found) > 1:
            names = ", ".join(capture.name for capture in found[:8])
            raise TracekitError(
                f"{entry.name} holds {len(found)} captures ({names}): unpack it, and start the "
                "dashboard with the directory"
            )
        capture, se = found[0], self.filters.get("se")
        if se not in {stream.se for stream in capture.streams}:
            se = None  # all of it, to say what there is
        progress = self.progress[key] = Progress(
            sum(s.size for s in capture.streams if se in (None, s.se))
        )

        def advance(size: int) -> None:
            progress.done += size

        whole = Analysis(capture.timeline(self.timing, se=se, progress=advance))
        if reason := missing(whole.timeline, self.filters, ("streams",)):
            raise TracekitError(f"{entry.name}: {reason}")
        part = whole.select(**self.filters)
        progress.ready = True
        return part
