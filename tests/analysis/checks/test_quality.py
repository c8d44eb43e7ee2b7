"""Every finding of ``quality``, on streams that have just that fault."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.checks.findings import Finding, Quality, percent, ranges
from tracekit.analysis.checks.quality import quality
from tracekit.gfx9 import Inst
from tracekit.sqtt.encode import pack
from tracekit.sqtt.layout import Token
from tracekit.sqtt.raw import WaveFlag
from tracekit.sqtt.wave_writer import Executed, endpgm, write_wave
from tracekit.sqtt.writer import StreamWriter

MFMA = "v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]"
OLD_MFMA = "v_mfma_f32_16x16x16_bf16 v[0:3], v[64:65], v[68:69], v[0:3]"
KERNEL = lines(
    "s_cbranch_scc1 -> end",
    f"top: {MFMA}",
    "v_mul_f32_e32 v1, v2, v3",
    "s_cbranch_scc0 -> top",
    "end: s_endpgm",
)
#: On any sound stream of one engine without realtime pairs.
ALWAYS = {"sampling", "simulated", "clock_unknown"}


def full(simd=0, slot=0, begin=6000, kernel=KERNEL, iterations=10, distance=60):
    """A wave that loops."""
    plan = Plan(kernel, simd, slot, begin).at(begin + 400, 0, taken=False)
    at = begin + 440
    for left in reversed(range(iterations)):
        plan.at(at, 1).at(at + 16, 2).at(at + 24, 3, taken=left > 0)
        at += distance
    return plan.at(at + 40, 4)


def early(simd=0, slot=1, begin=6000):
    """A wave that leaves at once."""
    return Plan(KERNEL, simd, slot, begin).at(begin + 400, 0).at(begin + 440, 4)


def judge(folder, waves=None, kernel=KERNEL, **options):
    """Verdict, and the findings by id."""
    timeline = planned.timeline(planned.write(folder, kernel, waves or [full()], **options))
    return judged(timeline)


def judged(timeline):
    found = quality(timeline)
    by_id = {finding.id: finding for finding in found.findings}
    assert len(by_id) == len(found.findings)
    return found.verdict, by_id


def records(begin=7000, count=8):
    """Instructions of a wave written by hand."""
    return [Executed(Inst.VALU_32, begin + 400 + 20 * n) for n in range(count)]


def test_a_sound_stream_is_good(tmp_path):
    verdict, found = judge(tmp_path, [full(simd) for simd in range(4)])
    assert verdict == "good"
    assert set(found) == ALWAYS
    assert found["sampling"].value == 1.0
    assert "4 of 4 waves traced: SE 0 CU 1, SIMD 0-3" in found["sampling"].reason


def test_lost_packets_spare_waves_that_were_not_live(tmp_path):
    waves = [full(0), full(1, begin=8000), full(2, begin=8000)]
    verdict, found = judge(tmp_path, waves, after_waves=lambda w: w.packet_lost(6100))
    assert verdict == "usable"
    assert found["packets_lost"].value == 1
    assert "1 of 3 waves have holes of unknown size, 33.3 %" in found["packets_lost"].reason
    assert "--att-simd-select" in found["packets_lost"].remedy


def test_lost_packets_in_most_of_the_trace_are_fatal(tmp_path):
    verdict, found = judge(tmp_path, after_waves=lambda w: w.packet_lost(6100))
    assert verdict == "do not conclude"
    assert found["packets_lost"].severity == "fatal"


def test_a_lost_end_is_told_from_the_next_start(tmp_path):
    def two_in_one_slot(writer):
        write_wave(writer, 3, 2, 7000, records(), end=None)
        write_wave(writer, 3, 2, 9000, [*records(9000), endpgm(9800)])

    verdict, found = judge(tmp_path, after_waves=two_in_one_slot)
    assert found["merged_waves"].value == 1
    assert verdict == "do not conclude"  # one of three waves


def test_one_lost_end_of_many_is_a_warning(tmp_path):
    def two_in_one_slot(writer):
        write_wave(writer, 3, 9, 7000, records(), end=None)
        write_wave(writer, 3, 9, 9000, [*records(9000), endpgm(9800)])

    waves = [full(simd, slot) for simd in range(4) for slot in range(3)]
    _, found = judge(tmp_path, waves, after_waves=two_in_one_slot)
    assert found["merged_waves"].severity == "warning"


def test_waves_without_a_start_or_an_end_are_incomplete(tmp_path):
    def cut(writer):
        write_wave(writer, 1, 0, None, [*records(), endpgm(8000)])
        write_wave(writer, 2, 0, 7000, records(), end=None)

    verdict, found = judge(tmp_path, after_waves=cut)
    assert verdict == "do not conclude"  # those waves have no program counter
    assert found["incomplete_waves"].severity == "warning"
    assert found["incomplete_waves"].value == pytest.approx(2 / 3)
    assert "1 without a start, 1 without an end" in found["incomplete_waves"].reason


def test_a_truncated_stream_is_usable(tmp_path):
    folder = planned.write(tmp_path, KERNEL, [full()])
    (stream,) = folder.glob("*.att")
    stream.write_bytes(stream.read_bytes() + pack(Token.TIME)[:3])
    verdict, found = judged(planned.timeline(folder))
    assert verdict == "usable"
    assert "--att-buffer-size" in found["truncated"].remedy


def test_stalls_of_the_trace_are_a_warning(tmp_path):
    verdict, found = judge(tmp_path, after_waves=lambda w: w.tt_stall(6100, 6200))
    assert verdict == "usable"
    assert found["trace_stalls"].value == 1


def test_illegal_and_orphan_tokens_damage_a_small_stream(tmp_path):
    def wrong(writer):
        writer.token(6100, Token.INST, simd=0, slot=12, inst_type=1)
        writer.inst(6104, 0, 0, Inst.VALU_32)

    verdict, found = judge(tmp_path, after_waves=wrong)
    assert verdict == "do not conclude"
    assert found["illegal_tokens"].value == 1
    assert found["orphan_tokens"].value == 1


def test_code_that_the_listing_lacks_is_unstitched(tmp_path):
    folder = planned.write(tmp_path, KERNEL, [full()])
    code = json.loads((folder / "code.json").read_text())
    del code["code"][3:]
    (folder / "code.json").write_text(json.dumps(code))
    verdict, found = judged(planned.timeline(folder))
    assert verdict == "do not conclude"
    assert found["stitched"].value < 0.9
    assert "--load-base" in found["stitched"].remedy


def test_a_wrong_load_base_has_to_be_searched_out(tmp_path):
    folder = planned.write(tmp_path, KERNEL, [full()])
    number = int(planned.timeline(folder).waves["code_object"].iloc[0])
    _, found = judged(tracekit.open(folder, load_base={number: 0x10000}).timeline())
    assert found["resynchronised"].severity == "warning"
    assert found["resynchronised"].value == 1


def test_simds_that_were_not_asked_for_left_nothing_early(tmp_path):
    """The mask of the recording: only SIMD 0 gives instructions."""
    cases = Path(__file__).parents[4] / "shared" / "cases"
    if not cases.is_dir():
        pytest.skip("cases not found at ../shared/cases")
    verdict, found = judged(tracekit.open(cases / "simd_mask_1").timeline())
    assert verdict == "good"
    assert "early_exits" not in found
    assert found["sampling"].reason.startswith("1 of 4 waves traced: SE 0 CU 1, SIMD 0, on")


@pytest.mark.parametrize("streams", [1, 3])
def test_a_stream_that_could_not_be_read_counts_like_missing_waves(tmp_path, streams):
    folder = planned.write(tmp_path, KERNEL, [full()])
    (path,) = folder.glob("*.att")
    ids = path.name.split("_shader_engine_")[0]
    for se in range(1, streams):
        # The same engine again, under another dispatch.
        (folder / f"{ids}_shader_engine_0_{se + 1}.att").write_bytes(
            path.read_bytes() + bytes(2 * se)
        )
    (folder / f"{ids}_shader_engine_9_1.att").write_bytes(b"")
    timeline = tracekit.open(folder).timeline()
    _, found = judged(timeline)
    finding = found["streams_left_out"]
    assert finding.severity == ("fatal" if streams == 1 else "warning")
    assert finding.value == 1 / (streams + 1)
    assert "shader_engine_9_1.att" in finding.reason


def test_without_a_listing_counts_are_usable(tmp_path):
    folder = planned.write(tmp_path, KERNEL, [full()])
    (folder / "code.json").unlink()
    verdict, found = judged(planned.timeline(folder))
    assert verdict == "usable"
    assert "--listing" in found["no_listing"].remedy
    assert "stitched" not in found


def test_mfmas_closer_than_the_pipe_allows_contradict_the_table(tmp_path):
    verdict, found = judge(tmp_path, [full(distance=28)])
    assert verdict == "do not conclude"
    assert found["model_violations"].value == 9
    assert "9 of 10 MFMAs" in found["model_violations"].reason


def test_rows_of_amd_may_be_one_tick_off(tmp_path):
    timeline = planned.timeline(planned.write(tmp_path, KERNEL, [full(distance=28)]))
    verdict, found = judged(replace(timeline, decoded=True))
    assert found["model_violations"].severity == "warning"
    assert verdict == "usable"


def test_mfmas_of_two_simds_do_not_collide(tmp_path):
    _, found = judge(tmp_path, [full(0, begin=6000), full(1, begin=6004)])
    assert "model_violations" not in found


def test_an_assumed_chip_is_a_warning(tmp_path):
    kernel = [replace(line, text=OLD_MFMA) if line.text == MFMA else line for line in KERNEL]
    verdict, found = judge(tmp_path, [full(kernel=kernel)], kernel, arch=None)
    assert verdict == "usable"
    assert found["arch_assumed"].remedy.startswith("--arch")


@pytest.mark.parametrize(
    ("ticks", "expected"), [((0, 200, 400), "clock_drift"), ((0, 50, 90), "clock_unknown")]
)
def test_the_clock_needs_pairs_that_are_far_apart(tmp_path, ticks, expected):
    def pairs(writer):
        for tick, cycles in zip(ticks, (24, 24, 20), strict=True):
            writer.realtime_pair(8000 + tick * cycles, 1000 + tick)

    verdict, found = judge(tmp_path, after_waves=pairs)
    assert expected in found
    assert verdict == ("usable" if expected == "clock_drift" else "good")


def test_a_steady_clock_is_told(tmp_path):
    def pairs(writer):
        for tick in (0, 50, 200, 210, 400):
            writer.realtime_pair(8000 + tick * 24, 1000 + tick)

    verdict, found = judge(tmp_path, after_waves=pairs)
    assert verdict == "good"
    assert found["clock"].reason == "shader clock 2400 MHz"
    assert found["clock"].value == 0


def test_counters_that_are_all_zero_are_a_warning(tmp_path):
    """R27: gfx950 SQ counters all 0."""
    verdict, found = judge(tmp_path, after_waves=lambda w: w.perf(8000, 1, 0, [0, 0, 0, 0]))
    assert verdict == "usable"
    assert "--att-perfcounter-ctrl" in found["zero_counters"].remedy


def test_counters_that_count_are_no_finding(tmp_path):
    verdict, found = judge(tmp_path, after_waves=lambda w: w.perf(8000, 1, 0, [0, 5, 0, 0]))
    assert verdict == "good"
    assert "zero_counters" not in found


def test_named_counters_without_a_sample_are_a_warning(tmp_path):
    timeline = planned.timeline(planned.write(tmp_path, KERNEL, [full()]))
    timeline = replace(timeline, counter_names=("SQ_BUSY_CU_CYCLES",))
    verdict, found = judged(timeline)
    assert verdict == "usable"
    assert "no_counter_samples" in found


def test_waves_that_leave_early_are_counted_by_kernel(tmp_path):
    verdict, found = judge(tmp_path, [full(), early(0), early(1), early(2)])
    assert verdict == "usable"
    assert found["early_exits"].value == 0.75


def test_a_kernel_whose_mfmas_never_ran_concludes_nothing(tmp_path):
    verdict, found = judge(tmp_path, [early(0), early(1)])
    assert verdict == "do not conclude"
    assert "kernel's 1 MFMAs" in found["no_dynamic_mfma"].reason
    assert "--kernel-iteration-range" in found["no_dynamic_mfma"].remedy


def test_mfmas_of_another_kernel_do_not_count(tmp_path):
    kernel = lines("v_mul_f32_e32 v1, v2, v3", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6400, 0).at(6440, 1)
    folder = planned.write(tmp_path, kernel, [plan])
    code = json.loads((folder / "code.json").read_text())
    zeros = [0] * 4
    number, at = code["code"][-1][4], code["code"][-1][5] + 4
    line = code["code"][-1][2]
    code["code"] += [
        ["; other", 0, line + 1, "", number, at, *zeros],
        [MFMA, 0, line + 2, "", number, at, *zeros],
    ]
    (folder / "code.json").write_text(json.dumps(code))
    verdict, found = judged(planned.timeline(folder))
    assert verdict == "good"
    assert "no_mfma" in found


def test_little_of_a_large_kernel_reached(tmp_path):
    kernel = [*lines("s_cbranch_scc1 -> end"), *lines("v_mul_f32_e32 v1, v2, v3") * 40,
              *lines("end: s_endpgm")]  # fmt: skip
    plan = Plan(kernel, 0, 0, 6000).at(6400, 0).at(6440, 41)
    verdict, found = judge(tmp_path, [plan], kernel)
    assert verdict == "usable"
    assert found["little_code_reached"].value == pytest.approx(2 / 42)


def occupancy_only(folder, se, cu):
    """A stream of engine ``se`` whose one wave ran on another CU than the traced one."""
    writer = StreamWriter(target_cu=1, se=se)
    writer.wave_start(6000, 0, 0, cu=cu)
    writer.wave_end(7000, 0, 0, cu=cu)
    folder.mkdir(exist_ok=True)
    (folder / f"1000_1_shader_engine_{se}_1.att").write_bytes(writer.finish())


def test_engines_whose_traced_cu_is_empty_are_named(tmp_path):
    folder = planned.write(tmp_path, KERNEL, [full()])
    occupancy_only(folder, 2, 5)
    verdict, found = judged(planned.timeline(folder))
    assert verdict == "usable"
    finding = found["engines_without_instructions"]
    assert finding.value == 1
    assert finding.reason.startswith("1 of 2 SEs have instructions (SE 0)")
    assert "CU 5" in finding.reason


def test_no_wave_on_the_traced_cu_names_one_that_had_some(tmp_path):
    occupancy_only(tmp_path, 2, 5)
    verdict, found = judged(planned.timeline(tmp_path))
    assert verdict == "do not conclude"
    assert "--att-target-cu 5" in found["no_waves"].remedy


@pytest.mark.parametrize(
    ("missing", "severity"), [(1, "warning"), (2, "fatal"), (4, "fatal")]
)  # fmt: skip
def test_missing_wave_files(tmp_path, missing, severity):
    timeline = planned.timeline(planned.write(tmp_path, KERNEL, [full()]))
    timeline = replace(timeline, decoded=True, listed_waves=4, missing_waves=missing)
    _, found = judged(timeline)
    assert found["missing_wave_files"].severity == severity
    assert found["missing_wave_files"].value == missing / 4
    assert found["decoded_only"].severity == "info"


def test_saved_and_restored_waves_are_a_warning(tmp_path):
    timeline = planned.timeline(planned.write(tmp_path, KERNEL, [full()]))
    timeline.waves["flags"] |= int(WaveFlag.CONTEXT)
    verdict, found = judged(timeline)
    assert verdict == "usable"
    assert found["context_switches"].value == 1


def test_a_stream_that_does_not_tell_its_phase(tmp_path):
    kernel = lines("s_nop 3", "s_nop 3")
    plan = Plan(kernel, 0, 0, 6000).at(6400, 0)
    verdict, found = judge(tmp_path, [plan], kernel, after_waves=lambda w: w.wave_end(7000, 0, 0))
    assert verdict == "good"
    assert found["phase_unknown"].value == 1


def test_a_selected_part_keeps_the_verdict_of_the_whole(tmp_path):
    timeline = planned.timeline(planned.write(tmp_path, KERNEL, [full(0), full(1)]))
    part = Analysis(timeline).select(simd=3)
    assert not len(part.timeline.instructions)
    assert part.quality.verdict == "good"


def test_the_line_gives_the_first_reason_and_counts_the_others():
    found = Quality.of([
        Finding("a", "info", None, "context"), Finding("b", "warning", 1, "less"),
        Finding("c", "fatal", 1, "worst", "change it"),
    ])  # fmt: skip
    assert found.line() == "quality: do not conclude (worst; 1 more, see tracekit check)"
    assert [f["id"] for f in found.summary()["findings"]] == ["c", "b"]
    assert Quality.of([Finding("a", "info", None, "context")]).line() == "quality: good"
    assert Quality.of([]).verdict == "good"


def test_shares_never_round_to_all_or_nothing():
    assert percent(999_999, 1_000_000) == "99.9999 %"
    assert percent(1, 3) == "33.3 %"
    assert percent(3, 3) == "100.0 %"


def test_ranges():
    assert ranges([7, 0, 1, 2, 1]) == "0-2, 7"
    assert ranges([]) == ""
