"""What the traced waves did of their kernel: early exits, MFMAs reached, code reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.checks.findings import Finding, percent
from tracekit.analysis.checks.traced import traced_waves
from tracekit.isa.listing import Pipe
from tracekit.tables.timeline import Timeline

#: A wave that executes less than this share of the longest wave of its kernel left early.
EARLY = 0.1
#: Share of waves that leave early from which means over waves mislead.
EARLY_SHARE = 0.1
#: Share of a kernel's instructions that waves should reach at least once.
REACHED = 0.1

_TARGET = "--att-target-cu"
_MASK = "--att-shader-engine-mask"


def early_exits(timeline: Timeline) -> Iterator[Finding]:
    """Waves that leave after a small part of what the longest wave of their kernel does."""
    waves = traced_waves(timeline)
    if not len(waves):
        return
    longest = waves.groupby(["dispatch", "code_object", "entry"])["instructions"].transform("max")
    early = int((waves["instructions"] < EARLY * longest).sum())
    if not early:
        return
    share = early / len(waves)
    yield Finding(
        "early_exits", "warning" if share > EARLY_SHARE else "info", share,
        f"{early} of {len(waves)} waves leave early ({percent(early, len(waves))}): means over "
        "waves mislead, look at the others (--slot, --wave)",
        "a problem that gives every workgroup work, or a CU whose waves have some "
        f"({_TARGET})",
    )  # fmt: skip


def kernel_rows(timeline: Timeline) -> NDArray[np.bool_]:
    """Rows of the listing that belong to kernels which traced waves entered.

    A kernel lasts from its symbol to the next; all of the code object without symbols.
    """
    listing = timeline.listing
    inside = np.zeros(len(listing), bool)
    starts: dict[int, list[int]] = {}
    for symbol in listing.symbols:
        starts.setdefault(symbol.code_object, []).append(symbol.vaddr)
    entered = timeline.waves[["code_object", "entry"]].drop_duplicates().to_numpy().tolist()
    for code_object, entry in entered:
        bounds = np.unique(starts.get(code_object, []))
        at = int(np.searchsorted(bounds, entry, "right"))
        own = listing.code_object == code_object
        if at > 0:
            own &= listing.vaddr >= bounds[at - 1]
            if at < len(bounds):
                own &= listing.vaddr < bounds[at]
        inside |= own
    return inside


def executed_code(timeline: Timeline) -> Iterator[Finding]:
    """Whether waves reached the MFMAs, and how much of their kernel at all."""
    listing, row = timeline.listing, timeline.executed["row"].to_numpy()
    row = row[row >= 0]
    if not len(row):
        return
    kernel = kernel_rows(timeline)
    counts = np.bincount(row, minlength=len(listing))
    matrix = timeline.costs.pipe == Pipe.MATRIX
    static, dynamic = int((kernel & matrix).sum()), int(counts[matrix].sum())
    if static and not dynamic:
        waves = timeline.waves["instructions"]
        yield Finding(
            "no_dynamic_mfma", "fatal", 0,
            f"none of the kernel's {static} MFMAs was executed: the waves left after "
            f"{int(waves.max())} instructions or fewer",
            "trace a launch that reaches the main loop (--kernel-iteration-range), another CU "
            f"({_TARGET}) or engine ({_MASK}), or a larger problem",
        )  # fmt: skip
    elif not static and not dynamic:
        yield Finding(
            "no_mfma", "info", 0, "the kernel has no MFMA: its matrix pipe is idle by design",
            blocks=("matrix",),
        )  # fmt: skip
    rows = int(kernel.sum())
    reached = int((kernel & (counts > 0)).sum())
    if rows and reached < REACHED * rows:
        yield Finding(
            "little_code_reached", "warning", reached / rows,
            f"waves reached {reached} of the kernel's {rows} instructions "
            f"({percent(reached, rows)})",
            "trace a launch that does the work (--kernel-iteration-range) or another CU "
            f"({_TARGET})",
        )  # fmt: skip


CHECKS: tuple[Callable[[Timeline], Iterator[Finding]], ...] = (executed_code, early_exits)
