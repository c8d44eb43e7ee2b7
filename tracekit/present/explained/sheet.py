"""A page put into words: what text, markdown and HTML lay out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.present.cells import mean, number, percent, signed
from tracekit.present.explained.gains import advised, basis, cell, first
from tracekit.present.explained.titles import TITLES

if TYPE_CHECKING:
    from tracekit.analysis.explain.changes import Change
    from tracekit.analysis.explain.page import Cause, Chain, Page, Ref, Tail

#: Causes and changes that a page shows, and lines behind a cause, without and with
#: changes; the JSON result has the rest.  So a page keeps to 50 lines.
CAUSES_SHOWN, CHANGES_SHOWN, DETAILS, DETAILS_WITH_CHANGES = 6, 10, 2, 1

#: Shares below which a number is noise; gaps that are named, and when they are enough.
TRACE, GAPS, MOST = 0.0005, 3, 0.5


@dataclass(frozen=True)
class Row:
    """A cause: its numbers as text, and lines that say where."""

    title: str
    share: str
    removable: str
    per_iteration: str
    gain: str
    details: tuple[str, ...]
    value: float


@dataclass(frozen=True)
class Sheet:
    """``verdict`` "" where it is good; ``gains``: what they rest on, and what was asked for;
    ``changed``: (title, before, after, difference,
    interval, verdict) each; ``others``: further kernels, a line each."""

    verdict: str
    headline: str
    facts: tuple[str, ...]
    heading: str
    rows: tuple[Row, ...]
    rest: str
    gains: tuple[str, ...]
    advice: tuple[str, ...]
    changed: tuple[tuple[str, ...], ...]
    others: tuple[str, ...]
    busy: float


FOOT = (
    "share: what the wave that ends the bubble does; removable: an upper bound, not additive; "
    "gain may exceed it: other waves and gaps profit, too."
)


def sheet(
    capture: str, verdict: str, pages: Sequence[Page], changed: Sequence[Change] = ()
) -> Sheet:
    """The first of ``pages`` (at least one), the others a line each."""
    from tracekit.analysis.model.kernels import short_name

    page, *others = pages
    rows, heading, rest = _causes(page) if page.causes else _wave_time(page)
    whole = Sheet(
        verdict=verdict,
        headline=_headline(page),
        facts=tuple(_facts(capture, page)),
        heading=heading,
        rows=rows,
        rest=rest,
        gains=tuple(basis(page)),
        advice=tuple(advised(page)),
        changed=(),
        others=tuple(f"{short_name(each.kernel)}: {_headline(each)}" for each in others),
        busy=page.headline.matrix_share,
    )
    return with_changes(whole, changed)


def with_changes(page: Sheet, changed: Sequence[Change]) -> Sheet:
    """The sheet with what changed, and fewer details to make room for it."""
    if not changed:
        return page
    rows = tuple(replace(row, details=row.details[:DETAILS_WITH_CHANGES]) for row in page.rows)
    told = tuple(_changed(each) for each in changed[:CHANGES_SHOWN])
    return replace(page, rows=rows, changed=told)


def _headline(page: Page) -> str:
    head, scope = page.headline, page.scope
    if not page.matrix_cycles:
        return f"no MFMA ran in {number(scope.window_cycles)} cycles: what waves did instead"
    text = (
        f"matrix pipe busy {percent(head.matrix_share)} of {number(scope.window_cycles)} SIMD "
        f"cycles (SIMD {_range(head.matrix_low, head.matrix_high)}), {scope.window}"
    )
    # Without a loop the bound is that of whole waves, which do not all do the same.
    if scope.iteration_cycles and head.best_1 is not None and head.best_2 is not None:
        text += f"; bound {percent(head.best_1)} with 1 wave, {percent(head.best_2)} with 2"
    return text + (f" ({head.verdict.replace('_', ' ')})" if head.verdict else "")


def _range(low: float, high: float) -> str:
    return percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"


def _facts(capture: str, page: Page) -> list[str]:
    from tracekit.analysis.model.kernels import short_name

    scope = page.scope
    facts = [
        f"{short_name(page.kernel)} in {capture}: SE {_list(scope.ses)}, CU {_list(scope.cus)}, "
        f"SIMD {_list(scope.simds)}; {number(scope.waves)} waves; of "
        f"{number(scope.idle_cycles)} idle cycles"
    ]
    if told := first(page):
        facts.append(f"first: {told}")
    if page.gaps:
        facts.append(_gaps(page))
    shares = ", ".join(
        f"{each.waves}: {percent(each.share)}" for each in page.resident if each.share >= TRACE
    )
    limiter = page.limiter or "unknown (no dispatch registers)"
    facts.append(f"resident waves, of the time: {shares}; limiter: {limiter}")
    if any(each.tail_cycles for each in page.tail):
        facts.append(_tail(page.tail))
    if page.bytes is not None and page.bytes.lds_share + page.bytes.memory_share > 0:
        each = page.bytes
        text = (
            f"bytes per CU, at most: memory {each.memory_bytes_per_cycle:.1f} B/clk "
            f"({percent(each.memory_share)} of 64), LDS {each.lds_bytes_per_cycle:.1f} B/clk "
            f"(busy {percent(each.lds_busy_share)})"
        )
        if each.memory_bytes_iteration is not None:
            text += f"; {mean(each.memory_bytes_iteration)} B an iteration and wave"
        facts.append(text)
    return facts


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _gaps(page: Page) -> str:
    """Where: the largest gap, or a few that hold half of the idle time."""
    told, held = [], 0.0
    for each in page.gaps[:GAPS]:
        told.append(
            f"{_end(each.previous, 'start')}→{_end(each.next, 'end')} {percent(each.share)} "
            f"(mean {mean(round(each.gap_mean))} cycles)"
        )
        held += each.share
        if held >= MOST:
            break
    of = "the only gap" if page.gap_count == 1 else f"of {number(page.gap_count)} gaps"
    return f"where, of idle: {', '.join(told)}; {of} between MFMAs"


def _tail(tails: Sequence[Tail]) -> str:
    shares = [each.tail_share for each in tails]
    empty = [each.empty_share for each in tails]
    return (
        f"tail: the last {_range(min(shares), max(shares))} of the launch run after the first CU "
        f"was done; {_range(min(empty), max(empty))} of CU time is empty"
    )


def _causes(page: Page) -> tuple[tuple[Row, ...], str, str]:
    shown, rest = page.causes[:CAUSES_SHOWN], page.causes[CAUSES_SHOWN:]
    rows = tuple(
        Row(
            TITLES[each.key],
            percent(each.share),
            percent(each.removable_share),
            "" if each.per_iteration is None else mean(round(each.per_iteration)),
            cell(each.gain, page.replay),
            _details(page, each)[:DETAILS],
            each.of_window,
        )
        for each in shown
    )
    ends = []
    if rest:
        ends.append(f"{len(rest)} more causes, largest {percent(rest[0].share)}")
    if page.both_removable_share is not None:
        ends.append(f"the first two together: at most {percent(page.both_removable_share)}")
    return rows, "why idle, of idle", "; ".join(ends)


def _wave_time(page: Page) -> tuple[tuple[Row, ...], str, str]:
    rows = tuple(
        Row(TITLES[each.key], percent(each.share), "", "", "", (), each.share)
        for each in page.wave_time[:CAUSES_SHOWN]
    )
    return rows, "what waves do, of wave time", ""


def _details(page: Page, cause: Cause) -> tuple[str, ...]:
    if cause.chains:
        return tuple(map(_chain, cause.chains[:DETAILS]))
    if cause.key in ("lds_refused_or_issue", "vmem_refused_or_issue"):
        told = [f"{each.at.place} {percent(each.share)}" for each in cause.instructions]
        first_at = _where(cause.instructions[0].at) if told else ""
        rate = "" if page.bytes is None else (
            f"; LDS busy {percent(page.bytes.lds_busy_share)}"
            if cause.key.startswith("lds")
            else f"; {page.bytes.memory_bytes_per_cycle:.1f} B/clk per CU"
        )  # fmt: skip
        named = f"{', '.join(told[:4])} {first_at}".strip()
        return (f"{named}{rate}",) if told else ()
    told = [
        f"{_end(each.previous, 'start')}→{_end(each.next, 'end')} {percent(each.share)}"
        for each in cause.places[:3]
        if each.share >= TRACE
    ]
    return (f"{', '.join(told)} {_where(cause.places[0].next)}".strip(),) if told else ()


def _chain(chain: Chain) -> str:
    """ "0x10 load → 0x20 vmcnt(0) waits 440 → 0x30 → MFMA 0x40"."""
    parts = [
        _named(chain.load),
        f"{chain.wait.place} {chain.counter}({chain.value}) waits "
        f"{mean(chain.waited_median)}, issued {mean(chain.lead_median)} before",
    ]
    if chain.consumer.instruction:
        parts.append(_named(chain.consumer))
    if chain.mfma.vaddr >= 0 and chain.mfma.vaddr != chain.consumer.vaddr:
        parts.append(f"MFMA {chain.mfma.place}")
    return f"{' → '.join(parts)}; {percent(chain.share)} {_where(chain.wait)}".strip()


def _end(ref: Ref, name: str) -> str:
    return ref.place or name


def _named(ref: Ref) -> str:
    """Place and opcode."""
    name, _, _ = ref.instruction.partition(" ")
    return f"{ref.place} {name}{' lds' if ref.instruction.endswith(' lds') else ''}".strip()


def _where(ref: Ref) -> str:
    """File and line; the JSON result has the whole path."""
    return ref.source.rsplit("/", 1)[-1]


def _changed(change: Change) -> tuple[str, ...]:
    return (
        TITLES[change.key],
        mean(round(change.before)),
        mean(round(change.after)),
        signed(change.difference),
        "unknown"
        if change.low is None or change.high is None
        else f"{signed(change.low)} to {signed(change.high)}",
        change.verdict,
    )
