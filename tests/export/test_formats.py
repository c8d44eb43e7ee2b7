"""Parquet, speedscope and HTML, read back; and the command that writes them."""

import json
import re

import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.cli import main
from tracekit.export import FORMATS, html, parquet, speedscope
from traces import generate


@pytest.fixture(scope="module")
def timeline():
    return tracekit.open(generate.ROOT / "pingpong").timeline()


def test_parquet_gives_back_every_table(timeline, tmp_path):
    pandas = pytest.importorskip("pandas")
    schema = pytest.importorskip("pyarrow.parquet")
    parquet.write(Analysis(timeline), tmp_path / "out")
    for name in ("waves", "instructions", "occupancy", "states", "streams"):
        file = tmp_path / "out" / f"{name}.parquet"
        table = pandas.read_parquet(file)
        expected = getattr(timeline, name)
        assert len(table) == len(expected)
        assert list(table.columns) == list(expected.columns)
        about = json.loads(schema.read_schema(file).metadata[b"tracekit"])
        assert about["arch"] == "gfx950"
        assert about["simulated"] is True
        assert "cycles" in about["time_unit"]
        assert set(about["columns"]) == set(table.columns)
    times = pandas.read_parquet(tmp_path / "out" / "instructions.parquet")["time"]
    assert times.equals(timeline.instructions["time"])


def test_speedscope_events_are_balanced_and_never_go_back(timeline):
    found = speedscope.document(Analysis(timeline))
    frames = found["shared"]["frames"]
    hotspots, *waves = found["profiles"]
    assert len(waves) == len(timeline.waves)
    for wave in waves:
        stack, at = [], wave["startValue"]
        for event in wave["events"]:
            assert event["at"] >= at
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack
        assert at == wave["endValue"]
        assert wave["unit"] == "none"
    assert sum(hotspots["weights"]) == timeline.instructions["duration"].sum()
    assert max(max(sample) for sample in hotspots["samples"]) < len(frames)
    assert "simulated" in found["name"]


def test_the_report_is_one_page_that_asks_for_nothing(timeline):
    pytest.importorskip("plotly")
    page = html.document(Analysis(timeline))
    own = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)=", own)
    assert "matrix_bound" in own
    assert "alternating" in own
    assert "95.5 %" in own
    assert "Quality: good." in own
    assert "simulated" in own
    assert page.count("Plotly.newPlot") >= 3


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_command_writes_each_format_and_not_over_a_file(name, tmp_path, capsys):
    path = tmp_path / f"out{FORMATS[name][1]}"
    arguments = ["export", str(generate.ROOT / "lockstep"), "-o", str(path)]
    assert main(arguments) == 0
    assert path.exists()
    assert capsys.readouterr().out.strip() == str(path)
    assert main([*arguments, "--format", name]) == 1
    assert "--force" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


def test_without_a_format_it_asks(capsys):
    assert main(["export", str(generate.ROOT / "lockstep"), "-o", "x.bin"]) == 2
    assert "which format" in capsys.readouterr().err
