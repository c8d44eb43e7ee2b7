"""The tables that pages show and export: those of the commands, unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard.service import Service

#: name -> table of (service, capture, window, other capture).
TABLES: dict[str, Callable[[Service, str, str, str], Any]] = {
    "occupancy": lambda s, key, window, _: s.occupancy(key, window).rows,
    "budget": lambda s, key, window, _: s.budget(key, window).rows,
    "bounds": lambda s, key, window, _: s.budget(key, window).simds,
    "bubbles": lambda s, key, window, _: s.bubbles(key, window).rows,
    "sites": lambda s, key, window, _: s.bubbles(key, window).sites,
    "causes": lambda s, key, window, _: s.bubbles(key, window).totals,
    "overlap": lambda s, key, window, _: s.overlap(key, window).rows,
    "clock": lambda s, key, window, _: s.clock(key).rows,
    "hotspots": lambda s, key, window, _: s.hotspots(key).rows,
    "bodies": lambda s, key, window, other: s.compare(key, other, window).bodies,
    "compare": lambda s, key, window, other: s.compare(key, other, window).rows,
}
