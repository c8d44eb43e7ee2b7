"""Views: one module each, ``render(service, request)`` returns what the page shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard.service import Service
from dashboard.views import bubbles, compare, isa, opening, overview, timeline
from dashboard.views.parts import Request

VIEWS: dict[str, Callable[[Service, Request], Any]] = {
    "overview": overview.render,
    "timeline": timeline.render,
    "bubbles": bubbles.render,
    "isa": isa.render,
    "compare": compare.render,
    "open": opening.render,
}
