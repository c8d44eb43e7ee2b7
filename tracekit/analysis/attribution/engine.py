"""The attribution of a timeline: every idle cycle of every SIMD with its cause."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.barriers import Barriers, barriers
from tracekit.analysis.attribution.charge import Charger
from tracekit.analysis.attribution.deciders import (
    AFTER_LAST,
    Bubbles,
    Deciders,
    bubbles,
    deciders,
)
from tracekit.analysis.attribution.names import Cause
from tracekit.analysis.attribution.others import with_others
from tracekit.analysis.attribution.pieces import Pieces, joined
from tracekit.analysis.attribution.steps import Steps, steps
from tracekit.analysis.model.rows import Rows, rows_of
from tracekit.analysis.model.simds import MatrixUse, Simd, matrix_use
from tracekit.analysis.waits.queues import Queue, queues
from tracekit.isa.listing import Pipe
from tracekit.sqtt.raw import WaveFlag
from tracekit.tables.timeline import Timeline

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    """What every table of the attribution is made from, for one timeline."""

    rows: Rows
    queues: tuple[Queue, Queue]
    steps: Steps
    meetings: Barriers
    charger: Charger


@dataclass(frozen=True)
class SimdCharges:
    """One SIMD, over the whole trace (a window is cut out by ``pieces.within``).

    ``pieces``: disjoint, in order; together the idle cycles, from -NEVER to NEVER.  Their
    ``of`` is the index into ``deciders``, whose ``bubble`` is that into ``bubbles``.
    ``waves``: those of the SIMD; ``mfmas``: whether it ran any.
    """

    simd: Simd
    waves: Array
    matrix: MatrixUse
    bubbles: Bubbles
    deciders: Deciders
    pieces: Pieces

    @property
    def mfmas(self) -> bool:
        """Whether the SIMD ran an MFMA: without one, nothing is concluded for its pipe."""
        return len(self.matrix.start) > 0


@dataclass
class Charges:
    """The attribution of a timeline; ``notes`` say what could not be told.

    SIMDs on which an MFMA of unknown cost ran are not in ``simds``.
    """

    facts: Facts
    simds: list[SimdCharges]
    notes: list[str] = field(default_factory=list)

    def select(self, **wanted: int) -> Charges:
        """Those SIMDs with the given se, cu, simd, dispatch."""
        kept = [
            one for one in self.simds
            if all(getattr(one.simd, name) == value for name, value in wanted.items())
        ]  # fmt: skip
        return replace(self, simds=kept)


def facts(timeline: Timeline) -> Facts:
    """Rows, waits, steps and barriers of ``timeline``."""
    rows, listing = rows_of(timeline), timeline.listing
    found = queues(rows, listing)
    pieces = steps(rows, listing, found[0])
    meetings = barriers(rows, listing)
    charger = Charger(rows, listing, pieces, meetings)
    return Facts(rows, found, pieces, meetings, charger)


def charges(timeline: Timeline, known: Facts | None = None) -> Charges:
    """The cause of every idle cycle; ``known`` saves computing ``facts(timeline)`` again."""
    known = facts(timeline) if known is None else known
    result = Charges(known, [])
    rows = known.rows
    unlisted = not len(timeline.listing)
    offset = 0
    for simd in rows.simds:
        own = slice(offset, offset + len(simd.rows))
        offset = own.stop
        matrix = matrix_use(simd)
        lost = _lost(rows, simd, own)
        if lost:
            result.notes.append(
                f"SE {simd.se} SIMD {simd.simd}: {lost} MFMAs may follow lost tokens and have no "
                "program counter; they count as data_lost, not as busy"
            )
        if matrix.unknown > lost or (unlisted and not len(matrix.start)):
            note = "the cost of an MFMA is unknown: no causes for its SIMD"
            if note not in result.notes:
                result.notes.append(note)
            continue
        result.simds.append(_charge(known, simd, matrix, own))
    idle = [one for one in result.simds if not one.mfmas]
    if result.simds and len(idle) == len(result.simds):
        result.notes.append(
            "no MFMA was executed by the traced waves: what they did says nothing about the "
            "matrix pipe, and nothing can be concluded about the kernel"
        )
    elif idle:
        where = ", ".join(f"SE {one.simd.se} SIMD {one.simd.simd}" for one in idle)
        result.notes.append(f"no MFMA was executed on {where}: its idle time has no cause")
    return result


def _charge(known: Facts, simd: Simd, matrix: MatrixUse, own: slice) -> SimdCharges:
    rows = known.rows
    here = np.flatnonzero(rows.waves.simd_of == rows.waves.simd_of[rows.wave[own.start]])
    found = bubbles(matrix, matrix.order + own.start)
    who = deciders(rows, here, found)
    asked = np.flatnonzero(who.wave >= 0)
    pieces = known.charger.charge(who.start[asked], who.end[asked], who.wave[asked])
    pieces = replace(pieces, of=asked[pieces.of])
    pieces = joined([pieces, _nobody(who)]).ordered()
    pieces = with_others(rows, known.steps, here, pieces)
    return SimdCharges(simd, here, matrix, found, who, pieces)


def _nobody(who: Deciders) -> Pieces:
    """The pieces in which no wave decides."""
    at = np.flatnonzero(who.wave < 0)
    cause = np.where(who.wave[at] == AFTER_LAST, Cause.AFTER_LAST, Cause.NO_WAVE).astype(np.int64)
    none, zero = np.full(len(at), -1), np.zeros(len(at), np.int64)
    return Pieces(at, who.start[at], who.end[at], cause, zero, zero, none, none, cause, zero)


def _lost(rows: Rows, simd: Simd, own: slice) -> int:
    """Possible MFMAs without a program counter in waves that lost tokens."""
    lossy = (rows.waves.flags & WaveFlag.PACKETS_LOST != 0)[rows.wave[own]]
    return int(((simd.pipe == Pipe.MATRIX) & (simd.row < 0) & lossy).sum())
