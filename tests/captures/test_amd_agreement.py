"""``--timing amd`` against what AMD's decoder made of the same streams: every value equal."""

import json

import numpy as np
import pytest

import tracekit

CAPTURES = {
    "wave_gemm_bf16_gfx950": 3552,
    "aiter_fp4_gemm_gfx950_before": 198_456,
    "aiter_fp4_gemm_gfx950_after": 187_680,
}
STATES = {"IDLE": 1, "EXEC": 2, "WAIT": 3, "STALL": 4}


@pytest.fixture(scope="module", params=list(CAPTURES))
def decoded(request, captures):
    """(name, timeline in AMD timing, decoded directory, [(wave JSON, our rows, our states)])."""
    folder = captures / request.param
    (directory,) = folder.glob("ui_output_*")
    timeline = tracekit.open(folder).timeline("amd")
    place = ["se", "simd", "slot", "wave"]
    rows = dict(list(timeline.executed.groupby(place)))
    states = dict(list(timeline.states.groupby(place)))
    pairs = []
    for _, wave in timeline.waves.iterrows():
        key = tuple(int(wave[name]) for name in place)
        path = directory / "se{}_sm{}_sl{}_wv{}.json".format(*key)
        pairs.append((json.loads(path.read_text())["wave"], wave, rows[key], states[key]))
    return request.param, timeline, directory, pairs


@pytest.mark.slow
def test_all_instruction_rows_are_equal(decoded):
    name, _, _, pairs = decoded
    equal = total = 0
    for theirs, _, rows, _ in pairs:
        columns = ["time", "category", "stall", "duration", "line"]
        ours = rows[columns].to_numpy()
        expected = np.array(theirs["instructions"])
        assert ours.shape == expected.shape
        equal += int((ours == expected).all(axis=1).sum())
        total += len(expected)
    print(f"{name}: {equal} of {total} rows equal ({100 * equal / total:.4f} %)")
    assert total == CAPTURES[name]
    assert equal == total


def test_waves_begin_and_end_alike(decoded):
    name, _, _, pairs = decoded
    equal = sum(
        (theirs["begin"], theirs["end"]) == (wave["begin"], wave["end"])
        for theirs, wave, _, _ in pairs
    )
    print(f"{name}: {equal} of {len(pairs)} waves begin and end alike")
    assert equal == len(pairs) > 0


def test_state_timelines_are_equal(decoded):
    name, _, _, pairs = decoded
    equal = 0
    for theirs, wave, _, states in pairs:
        ours = [[STATES[s], d] for s, d in zip(states["state"], states["duration"], strict=True)]
        equal += ours == theirs["timeline"]
        assert states["begin"].iloc[0] == wave["begin"]
    print(f"{name}: {equal} of {len(pairs)} wave timelines equal")
    assert equal == len(pairs)


def test_everything_is_stitched(decoded):
    _, timeline, _, _ = decoded
    assert (timeline.waves["stitched"] == timeline.waves["instructions"]).all()
    assert timeline.streams["resynchronised"].sum() == timeline.streams["swapped"].sum() == 0


def test_sums_per_line_equal_code_json(captures):
    folder = captures / "wave_gemm_bf16_gfx950"
    timeline = tracekit.open(folder).timeline("amd")
    table = timeline.instructions
    listing, n = timeline.listing, len(timeline.listing)
    row = table["row"].to_numpy()
    hits = np.bincount(row, minlength=n)
    latency = np.bincount(row, table["duration"], n)
    stall = np.bincount(row, table["stall"], n)
    end = (table["time"] + table["duration"]).to_numpy()
    wave = table.groupby(["se", "simd", "slot", "wave"], sort=False).ngroup().to_numpy()
    previous = np.append(0, end[:-1])
    first = np.append(True, wave[1:] != wave[:-1])
    previous[first] = timeline.waves["begin"].to_numpy()
    idle = np.bincount(row, np.maximum(table["time"].to_numpy() - previous, 0), n)
    for name, ours in (("hits", hits), ("latency", latency), ("stall", stall), ("idle", idle)):
        equal = int((getattr(listing, name) == ours).sum())
        print(f"{name}: {equal} of {n} lines equal")
        assert equal == n


def test_occupancy_events_are_equal(captures):
    folder = captures / "wave_gemm_bf16_gfx950"
    (directory,) = folder.glob("ui_output_*")
    theirs = json.loads((directory / "occupancy.json").read_text())
    ours = tracekit.open(folder).timeline("amd").occupancy
    equal = total = 0
    for se, rows in theirs.items():
        if not se.isdigit():
            continue
        part = ours[ours["se"] == int(se)]
        kernel = (part["entry"] > 0).astype(int)
        table = part[["time", "cu", "simd", "slot", "start"]].astype(int).assign(kernel=kernel)
        assert len(table) == len(rows)
        equal += int((table.to_numpy() == np.array(rows)).all(axis=1).sum())
        total += len(rows)
    print(f"occupancy: {equal} of {total} events equal")
    assert equal == total == 512


def test_counter_samples_are_equal(captures):
    folder = captures / "wave_gemm_bf16_gfx950"
    (directory,) = folder.glob("ui_output_*")
    ours = tracekit.open(folder).timeline("amd").counters
    files = sorted(directory.glob("se*_perfcounter.json"))
    samples = 0
    for path in files:
        theirs = np.array(json.loads(path.read_text())["data"])
        part = ours[ours["se"] == int(path.name[2:].split("_")[0])]
        table = part[["time", "c0", "c1", "c2", "c3", "cu", "bank"]].to_numpy()
        assert np.array_equal(table, theirs)
        samples += len(theirs)
    assert len(files) == 32
    assert samples == 622


def test_counters_agree_with_decode_and_cost_tables(captures):
    # The traced CU streams eight SQ counters: busy cycles of the matrix pipe are passes.
    folder = captures / "wave_gemm_bf16_gfx950"
    timeline = tracekit.open(folder).timeline()
    names = timeline.counter_names
    for se in (0, 22):
        part = timeline.counters[(timeline.counters["se"] == se) & (timeline.counters["cu"] == 0)]
        sums = {
            name: int(part[part["bank"] == i // 4][f"c{i % 4}"].sum())
            for i, name in enumerate(names)
        }
        rows = timeline.instructions[timeline.instructions["se"] == se]
        cycles = timeline.costs.cycles[rows["row"]]
        mfma = timeline.costs.pipe[rows["row"]] == 1
        assert sums["SQ_VALU_MFMA_BUSY_CYCLES"] == cycles[mfma].sum() == 1024
        assert sums["SQ_ACTIVE_INST_VALU"] == (rows["category"] == "valu").sum() == 880
