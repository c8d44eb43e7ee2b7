"""The tables that pages show and export: those of the commands, unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard.service import Service

#: name -> table of (service, capture, window, other capture).
TABLES: dict[str, Callable[[Service, str, str, str], Any]] = {
    "occupancy": lambda s, key, window, _: s.analysis(key, window).occupancy.rows,
    "budget": lambda s, key, window, _: s.analysis(key, window).budget.rows,
    "bounds": lambda s, key, window, _: s.analysis(key, window).budget.simds,
    "bubbles": lambda s, key, window, _: s.analysis(key, window).bubbles.rows,
    "places": lambda s, key, window, _: s.analysis(key, window).bubbles.places,
    "causes": lambda s, key, window, _: s.analysis(key, window).bubbles.totals,
    "overlap": lambda s, key, window, _: s.analysis(key, window).overlap.rows,
    "clock": lambda s, key, window, _: s.whole(key).clock.rows,
    "hotspots": lambda s, key, window, _: s.whole(key).hotspots.rows,
    "bodies": lambda s, key, window, other: s.compare(key, other, window).bodies,
    "compare": lambda s, key, window, other: s.compare(key, other, window).rows,
}
