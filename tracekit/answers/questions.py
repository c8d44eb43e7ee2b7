"""``tracekit.explain(path)`` and its like: from a path to an answer.

``source`` is everywhere a path (see ``tracekit.open``), several paths of one capture, a Timeline,
or an Analysis (whose window counts then); ``window`` as ``--window`` of the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tracekit.analysis.analysis import Analysis
from tracekit.analysis.compare import compare_runs
from tracekit.analysis.comparison import saved
from tracekit.analysis.comparison.runs import Run, measure
from tracekit.analysis.explain.changes import Change, changes, matching
from tracekit.analysis.explain.gains import gains
from tracekit.analysis.explain.page import Gains
from tracekit.analysis.explain.pages import NO_GAINS, concludes, ordered, page
from tracekit.analysis.model.window import DEFAULT
from tracekit.answers.compared import Compared
from tracekit.answers.explained import Explained
from tracekit.answers.tabled import OccupancyAnswer, WaitsAnswer
from tracekit.build import open_capture
from tracekit.tables.timeline import Timeline

PathLike = str | Path
Source = PathLike | Sequence[PathLike] | Timeline | Analysis


def analysis_of(source: Source, window: str = DEFAULT) -> Analysis:
    """What answers come from; raises TracekitError for a path that holds no capture, or several,
    and UnknownWindow for a window that is none."""
    if isinstance(source, Analysis):
        return source
    if isinstance(source, Timeline):
        return Analysis(source, window)
    return Analysis(open_capture(source).timeline(), window)


def occupancy(source: Source, window: str = DEFAULT) -> OccupancyAnswer:
    """How busy the matrix pipe and the vector pipe of each SIMD are.

    >>> tracekit.occupancy("traces/pingpong").rows[["simd", "matrix_occupancy"]]
    """
    return OccupancyAnswer(analysis_of(source, window))


def waits(source: Source, window: str = "span", *, per_simd: bool = False) -> WaitsAnswer:
    """Which memory operation each s_waitcnt waits for, and how early that was issued."""
    return WaitsAnswer(analysis_of(source, window), per_simd)


def explain(
    source: Source, window: str = DEFAULT, *, base: Source | None = None, gain: bool = False
) -> Explained:
    """Why the matrix pipe idles, at which instruction, and what to try.

    ``base``: a capture from before, for what shrank and grew since. ``gain``: also replay what
    removing a cause gains (seconds; needs zyfa).
    """
    analysis = analysis_of(source, window)
    kernels = ordered(analysis)
    told = NO_GAINS
    if kernels and gain:
        refused = Gains(None, "no gain: the verdict of check is: do not conclude")
        told = gains(kernels[0], ()) if concludes(kernels[0]) else refused
    pages = [page(each, NO_GAINS if at else told) for at, each in enumerate(kernels)]
    found: tuple[Change, ...] = ()
    if base is not None and kernels:
        before = matching(kernels[0].kernel, ordered(analysis_of(base, window)))
        found = () if before is None else changes(before, kernels[0]).rows
    return Explained(analysis, tuple(pages), found)


def compare(
    base: Source | Sequence[Source], new: Source | Sequence[Source], window: str = DEFAULT
) -> Compared:
    """What ``new`` changed against ``base``, and whether it is more than noise.

    A list is of runs of that side, each a path, Timeline or Analysis, or a baseline that
    ``tracekit compare --save`` wrote; with several on a side, intervals are those between runs.
    Raises NotComparable for different chips, windows, or where nothing can be compared.
    """
    return Compared(compare_runs(_runs(base, window), _runs(new, window)))


def _runs(side: Source | Sequence[Source], window: str) -> list[Run]:
    if isinstance(side, str | Path | Timeline | Analysis):
        return _run(side, window)
    return [run for each in side for run in _run(each, window)]


def _run(source: Source, window: str) -> list[Run]:
    if isinstance(source, str | Path) and saved.is_saved(source):
        return saved.read(source)
    return [measure(analysis_of(source, window))]
