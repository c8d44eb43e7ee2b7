"""The exact pass: its native loop equals the readable one; what single records become."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given

from tests.support.examples import examples
from tests.support.strategies import token_streams
from tracekit.gfx9 import Category, Inst
from tracekit.sqtt import header, phase
from tracekit.sqtt.decode import decode, native_core
from tracekit.sqtt.exact import exact_rows
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate, write_wave
from tracekit.sqtt.writer import StreamWriter

IMPLEMENTATIONS = ["python"] + (["native"] if native_core() is not None else [])
NO_BARRIER = np.zeros(1, bool)  # of a listing without rows: unstitched records pick the last


def rows_of(raw, implementation, known=None):
    unstitched = np.full(raw.records, -1, np.int32)
    return exact_rows(
        copy.deepcopy(raw), unstitched, NO_BARRIER, known or phase.fit(raw), implementation
    )


@pytest.mark.slow
@pytest.mark.skipif(native_core() is None, reason="the native decoder is switched off")
@examples(400, tuple(HealthCheck))
@given(stream=token_streams())
def test_native_equals_python(stream):
    if len(stream) <= 8:
        return
    raw = decode(stream, header.parse(stream).target_cu)
    for constant in (None, 0, 3):
        known = phase.Phase(constant, (0, 0, 0, 0), 0)
        one, other = rows_of(raw, "python", known), rows_of(raw, "native", known)
        for name, value in vars(one).items():
            assert np.array_equal(value, getattr(other, name)), name


def one_wave(*records):
    writer = StreamWriter(target_cu=1)
    write_wave(writer, 0, 0, 1800, list(records))
    return decode(writer.finish(), 1)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_rows_of_one_wave(implementation):
    known = phase.Phase(StreamWriter(target_cu=1).clock.phase, (0, 0, 0, 0), 0)
    raw = one_wave(
        Executed(Inst.SALU_32, 2000),
        Executed(Inst.VALU_32, 2040, 8, stall=2012),
        immediate(2100),
        barrier(2104, 2180),
        endpgm(2300),
    )
    rows = rows_of(raw, implementation, known)
    table = list(zip(rows.time, rows.stall, rows.duration, rows.category, strict=True))
    assert table == [
        (2000, 0, 4, Category.SALU),
        (2012, 28, 36, Category.VALU),
        (2048, 56, 56, Category.IMMED),
        (2104, 0, 80, Category.IMMED),
        (2300, 0, 4, Category.MESSAGE),
    ]
    assert (rows.released.tolist(), rows.release.tolist()) == ([3], [2180])
    assert rows.wave_counts.tolist() == [5]
