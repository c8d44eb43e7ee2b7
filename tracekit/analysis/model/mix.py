"""Instruction mixes: the cycles that code asks of each pipe, and the bound that follows.

The bound is the shortest time in which ``waves`` waves of one SIMD can each run the mix
once, if nothing ever waits: the fullest pipe or port decides.  Rules: ``isa.blocking`` and
the issue costs of ``isa``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.gfx9 import TICK
from tracekit.isa.blocking import blocking
from tracekit.isa.classify import mnemonic
from tracekit.isa.listing import Listing, Pipe
from tracekit.isa.listing_costs import Costs

Array = NDArray[np.int64]

#: Vector classes that the budget shows; the other classes run at full rate.
VECTOR = ("full_rate", "packed", "transcendental", "conversion", "cross_lane")
#: Cycles of a mix; ``mfma`` is a count.
PARTS = (
    "mfma", "matrix", *VECTOR, "lds", "vmem", "scalar", "nop",
    "blocked", "wave", "tail", "pairable", "lds_data",
)  # fmt: skip
#: A taken branch takes this long until the wave's next instruction, instead of 4.
BRANCH_CYCLES = 20
#: All SIMDs of a CU share its LDS.
SIMDS = 4
#: Cycles for which one wave's instruction keeps the LDS of its CU, by opcode, first match.
#: gfx950: service times fitted to public MI350X captures (reads 128 or 256 bytes a clock,
#: writes 64).  Elsewhere 128 bytes a clock, seen for ds_read_b64 on gfx942; 64 lanes.
LDS_GFX950 = (
    (r"ds_read_b128|ds_read2(st64)?_b64", 4), (r"ds_read", 2), (r"ds_swizzle|ds_b?permute", 4),
    (r"ds_write_b128|ds_write2(st64)?_b64", 16), (r"ds_write_b64|ds_write2(st64)?_b32", 8),
    (r"ds_write", 4),
)  # fmt: skip
LDS_OTHERS = (
    (r"ds_(read|write)_b128|ds_(read|write)2(st64)?_b64", 8),
    (r"ds_(read|write)_b64|ds_(read|write)2(st64)?_b32", 4),
    (r"ds_(read|write)|ds_swizzle|ds_b?permute", 2),
)
_NOP = re.compile(r"s_nop (\d+|0x[0-9a-f]+)")
_SUFFIX = re.compile(r"_(e32|e64|sdwa|dpp)$")


def opcode_of(text: str) -> str:
    """Mnemonic without the encoding's suffix."""
    return _SUFFIX.sub("", mnemonic(text))


def row_cycles(listing: Listing, costs: Costs, rates: Mapping[str, int] | None = None) -> Array:
    """Pipe cycles of each listing row (-1 unknown), ``rates`` in place of the tables'."""
    cycles = costs.cycles.astype(np.int64)
    for opcode, rate in (rates or {}).items():
        cycles[[opcode_of(text) == opcode for text in listing.text]] = rate
    return cycles


def parts(
    listing: Listing, costs: Costs, rates: Mapping[str, int] | None = None
) -> dict[str, Array]:
    """Per part (PARTS) the cycles of each listing row, and one 0 more for row -1.

    ``rates`` sets the cycles of opcodes (name without _e32, _e64, _sdwa).  ``blocked``:
    cycles of the vector port that an MFMA takes or forbids; ``wave``: cycles until the
    wave's own next instruction; ``tail``: wait of a packed F32 after an MFMA's end;
    ``pairable``: plain vector work, of which two waves may issue two at once; ``lds_data``:
    cycles of the CU's LDS.
    """
    n = len(listing)
    result = {name: np.zeros(n + 1, np.int64) for name in PARTS}
    cycles = np.append(np.maximum(row_cycles(listing, costs, rates), 0), 0)
    pipe = np.append(costs.pipe, Pipe.NONE)
    klass = np.append(costs.klass, "")
    named = np.where(np.isin(klass, VECTOR), klass, "full_rate")
    vector = pipe == Pipe.VECTOR
    for name in VECTOR:
        result[name] = np.where(vector & (named == name), cycles, 0)
    result["pairable"] = np.where(vector & (klass == "full_rate") & (cycles <= TICK), cycles, 0)
    matrix = pipe == Pipe.MATRIX
    result["mfma"], result["matrix"] = matrix.astype(np.int64), np.where(matrix, cycles, 0)
    services = LDS_GFX950 if costs.arch == "gfx950" else LDS_OTHERS
    for row in np.flatnonzero(pipe == Pipe.LDS).tolist():
        times = (time for pattern, time in services if re.match(pattern, listing.text[row]))
        result["lds_data"][row] = next(times, 0)
    result["lds"] = np.where(pipe == Pipe.LDS, cycles, 0)
    result["vmem"] = np.where(pipe == Pipe.VMEM, cycles, 0)
    result["scalar"] = np.where(np.isin(pipe, (Pipe.SCALAR, Pipe.BRANCH)), cycles, 0)
    wave = np.where(matrix | (pipe == Pipe.NONE), TICK, np.maximum(cycles, TICK))
    wave[-1] = 0
    for row in np.flatnonzero(matrix).tolist():
        rule = blocking(costs.arch, listing.text[row], int(cycles[row]))
        result["blocked"][row] = rule.valu + rule.before
        result["tail"][row] = rule.packed - cycles[row]
        wave[row] += rule.before
    for row in np.flatnonzero(klass == "nop").tolist():
        found = _NOP.match(listing.text[row])
        result["nop"][row] = wave[row] = TICK * (int(found[1], 0) + 1) if found else TICK
    result["wave"] = wave
    return result


@dataclass(frozen=True)
class Bound:
    """``cycles`` for one turn of all waves; ``limit``: what decides (matrix, packed, vector,
    lds, lds_data, vmem, scalar, wave); ``occupancy``: best share of the matrix pipe;
    ``paired``: the same if plain vector work of two waves pairs wherever it can."""

    cycles: float
    limit: str
    occupancy: float
    paired: float


def bound(mix: Mapping[str, float], waves: int) -> Bound:
    """The bound of ``mix`` (cycles per part of one iteration) with ``waves`` on the SIMD.

    The other SIMDs of the CU are taken to run as many of the same waves (LDS data).
    """
    matrix, packed = mix["matrix"], mix["packed"]
    vector = sum(mix[name] for name in VECTOR)
    branch = BRANCH_CYCLES - TICK if mix["scalar"] else 0
    # Packed F32 never runs beside an MFMA, and waits once more after the last one.
    alone = waves * packed + (mix["tail"] if packed and matrix else 0)
    terms = {
        "matrix": waves * matrix,
        "packed": waves * matrix + alone if packed else 0,
        "vector": waves * (vector + mix["blocked"]),
        "lds": waves * mix["lds"],
        "lds_data": SIMDS * waves * mix["lds_data"],
        "vmem": waves * mix["vmem"],
        "scalar": waves * mix["scalar"],
        "wave": mix["wave"] + branch,
    }
    limit = max(terms, key=lambda name: terms[name])
    longest = terms[limit]
    if not longest:
        return Bound(0.0, "", 0.0, 0.0)
    # Vector work that no MFMA can hide, two at a time as far as it is plain.
    left = max(waves * (vector - packed - matrix + mix["blocked"]), 0)
    pairs = min(left, waves * mix["pairable"]) if waves > 1 else 0
    shortest = max(
        waves * matrix + alone + left - pairs / 2,
        *(cycles for name, cycles in terms.items() if name != "vector"),
    )
    return Bound(longest, limit, waves * matrix / longest, waves * matrix / shortest)


def total(
    listing: Listing, costs: Costs, rates: Mapping[str, int] | None = None
) -> dict[str, float]:
    """The mix of a straight piece of code: every row of ``listing`` once."""
    table = parts(listing, costs, rates)
    found = {name: float(values.sum()) for name, values in table.items()}
    found["tail"] = float(table["tail"].max())
    return found
