"""What every wave does at every cycle of its life, as pieces without holes.

Between two rows a wave is in a gap, from a row's first attempt to its issue it is refused,
from there it issues; vector work executes as long as its class takes, even when the next row
has begun.  Where rows overlap (AMD's do, by a few cycles), the earlier keeps its cycles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.analysis.attribution.names import Cause
from tracekit.analysis.model.rows import Rows
from tracekit.analysis.waits.queues import Counter, Queue, counts
from tracekit.isa.classify import Expect
from tracekit.isa.listing import Listing, Pipe
from tracekit.sqtt.raw import WaveFlag

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kinds = NDArray[np.uint8]

#: VALU instructions that write SGPRs, VCC or EXEC; a scalar one that reads them waits.
_TO_SCALAR = re.compile(
    r"v_(?:readlane|readfirstlane|cmpx?_|(?:add|sub|subrev)_co_|(?:addc|subb|subbrev)_|div_scale|"
    r"mad_[iu]64)"
)
#: Cycles in which such a result reaches a scalar instruction: measured 20, compare to branch 24.
TO_SCALAR = 24
#: Cycles without an attempt that, in a wave that lost tokens, are taken for a loss: the longest
#: gap that an instruction leaves by itself is TO_SCALAR.
LOST_GAP = 64
_BY_PIPE = {
    Pipe.MATRIX: (Cause.MFMA_REFUSED, Cause.MFMA),
    Pipe.VECTOR: (Cause.VECTOR_REFUSED, Cause.VECTOR_WORK),
    Pipe.LDS: (Cause.LDS, Cause.LDS),
    Pipe.VMEM: (Cause.VMEM, Cause.VMEM),
}


@dataclass(frozen=True)
class Steps:
    """Pieces of the waves' lives, sorted by wave and time; together they are the residence.

    ``kind`` is a Cause; ``row`` (of Rows) is charged: that of the piece, of a gap the next one,
    of the time after a wave's last row that one, -1 in a wave without rows.
    """

    start: Array
    end: Array
    kind: Kinds
    wave: Array
    row: Array


def execution_ends(rows: Rows) -> Array:
    """Per row the end of its execution on the vector port (VALU), else of its issue cost."""
    longer = np.maximum(rows.end, rows.issue + rows.cycles)
    return np.where(rows.pipe == Pipe.VECTOR, longer, rows.end)


def steps(rows: Rows, listing: Listing, vm: Queue) -> Steps:
    """The pieces of all waves; ``vm`` decides between the counters of a wait for both."""
    waves = rows.waves
    gap, refused, issuing, whole = _kinds(rows, listing, vm)
    issue = np.where(whole, rows.time, rows.issue)
    end = execution_ends(rows)
    last = waves.rows[1:][waves.rows[1:] > waves.rows[:-1]] - 1
    ending = _ending(rows, listing)
    end[last] = np.where(ending[last], np.maximum(end[last], waves.end[rows.wave[last]]), end[last])

    # Every wave: its start, three edges a row, its end; later edges give way to earlier ones.
    count = 3 * np.diff(waves.rows) + 2
    offset = np.append(0, np.cumsum(count))
    owner = np.repeat(np.arange(len(waves)), count)
    edges = np.empty(offset[-1], np.int64)
    edges[offset[:-1]] = waves.begin
    edges[offset[1:] - 1] = np.maximum(waves.end, waves.begin)
    at = offset[rows.wave] + 1 + 3 * (np.arange(len(rows)) - waves.rows[rows.wave])
    edges[at], edges[at + 1], edges[at + 2] = rows.time, issue, end
    edges = np.clip(edges, waves.begin[owner], np.maximum(waves.end, waves.begin)[owner])
    apart = owner * rows.stride
    edges = np.maximum.accumulate(edges + apart) - apart

    kind = np.full(len(edges), Cause.DATA_LOST, np.uint8)  # what follows a wave's last row
    charged = np.full(len(edges), -1, np.int64)
    kind[at - 1], kind[at], kind[at + 1] = gap, refused, issuing
    charged[at - 1] = charged[at] = charged[at + 1] = np.arange(len(rows))
    charged[at[last] + 2] = last
    kept = np.flatnonzero(np.append(edges[1:] > edges[:-1], False) & ~_at(offset[1:] - 1, edges))
    return Steps(edges[kept], edges[kept + 1], kind[kept], owner[kept], charged[kept])


def _at(places: Array, like: Array) -> Mask:
    mask = np.zeros(len(like), bool)
    mask[places] = True
    return mask


def _ending(rows: Rows, listing: Listing) -> Mask:
    ending: Mask = np.append(listing.expect == Expect.ENDPGM, False)
    return ending[rows.row]


def _kinds(rows: Rows, listing: Listing, vm: Queue) -> tuple[Kinds, Kinds, Kinds, Mask]:
    """Per row: what the gap before it is, its refused part, its issue; whether it is one piece."""
    n = len(rows)
    gap, refused = _gaps(rows, listing)
    issuing = np.full(n, Cause.SCALAR, np.uint8)
    for pipe, (before, after) in _BY_PIPE.items():
        mine = rows.pipe == pipe
        refused[mine], issuing[mine] = before, after
    inside = rows.pipe == Pipe.NONE
    klass = np.append(rows.costs.klass, "")
    issuing[np.isin(klass, ("nop", "sleep"))[rows.row]] = Cause.NOP
    issuing[(klass == "barrier")[rows.row]] = Cause.BARRIER
    issuing[_ending(rows, listing)] = Cause.DRAIN
    issuing[(klass == "wait")[rows.row]] = Cause.NO_ATTEMPT
    value = counts(listing, rows.costs)[:, rows.row]
    for_vm, for_lgkm = value[Counter.VM] >= 0, value[Counter.LGKM] >= 0
    must = np.zeros(n, bool)
    must[vm.wait] = vm.needs | vm.unknown
    issuing[for_lgkm] = Cause.LGKMCNT_WAIT
    issuing[for_vm & (must | ~for_lgkm)] = Cause.VMCNT_WAIT
    lost = rows.row < 0
    refused[lost] = issuing[lost] = Cause.DATA_LOST
    return gap, refused, issuing, inside | lost


def _gaps(rows: Rows, listing: Listing) -> tuple[Kinds, Kinds]:
    """What the time before each row's first attempt is, and a refused scalar row."""
    gap = np.full(len(rows), Cause.NO_ATTEMPT, np.uint8)
    branch = rows.pipe == Pipe.BRANCH
    scalar = branch | (rows.pipe == Pipe.SCALAR)
    after = np.append(False, branch[:-1])[: len(rows)]
    gap[(after | scalar) & ~rows.first_of_wave] = Cause.SCALAR
    writes = np.array([_TO_SCALAR.match(text) is not None for text in listing.text] + [False])
    writer = rows.previous(writes[rows.row])
    waits = scalar & (writer >= 0) & (writer > rows.previous(scalar))
    waits &= rows.time - rows.issue[writer] <= TO_SCALAR
    gap[waits] = Cause.SCALAR_WAITS
    refused = np.where(waits, Cause.SCALAR_WAITS, Cause.SCALAR).astype(np.uint8)
    gap[_ending(rows, listing)] = Cause.DRAIN
    gap[(rows.row < 0) | _holes(rows, listing)] = Cause.DATA_LOST
    return gap, refused


def _holes(rows: Rows, listing: Listing) -> Mask:
    """Gaps in which rows are missing: in a wave that lost tokens, a long one, or one over which
    the program does not go on where it stood."""
    lossy: Mask = (rows.waves.flags & WaveFlag.PACKETS_LOST != 0)[rows.wave] & ~rows.first_of_wave
    if not lossy.any():
        return lossy
    before = np.append(-1, rows.row[:-1])
    follows = np.append(listing.next, -2)[before] == rows.row
    follows |= np.append(listing.target, -2)[before] == rows.row
    follows |= np.append(listing.expect == Expect.PC, False)[before]
    long = rows.time - np.append(0, rows.end[:-1]) >= LOST_GAP
    lossy &= long | ~follows
    return lossy
