"""Decoded schemas that no shared capture has: made up by hand, a wave of four lines."""

import json

import pytest

import tracekit

LINES = [
    ("s_mov_b32 s4, 0", 2), ("v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]", 6),
    ("s_waitcnt lgkmcnt(0)", 9), ("s_endpgm", 11),
]  # fmt: skip


def write(folder, files):
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def rocprofv2(folder, column):
    """A directory whose waves name code rows by ``column`` of code.json."""
    code = [["kernel:", 100, 0, None, 0, 6, 0, 0]]
    for i, (text, kind) in enumerate(LINES):
        # Column 2 and column 4 number the rows differently.
        code.append([text, kind, 10 + i, None, 1 + i, 7 + i, 1, 4])
    number = [row[column] for row in code[1:]]
    rows = [
        [100, 2, 0, 4, number[0]], [104, 6, 0, 12, number[1]],
        [116, 9, 0, 40, number[2]], [156, 11, 0, 4, number[3]],
    ]  # fmt: skip
    wave = {"id": 0, "simd": 0, "slot": 0, "begin": 90, "end": 160, "instructions": rows,
            "timeline": [[1, 10], [2, 60]], "waitcnt": []}  # fmt: skip
    return write(
        folder,
        {
            "code.json": {"code": code},
            "filenames.json": {
                "wave_filenames": {"0": {"0": {"0": {"0": ["se0_sm0_sl0_wv0.json", 90, 160]}}}}
            },
            "se0_sm0_sl0_wv0.json": {"name": "SE0", "duration": 70, "wave": wave},
            "occupancy.json": {"0": [], "names": []},
        },
    )


@pytest.mark.parametrize("column", [4, 2])
def test_rocprofv2_waves_name_rows_by_either_column(tmp_path, column):
    timeline = tracekit.open(rocprofv2(tmp_path / "kernel_ui", column)).timeline()
    table = timeline.instructions
    assert table["instruction"].tolist() == [text for text, _ in LINES]
    # stall is 0 in that format: the issue is time + duration - 4.
    assert (table["time"] + table["stall"]).tolist()[:2] == [100, 112]
    assert table["duration"].tolist() == [4, 12, 40, 4]


def test_occupancy_fields_of_3_1_say_which_column_is_which(tmp_path):
    fields = ["dispatch_id", "time", "is_start", "cu_id", "simd_id", "wave_id", "me_id"]
    header = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
    code = [
        ["; kernel", 0, 0, "", 1, 4096, 0, 0, 0, 0],
        ["s_endpgm", 0, 1, "", 1, 4096, 1, 4, 0, 0],
    ]
    wave = {"cu": 3, "id": 0, "simd": 2, "slot": 1, "begin": 40, "end": 80,
            "instructions": [[76, 11, 0, 4, 1]], "timeline": [[1, 40]], "waitcnt": []}  # fmt: skip
    folder = write(
        tmp_path / "ui_output_agent_1_dispatch_9",
        {
            "code.json": {"code": code, "header": header, "version": "3.1.0"},
            "filenames.json": {
                "version": "3.1.0", "gfxv": "vega", "counter_names": None, "unknown": {"x": 1},
                "wave_filenames": {"0": {"2": {"1": {"0": ["se0_sm2_sl1_wv0.json", 40, 80]}}}},
            },
            "se0_sm2_sl1_wv0.json": {"name": "SE0", "wave": wave, "later_field": []},
            "occupancy.json": {
                "0": [[1, 40, 1, 3, 2, 1, 0], [1, 80, 0, 3, 2, 1, 0]],
                "dispatches": {"0": "0 / 0x0", "1": "1 / 0x1000"}, "occupancy_fields": fields,
                "events": {"0": []}, "version": "3.1.0",
            },
        },
    )  # fmt: skip
    timeline = tracekit.open(folder).timeline()
    rows = timeline.occupancy[["time", "cu", "simd", "slot", "start", "code_object", "entry"]]
    assert rows.to_numpy().tolist() == [[40, 3, 2, 1, True, 1, 4096], [80, 3, 2, 1, False, 1, 4096]]
    assert timeline.instructions["instruction"].tolist() == ["s_endpgm"]
    assert any("3.1" in note and "untested" in note for note in timeline.notes)
