"""How many examples hypothesis draws: profiles ``ci`` (all) and ``dev`` (a fifth).

``HYPOTHESIS_PROFILE`` names the profile; without it ``ci`` runs where ``CI`` is set, else
``dev``.  ``scripts/test`` without arguments runs ``ci``.  Tests say with ``examples`` how many
they take of ``ci``; no example has a deadline, for that would be a test of the machine.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

#: Examples of a test that says nothing.
ALL, FEW = 100, 20


def choose_profile() -> None:
    """Register the profiles and load the one that the environment asks for."""
    settings.register_profile("ci", max_examples=ALL, deadline=None)
    settings.register_profile("dev", max_examples=FEW, deadline=None)
    default = "ci" if os.environ.get("CI") else "dev"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or default)


def examples(count: int, unhealthy: tuple[HealthCheck, ...] = ()) -> settings:
    """Decorator: ``count`` examples in ``ci``, the profile's share of them (one at least) else.

    ``unhealthy``: the health checks that a test breaks knowingly.
    """
    share = settings.default.max_examples / ALL
    return settings(max_examples=max(1, round(count * share)), suppress_health_check=unhealthy)
