"""Can a capture be trusted, for what, and what to change where it cannot?

Every check looks at one thing and yields at most a few findings (docs/quality.md lists
them with their thresholds); the worst severity decides the verdict.
"""

from __future__ import annotations

from tracekit.analysis.checks import losses, reach, sampling, soundness, timekeeping
from tracekit.analysis.checks.findings import Finding, Quality
from tracekit.tables.timeline import Timeline

__all__ = ["Finding", "Quality", "quality"]


def quality(timeline: Timeline) -> Quality:
    """The verdict on all of ``timeline``: judge before selecting a part of it.

    Severities: "fatal" (numbers of this capture mislead: verdict "do not conclude"),
    "warning" (they hold within the limits that the reason gives: "usable"), "info".
    """
    checks = [
        check for room in (sampling, reach, losses, soundness, timekeeping) for check in room.CHECKS
    ]
    return Quality.of(finding for check in checks for finding in check(timeline))
