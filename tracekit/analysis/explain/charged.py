"""The causes of a page, largest first, with the instructions and places behind each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracekit.analysis.attribution.names import CAUSES
from tracekit.analysis.attribution.names import Cause as Number
from tracekit.analysis.explain.evidence import PLACE, Evidence
from tracekit.analysis.explain.page import Cause, Chain, Charged, Gain, Gap, Place, Ref

#: Chains, instructions and places that are listed of each cause.
LISTED = 10
_WAITS = ("vmcnt_wait", "lgkmcnt_wait")


def causes(evidence: Evidence, gains: Mapping[str, Gain]) -> tuple[Cause, ...]:
    """Every cause that occurs."""
    ordered = sorted(evidence.cycles.items(), key=lambda item: -item[1])
    return tuple(_cause(evidence, name, gains) for name, cycles in ordered if cycles)


def _cause(evidence: Evidence, name: str, gains: Mapping[str, Gain]) -> Cause:
    cycles, idle = evidence.cycles[name], max(evidence.idle, 1)
    table = evidence.totals
    own = table[table["matrix_idle_cycles"] > 0]
    shares = own[f"{name}_cycles"] / own["matrix_idle_cycles"]
    removable = evidence.chains.removable(Number(CAUSES.index(name)))
    of_window = cycles / max(evidence.window_cycles, 1)
    length = evidence.iteration
    chains = [*_chains(evidence, name)] if name in _WAITS else []
    charged = _charged(evidence, name)
    places = _places(evidence, name)
    lists = (chains, charged, places)
    return Cause(
        key=name,
        cycles=cycles,
        share=cycles / idle,
        low=float(shares.min()),
        high=float(shares.max()),
        of_window=of_window,
        per_iteration=None if length is None else of_window * length,
        removable_cycles=removable,
        removable_share=removable / idle,
        gain=gains.get(name),
        chains=tuple(chains[:LISTED]),
        instructions=tuple(charged[:LISTED]),
        places=tuple(places[:LISTED]),
        left_out=sum(max(len(each) - LISTED, 0) for each in lists),
    )


def _chains(evidence: Evidence, name: str) -> list[Chain]:
    table = evidence.waits
    table = table[(table["counter"] == name.removesuffix("_wait")) & (table["cycles"] > 0)]
    return [chain(evidence, row) for row in table.to_dict("records")]


def chain(evidence: Evidence, row: dict[Any, Any]) -> Chain:
    """A row of ``Evidence.waits``."""

    def named(name: str) -> Ref:
        vaddr, text = int(row[f"{name}_vaddr"]), row[f"{name}_instruction"]
        return evidence.ref(row["code_object"], vaddr, text=text)

    wait = evidence.ref(*(int(row[name]) for name in PLACE))
    load, consumer = named("producer"), named("consumer")
    mfma = evidence.ref(row["code_object"], int(row["next_mfma_vaddr"]))
    return Chain(
        wait=wait,
        load=load,
        consumer=consumer,
        mfma=mfma,
        counter=row["counter"],
        value=int(row["value"]),
        count=int(row["count"]),
        waited_median=float(row["waited_median"]),
        lead_median=float(row["lead_median"]),
        latency_median=_known(row["latency_median"]),
        hidden=_known(row["hidden"]),
        cycles=int(row["cycles"]),
        share=float(row["share"]),
    )


def _known(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _charged(evidence: Evidence, name: str) -> list[Charged]:
    table = evidence.instructions
    table = table[(table["cause"] == name) & (table["instruction"] != "")]
    sums = table.groupby(PLACE, sort=False)["cycles"].sum()
    ordered = sums.sort_values(ascending=False, kind="stable")
    return [
        Charged(evidence.ref(*at), int(cycles), int(cycles) / max(evidence.idle, 1))  # type: ignore[misc]
        for at, cycles in ordered.items()
    ]


def _places(evidence: Evidence, name: str) -> list[Place]:
    column = f"{name}_cycles"
    return [
        Place(*_pair(evidence, row), int(row["bubbles"]), int(row[column]),
              int(row[column]) / max(evidence.idle, 1))
        for row in _bubbles(evidence, column)
    ]  # fmt: skip


def gaps(evidence: Evidence) -> list[Gap]:
    """Pairs of MFMAs, most idle cycles between them first."""
    return [
        Gap(*_pair(evidence, row), int(row["bubbles"]), int(row["cycles"]),
            int(row["cycles"]) / max(evidence.idle, 1), row["cycles"] / max(row["bubbles"], 1))
        for row in _bubbles(evidence, "cycles")
    ]  # fmt: skip


def _bubbles(evidence: Evidence, column: str) -> list[dict[Any, Any]]:
    """Places with cycles in ``column``, most first."""
    table = evidence.places
    table = table[(table["place"] == "bubble") & (table[column] > 0)]
    return table.sort_values(column, ascending=False, kind="stable").to_dict("records")


def _pair(evidence: Evidence, row: dict[Any, Any]) -> tuple[str, Ref, Ref]:
    """Key and MFMAs of a place."""
    ends = [[int(row[f"{end}_mfma_{name}"]) for name in PLACE] for end in ("previous", "next")]
    before, after = (evidence.row(*at) for at in ends)
    return evidence.keys.pair(before, after), evidence.ref(*ends[0]), evidence.ref(*ends[1])
