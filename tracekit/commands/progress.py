"""Bars on stderr, on a terminal: while streams are decoded, when it takes long, and replayed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.progress

    from tracekit.capture.capture import Capture

#: Seconds of silence: most captures are done by then.
DELAY = 0.5


class Progress:
    """Context with a bar for the streams of ``capture``, whose builder tells ``advance``.

    The bar counts bytes of streams that are in the tables.  Of a single stream nothing is
    known before its end, so the bar only shows that work goes on.
    """

    def __init__(self, capture: Capture, se: int | None, quiet: bool) -> None:
        sizes = [stream.size for stream in capture.streams if se in (None, stream.se)]
        self.count, self.total, self.done = len(sizes), sum(sizes), 0
        self.wanted = wanted(quiet)
        self.lock = threading.Lock()
        self.ended = False
        self.bar: rich.progress.Progress | None = None
        self.timer = threading.Timer(DELAY, self._show)
        self.timer.daemon = True

    def __enter__(self) -> Progress:
        if self.wanted and self.count:
            self.timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.timer.cancel()
        with self.lock:
            self.ended = True
            if self.bar is not None:
                self.bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        with self.lock:
            if self.ended:
                return
            # Fractions of bytes would be wrong for a stream alone; its size is still told.
            sizes = [DownloadColumn(binary_units=True)] if self.count > 1 else []
            self.bar = Bar(
                TextColumn("{task.description}"), BarColumn(), *sizes, TimeElapsedColumn(),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            what = "stream" if self.count == 1 else "streams"
            self.bar.add_task(
                f"decoding {self.count} {what}, {self.total / 2**20:,.0f} MiB",
                total=self.total if self.count > 1 else None,
                completed=self.done,
            )
            self.bar.start()

    def advance(self, size: int) -> None:
        """Count ``size`` more bytes as done."""
        with self.lock:
            self.done += size
            if self.bar is not None:
                self.bar.update(self.bar.task_ids[0], completed=self.done)


def wanted(quiet: bool) -> bool:
    """Whether anyone would see a bar."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def replays(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar for replays: what it gives is told how many of how many are done."""
    if not wanted(quiet):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("replaying on the simulator"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
