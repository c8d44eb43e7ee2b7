"""The rows of the waits: latency, lead and what hides it, on planted and on real waits."""

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.model.rows import rows_of
from tracekit.analysis.model.window import Windows
from tracekit.analysis.waits.queues import queues
from tracekit.analysis.waits.table import APART_COLUMNS, COLUMNS, LOAD_COLUMNS, loads, waits
from tracekit.gfx9 import Inst
from traces.sample_model import OPCODES, Kind, Opcode

OPCODES.setdefault("flat_load_dword", Opcode(8, Inst.FLAT_RD, Kind.VMEM))
LOAD = "global_load_dwordx4 v[4:7], v[8:9], off"
LDS = "ds_read_b128 v[20:23], v8"
USE = "v_mul_f32_e32 v1, v6, v6"
MFMA = "v_mfma_f32_32x32x16_bf16 v[32:47], v[64:67], v[68:71], v[32:47]"


def table(timeline, **options):
    rows = rows_of(timeline)
    return waits(rows, timeline.listing, queues(rows, timeline.listing), **options)


def planted(folder, texts, times):
    """The Timeline of one wave that executes ``texts`` at ``times``."""
    kernel = lines(*texts, "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000)
    for i, time in enumerate([*times, times[-1] + 40]):
        plan.at(time, i)
    return planned.timeline(planned.write(folder, kernel, [plan]))


def test_a_wait_that_waited_tells_the_latency(tmp_path):
    timeline = planted(tmp_path, [LOAD, "s_waitcnt vmcnt(0)", USE, MFMA], [6400, 6600, 6620, 6700])
    (row,) = table(timeline).rows.to_dict("records")
    assert (row["count"], row["waited_median"], row["lead_median"]) == (1, 200, 4)
    assert (row["latency_median"], row["exact"]) == (200, 1)
    assert row["hidden"] == pytest.approx(4 / 200)
    assert row["producer_instruction"] == LOAD
    assert row["consumer_instruction"] == USE
    mfma = timeline.listing.row_of(row["code_object"], row["next_mfma_vaddr"])
    assert timeline.listing.text[mfma] == MFMA


def test_a_wait_that_did_not_wait_is_no_stopwatch(tmp_path):
    nops = ["v_mul_f32_e32 v1, v2, v2"] * 10
    times = [6400, *range(6404, 6444, 4), 6444, 6448]
    timeline = planted(tmp_path, [LOAD, *nops, "s_waitcnt vmcnt(0)", USE], times)
    (row,) = table(timeline).rows.to_dict("records")
    assert (row["waited_median"], row["lead_median"], row["exact"]) == (4, 44, 0)
    assert row["latency_median"] != row["latency_median"]  # no sample
    assert row["hidden"] == 1


def test_a_wait_for_both_counters_is_flagged_and_gives_no_latency(tmp_path):
    both = "s_waitcnt vmcnt(0) lgkmcnt(0)"
    timeline = planted(tmp_path, [LOAD, LDS, both, USE], [6400, 6440, 6600, 6620])
    rows = table(timeline).rows
    assert sorted(rows["counter"]) == ["lgkmcnt", "vmcnt"]
    assert rows["both"].tolist() == [1, 1]
    assert rows["exact"].tolist() == [0, 0]
    assert rows["waited_median"].nunique() == 1


def test_a_wait_for_both_that_needs_one_gives_the_latency_of_that_one(tmp_path):
    both = "s_waitcnt vmcnt(0) lgkmcnt(0)"
    timeline = planted(tmp_path, [LOAD, both, USE], [6400, 6600, 6620])
    (row,) = table(timeline).rows.to_dict("records")
    assert (row["counter"], row["both"], row["exact"]) == ("vmcnt", 0, 1)


def test_executions_without_a_producer_count_apart(tmp_path):
    wait = "s_waitcnt vmcnt(0)"
    timeline = planted(tmp_path, [LOAD, wait, wait, USE], [6400, 6600, 6604, 6620])
    found = table(timeline)
    assert found.rows["count"].tolist() == [1]
    assert found.apart["executions"].tolist() == [1, 1]
    assert found.apart["no_producer"].tolist() == [0, 1]
    assert found.single == 1
    assert found.rows["split"].tolist() == [True]


def test_unknown_producers_count_apart(tmp_path):
    flat = "flat_load_dword v3, v[8:9]"
    timeline = planted(tmp_path, [flat, LOAD, "s_waitcnt vmcnt(1)"], [6400, 6404, 6600])
    found = table(timeline)
    assert not len(found.rows)
    assert found.single is None
    assert found.apart["unknown"].tolist() == [1]


def test_a_result_that_is_overwritten_unread_has_no_consumer(tmp_path):
    over = "v_mov_b64_e32 v[4:5], 0", "v_mov_b64_e32 v[6:7], 0", USE
    OPCODES.setdefault("v_mov_b64_e32", Opcode(4, Inst.VALU_32, Kind.ALONE))
    texts = [LOAD, "s_waitcnt vmcnt(0)", *over]
    timeline = planted(tmp_path, texts, [6400, 6600, 6604, 6608, 6612])
    (row,) = table(timeline).rows.to_dict("records")
    assert row["consumer_vaddr"] == -1
    assert row["consumer_instruction"] == ""


def test_loads_give_the_way_to_the_wait_that_covers_them(tmp_path):
    texts = [LOAD, LDS, "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", LOAD]
    timeline = planted(tmp_path, texts, [6400, 6440, 6500, 6700, 6704])
    rows = rows_of(timeline)
    found = loads(rows, timeline.listing, queues(rows, timeline.listing))
    assert list(found.columns) == list(LOAD_COLUMNS)
    by = {(r["counter"], r["vaddr"]): r for r in found.to_dict("records")}
    first, lds, never = (by[key] for key in sorted(by, key=lambda key: key[1]))
    assert (first["lead_median"], first["done_median"]) == (104, 300)
    assert (lds["lead_median"], lds["done_median"]) == (4, 60)
    assert (never["count"], never["waited_for"]) == (1, 0)


#: wait, producer, SIMD (None: all): count, waited, lead.
FLASH = {
    (0x2CB8, 0x2CB0, 0): (22, 440, 8),
    (0x2CB8, 0x2CB0, None): (88, 444, 4),
    (0x3C84, 0x3C7C, 0): (20, 354, 8),
    (0x3C84, 0x3C7C, None): (80, 348, 4),
    (0x2D90, 0x2D58, None): (88, 286, 108),
    (0x3D38, 0x3D00, None): (88, 254, 108),
}


def test_the_waits_of_flash_attention(captures):
    """The figures of the issue; they hold over the whole trace (in steady the medians are 294
    and 396 cycles)."""
    path = captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"
    timeline = tracekit.open(path).timeline()
    every, each = table(timeline), table(timeline, per_simd=True).rows
    assert list(every.rows.columns) == list(COLUMNS)
    assert list(every.apart.columns) == list(APART_COLUMNS)
    for (wait, producer, simd), wanted in FLASH.items():
        rows = every.rows if simd is None else each[each["simd"] == simd]
        (row,) = rows[rows["vaddr"] == wait].to_dict("records")
        assert row["producer_vaddr"] == producer
        assert (row["count"], row["waited_median"], row["lead_median"]) == wanted
    apart = every.apart[(every.apart["vaddr"] == 0x3C84) & (every.apart["counter"] == "vmcnt")]
    assert apart[["executions", "no_producer"]].to_numpy().tolist() == [[88, 8]]
    assert every.rows["se"].isna().all()


def test_a_window_takes_the_waits_that_start_in_it(captures):
    path = captures / "flash_attn_bf16_gfx950" / "ui_output_agent_55287_dispatch_44"
    timeline = tracekit.open(path).timeline()
    rows = rows_of(timeline)
    parts = []
    for name in ("0%:40%", "40%:100%"):
        windows = Windows(timeline, name)
        parts.append({i: windows.of(simd).intervals for i, simd in enumerate(rows.simds)})
    counts = [table(timeline, within=part).apart["executions"].sum() for part in parts]
    assert sum(counts) == table(timeline).apart["executions"].sum()
    assert min(counts) > 500
