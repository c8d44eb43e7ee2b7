"""A comparison for people: sentences and tables, in a terminal and as markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracekit.analysis.comparison.runs import BUSY
from tracekit.present.cells import Column, decimal, line, signed
from tracekit.present.tables import Shown

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.compare import Comparison
    from tracekit.analysis.comparison.runs import Run

_VALUES = {
    "base_value": Column("base", decimal),
    "new_value": Column("new", decimal),
    "difference": Column("difference", signed),
    "low": Column("from", signed),
    "high": Column("to", signed),
    "told": Column("", left=True),
}
_SPLIT = {"name": Column("cycles of an iteration", left=True), **_VALUES}
_REST = {"name": Column("metric", left=True), "unit": Column("unit", left=True), **_VALUES}
_SIMDS = {"where": Column("SIMD", left=True, rank=0), **_REST}
_BODY = {
    "change": Column("change", left=True, rank=0),
    "base_line": Column("base line", line),
    "new_line": Column("new line", line),
    "instruction": Column("instruction", left=True, rank=0, cut=True),
}
#: Waves in the loop that differ by more than this make a SIMD's turn another thing.
_WAVES = 0.05


def entry(run: Run) -> dict[str, Any]:
    """A run in the JSON result, with the keys of every capture's entry."""
    origin = run.origin
    return {
        "capture": origin.capture, "kernel": origin.kernel, "timing": origin.timing,
        "arch": origin.arch.name, "arch_source": origin.arch.source,
        "simulated": origin.simulated, "synthetic": origin.synthetic,
        "quality": run.quality.summary(), "notes": list(origin.notes),
    }  # fmt: skip


def sentences(result: Comparison) -> Iterator[str]:
    """The headline, what was compared, what its interval is about, what else to know at once."""
    first = headline(result)
    if first:
        yield first
    yield _title(result)
    yield result.told_noise
    found = result.metrics
    if "waves" in found:
        waves, turn = found["waves"], found["simd_cycles"]
        if abs(waves["difference"]) > _WAVES:
            yield (
                f"{decimal(waves['base_value'])} -> {decimal(waves['new_value'])} waves of a SIMD "
                f"are in the loop at once: it ends an iteration every {_change(turn)} cycles"
            )
    yield changes(result)


def headline(result: Comparison) -> str:
    """ "an iteration: 4,044.9 -> 3,609.9 cycles, mean: -435.0 (-10.8 %), 95 % interval ..."; ""
    without a loop."""
    found = result.metrics
    if "cycles" not in found:
        return ""
    mean = found["cycles"]
    values = f"{decimal(mean['base_value'])} -> {decimal(mean['new_value'])}"
    per_cent = "" if mean["relative"] is None else f" ({signed(100 * mean['relative'])} %)"
    beside = ""
    if "median_cycles" in found:
        beside = f"; median {signed(found['median_cycles']['difference'])}"
    return (
        f"an iteration: {values} cycles, mean: {signed(mean['difference'])}{per_cent}, 95 % "
        f"interval {interval(mean)}{beside}"
    )


def _change(row: Mapping[str, Any]) -> str:
    """ "4,044.9 -> 3,609.9: -435.0"."""
    return (
        f"{decimal(row['base_value'])} -> {decimal(row['new_value'])}: {signed(row['difference'])}"
    )


def interval(row: Mapping[str, Any]) -> str:
    """ "-723.6 to -146.3"."""
    low, high = row["low"], row["high"]
    known = low is not None and low == low
    return f"{signed(low)} to {signed(high)}" if known else "not known"


def changes(result: Comparison) -> str:
    """ "loop body: 146 removed, 112 added, 37 moved: --diff shows them"."""
    counts = result.bodies["change"].value_counts()
    told = ", ".join(f"{counts[name]} {name}" for name in counts.index)
    if told:
        return f"loop body: {told}: --diff shows them"
    known = all(len(side[0].body) for side in (result.base, result.new))
    return "loop body: the same instructions" if known else "loop body: not known for both"


def _title(result: Comparison) -> str:
    """Sides, window, timing and chip."""
    sides = (result.base, result.new)
    names = [_names(side) for side in sides]
    timings = dict.fromkeys(run.origin.timing for side in sides for run in side)
    new = result.new[0].origin
    return f"{' -> '.join(names)}: window {new.window}, {' -> '.join(timings)} timing, {new.arch}"


def _names(side: Sequence[Run]) -> str:
    names = [run.origin.capture for run in side]
    return names[0] if len(names) == 1 else f"{len(names)} runs ({names[0]}, ...)"


def tables(result: Comparison, *, simds: bool, diff: bool) -> Iterator[Shown]:
    """Pieces of an iteration, largest change first; shares and budgets; more as asked for."""
    rows = _told(result.rows)
    total = rows[rows["se"] < 0]
    split = total[total["metric"].str.startswith("iteration:")]
    if len(split):
        yield Shown(_split(split, total), "where they went", _SPLIT, None)
    else:
        causes = total[total["metric"].str.startswith("cause:")]
        yield Shown(_by_size(causes), "causes of idle time", _REST, None)
    yield Shown(_rest(total), "in the window, and what the code asks", _REST, None)
    if simds:
        yield Shown(rows[rows["se"] >= 0], "each SIMD", _SIMDS, None)
    if diff and len(result.bodies):
        yield Shown(result.bodies, "changes of the loop body", _BODY, None)


def _told(rows: pd.DataFrame) -> pd.DataFrame:
    """With the columns that only people see."""
    shown = rows.copy()
    shown["name"] = [_named(metric) for metric in rows["metric"]]
    shown["where"] = [
        f"SE {se} SIMD {simd}" for se, simd in rows[["se", "simd"]].to_numpy().tolist()
    ]
    shown["told"] = [
        "same" if not difference else "within noise" if within else ""
        for within, difference in zip(rows["within_noise"], rows["difference"], strict=True)
    ]
    return shown


def _named(metric: str) -> str:
    if metric == BUSY:
        return "matrix pipe busy"
    return metric.replace("iteration:", "idle: ")


def _by_size(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("difference", key=lambda values: -values.abs(), kind="stable")


def _split(split: pd.DataFrame, total: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    busy = split["metric"] == BUSY
    whole = total[total["metric"] == "cycles"].assign(name="sum: an iteration")
    return pd.concat([split[busy], _by_size(split[~busy]), whole])


def _rest(total: pd.DataFrame) -> pd.DataFrame:
    """Shares of the window, and the budgets that are not the same."""
    share = (total["unit"] == "% of window") & ~total["metric"].str.startswith("cause:")
    budget = total["metric"].str.startswith("budget:") & (total["difference"] != 0)
    return total[share | budget]


def markdown(result: Comparison, shown: Sequence[Shown]) -> str:
    """All of it with tables that a code host renders."""
    lines = [f"> **warning:** {_escaped(text)}\n" for text in result.warnings]
    first, *others = map(_escaped, sentences(result))
    lines += [f"**{first}**\n", *(f"- {text}" for text in others)]
    for each in shown:
        table, columns = each.table, each.columns
        names = [name for name in columns if name in table.columns]
        sides = [":---" if columns[name].left else "---:" for name in names]
        lines += ["", f"{each.title}:", "", _cells(columns[name].heading for name in names)]
        lines.append(_cells(sides))
        lines += [
            _cells(columns[name].cell(value) for name, value in zip(names, row, strict=True))
            for row in table[names].itertuples(index=False, name=None)
        ]
    return "\n".join(lines) + "\n"


def _cells(cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
