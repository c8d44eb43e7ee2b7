"""Gains, what they rest on, and the advice with them, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracekit.present.cells import mean, number, percent
from tracekit.present.explained.titles import TITLES

if TYPE_CHECKING:
    from tracekit.analysis.explain.page import Advice, Gain, Page, Replay

#: Advice that a page shows.
SHOWN = 8


def cell(gain: Gain | None, replay: Replay | None) -> str:
    """ "1,129", "~0" within the replay's error, "slower", "-" where no replay tells."""
    if gain is None or replay is None:
        return "" if replay is None else "-"
    if abs(gain.gain_cycles) <= max(replay.error_cycles, 0.5):
        return "~0"
    return _cycles(gain.gain_cycles) if gain.gain_cycles > 0 else "slower"


def basis(page: Page) -> Iterator[str]:
    """What the gains rest on, and the changes that were asked for."""
    replay = page.replay
    if not page.causes:
        return
    if replay is None:
        yield page.gain_note
        return
    part = number(replay.replayed_instructions)
    if replay.replayed_instructions < replay.all_instructions:
        part += f" of {number(replay.all_instructions)}"
    yield (
        f"gain: simulated cycles of the mean {replay.unit} of {_cycles(replay.unit_cycles)}, with "
        "the cause at zero and all else as recorded (~0: within the replay's error; -: not "
        "replayed)"
    )
    yield (
        f"replayed: {number(replay.units)} {replay.unit}s of SE {replay.se} CU {replay.cu}, {part} "
        f"instructions; unchanged it is {percent(replay.error)} off, "
        f"{_cycles(replay.error_cycles)} cycles"
    )
    known = [(each.gain, each.key) for each in page.causes if each.gain is not None]
    gain, key = max(known, key=lambda pair: pair[0].gain_cycles, default=(None, ""))
    if gain is not None and gain.gain_low_cycles > 0:
        yield f"without {TITLES[key]}, {_next(gain)} is busiest"
    for each in page.what_if:
        yield f"what if {each.text}: {after(each.gain, replay)}"
        if each.note:
            yield f"  {each.note}"


def after(gain: Gain, replay: Replay) -> str:
    """ "5,507 -> 5,331 cycles: saves 176 (3.2 %), simulated, ..."."""
    verb = "saves" if gain.gain_cycles >= 0 else "costs"
    where = "beyond" if abs(gain.gain_cycles) > replay.error_cycles else "within"
    return (
        f"{_cycles(replay.unit_cycles)} → {_cycles(gain.after_cycles)} cycles: {verb} "
        f"{_cycles(abs(gain.gain_cycles))} ({percent(abs(gain.gain_share))}), simulated, {where} "
        f"the replay's error of {_cycles(replay.error_cycles)}; then {_next(gain)} is busiest"
    )


def advised(page: Page) -> list[str]:
    """The advice, most gain first."""
    told = [_advice(each, page.replay) for each in page.advice[:SHOWN]]
    more = len(page.advice) - len(told)
    return [*told, f"{more} more in --json"] if more else told


def first(page: Page) -> str:
    """The first advice up to its first explanation; what is largest, where none gains."""
    if page.advice and (page.advice[0].gain is None or page.advice[0].gain.gain_low_cycles > 0):
        return page.advice[0].text.split(": ")[0]
    if not page.causes or not page.conclude:
        return ""
    cause = page.causes[0]
    told = f"no rule says what to do about {TITLES[cause.key]}, {percent(cause.share)} of idle"
    if cause.gain is not None and cause.gain.gain_low_cycles > 0:
        told += f", at most {_cycles(cause.gain.gain_cycles)} cycles"
    return told


def _advice(advice: Advice, replay: Replay | None) -> str:
    gain = advice.gain
    if gain is None or replay is None:
        return advice.text
    if gain.gain_low_cycles > 0:
        return (
            f"{advice.text} [gain at most {_cycles(gain.gain_cycles)} cycles, "
            f"{percent(gain.gain_share)}, simulated; then {_next(gain)} is busiest]"
        )
    if gain.gain_cycles < -replay.error_cycles:
        return f"{advice.text} [slower in the replay: other waves or pipes take over]"
    return f"{advice.text} [no gain beyond the replay's error]"


def _cycles(value: float) -> str:
    return mean(round(value))


def _next(gain: Gain) -> str:
    return f"the {gain.next_resource} ({percent(gain.next_resource_share)} of the time)"
