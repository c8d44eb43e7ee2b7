"""Counters, clock, shapes and markers of planned streams."""

import pytest

from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.clock import clock
from tracekit.analysis.counters import counters
from tracekit.analysis.flames import flames, points
from tracekit.analysis.occupancy import occupancy
from tracekit.analysis.shapes import SLOW_FORMAT, shapes

KERNEL = lines(
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]",
    "v_mfma_f32_16x16x16_bf16 v[0:3], v[64:65], v[68:69], v[0:3]",
    "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]",
    "s_nop 3",
    "ds_read_b128 v[4:7], v8",
    "s_endpgm",
)


def place(folder, **options):
    plan = Plan(KERNEL, 0, 0, 6000)
    plan.at(6500, 0).at(6600, 1).at(6700, 2).at(6716, 3).at(6800, 4).at(6900, 5)
    return planned.timeline(planned.write(folder, KERNEL, [plan], **options))


def perf(writer):
    writer.perf(8000, 1, 0, [500, 100, 3, 1])
    writer.perf(8400, 1, 0, [40, 12, 0, 0])


NAMES = ["SQ_BUSY_CU_CYCLES", "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_ACTIVE_INST_VALU",
         "SQ_ACTIVE_INST_LDS"]  # fmt: skip


def test_counters_are_summed_and_compared(tmp_path):
    rows = counters(place(tmp_path, after_waves=perf), NAMES)
    assert rows["counted"].tolist() == [540, 112, 3, 1]
    assert rows["decoded"].tolist()[1:] == [32 + 16 + 64, 3, 1]
    assert rows["ratio"].tolist()[1:] == [1, 1, 1]
    assert rows["decoded"].isna().tolist() == [True, False, False, False]


def test_counters_without_names_are_shown_and_not_compared(tmp_path):
    rows = counters(place(tmp_path, after_waves=perf))
    assert rows["counted"].tolist() == [540, 112, 3, 1]
    assert rows["name"].tolist() == [""] * 4
    assert rows["decoded"].isna().all()


def test_the_clock_follows_realtime_pairs(tmp_path):
    def pairs(writer):
        for time, ticks in ((7000, 1000), (7000 + 24 * 100, 1100), (9400 + 20 * 50, 1150)):
            writer.realtime_pair(time, ticks)

    result = clock(place(tmp_path, after_waves=pairs))
    (row,) = result.rows.to_dict("records")
    assert row["pairs"] == 3
    assert (row["min_mhz"], row["max_mhz"]) == (2000, 2400)
    assert row["median_mhz"] == 2200
    assert row["drift"] == pytest.approx(-1 / 6)
    assert row["seconds"] == pytest.approx(1.5e-6)
    assert result.mhz == pytest.approx(3400 / 1.5)


def test_no_pairs_no_clock(tmp_path):
    assert clock(place(tmp_path)).mhz is None


def test_shapes_tell_half_rates_and_slow_formats(tmp_path):
    rows = shapes(place(tmp_path), "span").rows.set_index("opcode")
    flags = rows["flag"].to_dict()
    assert flags["v_mfma_f32_32x32x16_bf16"] == ""
    assert flags["v_mfma_f32_16x16x16_bf16"] == (
        "half rate: v_mfma_f32_16x16x32_bf16 does 2 times the work per cycle"
    )
    assert flags["v_mfma_f32_32x32x64_f8f6f4"] == SLOW_FORMAT
    full, half = (rows.loc[name] for name in list(flags) if name.endswith("bf16"))
    assert (full["rate"], half["rate"]) == (1, 0.5)
    assert full["busy_share"] == full["peak_share"] == 32 / 404
    assert half["peak_share"] == half["busy_share"] / 2 == 8 / 404


def test_hazard_time_is_apart_from_other_stalls(tmp_path):
    (row,) = shapes(place(tmp_path), "span").waits.to_dict("records")
    assert row["nop_cycles"] == 6720 - 6704
    names = ("nop", "lgkmcnt_wait", "vmcnt_wait", "barrier", "refused", "gap", "rest")
    assert sum(row[f"{name}_cycles"] for name in names) == row["wave_cycles"]


def marked(writer):
    enter, leave = 2, 1
    for time, value in (
        (6400, 5 << 2 | enter), (6552, 6 << 2 | enter), (6652, leave), (6660, 9 << 2),
        (6848, leave),
    ):  # fmt: skip
        writer.userdata(time, 0, 0, value)


def test_marker_scopes_nest_and_are_windows(tmp_path):
    timeline = place(tmp_path, after_waves=marked)
    table = flames(timeline)
    assert table["stack"].tolist() == ["5", "5;6"]
    assert table["depth"].tolist() == [0, 1]
    assert table["cycles"].tolist() == [448, 100]
    assert table["self_cycles"].tolist() == [348, 100]
    assert points(timeline)[["time", "name"]].to_numpy().tolist() == [[6660, "9"]]
    (row,) = occupancy(timeline, "marker:6").rows.to_dict("records")
    assert (row["window_cycles"], row["matrix_busy_cycles"]) == (100, 16)


def test_without_markers_the_flame_is_empty(tmp_path):
    timeline = place(tmp_path)
    assert len(flames(timeline)) == len(points(timeline)) == 0
