"""Analyses of the shared captures: reconciliation, verdicts, what a schedule change did."""

import pytest

import tracekit
from tracekit.analysis.bubbles import CAUSE_COLUMNS, bubbles, bubbles_of
from tracekit.analysis.budget import budget
from tracekit.analysis.causes import causes
from tracekit.analysis.compare import compare
from tracekit.analysis.counters import counters
from tracekit.analysis.maps import by_time
from tracekit.analysis.model.loops import loops
from tracekit.analysis.occupancy import occupancy
from tracekit.analysis.overlap import overlap
from tracekit.analysis.shapes import shapes

FLASH = "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44"
WITH_MFMA = (
    FLASH, "gemm_bf16_gfx942", "aiter_fp4_gemm_gfx950_before", "aiter_fp4_gemm_gfx950_after",
    "wave_gemm_bf16_gfx950", "fp8_paged_attention_gfx950",
)  # fmt: skip


@pytest.fixture
def timeline(captures):
    return lambda name, **options: tracekit.open(captures / name, **options).timeline()


def test_every_counter_equals_what_was_decoded(timeline):
    rows = counters(timeline("wave_gemm_bf16_gfx950"))
    known = rows[rows["ratio"].notna()]
    assert sorted(set(known["se"])) == [0, 22]
    assert (known["ratio"] == 1).all()
    expected = {
        "SQ_VALU_MFMA_BUSY_CYCLES": 1024, "SQ_ACTIVE_INST_VALU": 880, "SQ_ACTIVE_INST_LDS": 128,
        "SQ_ACTIVE_INST_VMEM": 96, "SQ_ACTIVE_INST_FLAT": 32, "SQ_ACTIVE_INST_SCA": 296,
    }  # fmt: skip
    for _, part in known.groupby("se"):
        assert dict(zip(part["name"], part["counted"], strict=True)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_MFMA)
@pytest.mark.parametrize("window", ["steady", "span"])
def test_causes_sum_to_the_idle_time_and_views_agree(timeline, name, window):
    data = timeline(name)
    busy = occupancy(data, window).rows
    found = causes(data, window)
    result = bubbles_of(data, found)
    assert result.totals["matrix_idle_cycles"].tolist() == busy["matrix_idle_cycles"].tolist()
    assert result.rows["cycles"].sum() == busy["matrix_idle_cycles"].sum()
    assert (result.rows[list(CAUSE_COLUMNS)].sum(axis=1) == result.rows["cycles"]).all()
    assert by_time(found)["idle_cycles"].sum() == busy["matrix_idle_cycles"].sum()
    simds = overlap(data, window).simds
    assert simds["overlap_cycles"].tolist() == busy["overlap_cycles"].tolist()


@pytest.mark.parametrize(
    ("name", "bound", "turns"),
    [
        (FLASH, "latency_bound", "partial"),
        ("gemm_bf16_gfx942", "latency_bound", "alternating"),
        ("aiter_fp4_gemm_gfx950_before", "latency_bound", "partial"),
        ("aiter_fp4_gemm_gfx950_after", "latency_bound", "alternating"),
    ],
)
def test_verdicts(timeline, name, bound, turns):
    data = timeline(name)
    assert set(budget(data).simds["verdict"]) == {bound}
    assert set(overlap(data).simds["verdict"]) == {turns}


def test_the_loop_of_flash_attention_asks_more_of_the_vector_port(timeline):
    rows = budget(timeline(FLASH)).rows
    assert set(rows["matrix_cycles"]) == {2048}
    assert set(rows["vector_cycles"]) == {3412}


def test_the_gemm_on_gfx942_cannot_do_better_for_its_lds(timeline):
    simds = budget(timeline("gemm_bf16_gfx942", arch="gfx942")).simds
    assert set(simds["limit"]) == {"lds_data"}
    assert set(simds["best_2"]) == {0.5}


def test_the_dominant_loops(timeline):
    rows = loops(timeline("aiter_fp4_gemm_gfx950_before")).rows
    assert (rows["waves"].item(), rows["iterations"].item()) == (24, 24 * 31)
    nested = loops(timeline(FLASH)).rows
    assert nested["dominant"].tolist() == [False, True]
    assert nested["parent"].tolist() == [-1, nested["loop"].iloc[0]]


@pytest.mark.slow
def test_what_the_schedule_change_of_the_fp4_gemm_did(timeline):
    names = ("aiter_fp4_gemm_gfx950_before", "aiter_fp4_gemm_gfx950_after")
    result = compare(*(timeline(name) for name in names))
    rows = result.rows[result.rows["se"] < 0].set_index("metric")
    mean = rows.loc["cycles"]
    assert [round(mean[name]) for name in ("base_value", "new_value", "difference")] == [
        4045, 3610, -435,
    ]  # fmt: skip
    assert not mean["within_noise"]
    assert rows.loc["median_cycles", "difference"] == -566
    pieces = rows[rows.index.str.startswith("iteration:")]
    assert pieces["difference"].sum() == pytest.approx(mean["difference"], abs=1)
    assert rows.loc["matrix", "low"] > 0
    assert rows.loc["budget:matrix_cycles", "difference"] == 0
    assert set(result.bodies["change"]) == {"moved", "removed", "added"}


def test_fp8_of_older_chips_runs_at_half_rate(timeline):
    (row,) = shapes(timeline("fp8_paged_attention_gfx950"), "span").rows.to_dict("records")
    assert row["rate"] == 0.5
    assert "half rate" in row["flag"]


def test_without_an_mfma_nothing_is_concluded(timeline):
    data = timeline("fp8_mla_no_mfma_gfx950")
    result = budget(data)
    assert result.simds["verdict"].isna().all()
    assert any("nothing can be concluded" in note for note in result.notes)
    assert set(overlap(data).simds["verdict"]) == {"single_wave"}


def test_no_wave_no_row(timeline):
    data = timeline("tinygrad_empty_gfx950")
    assert len(bubbles(data).rows) == len(budget(data).rows) == len(overlap(data).rows) == 0
    assert len(loops(data).rows) == 0
