"""From Python: a path in, an object out that shows what the command shows."""

import re
import subprocess
import sys

import pytest

import tracekit
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.requirements import NotComparable
from tracekit.cli import main
from traces import generate

SLOW, FAST = (generate.ROOT / name for name in ("zyfa_gap_exact", "zyfa_pingpong_lean"))
ASKED = ("compare", "explain", "occupancy", "open", "waits")


def printed(capsys, *arguments):
    assert main([*map(str, arguments), "-q"]) == 0
    return capsys.readouterr().out


def text(html):
    return re.sub(r"<[^>]+>", " ", html)


def test_the_questions_are_seen_before_anything_is_imported():
    script = (
        "import sys, tracekit; print(*dir(tracekit)); "
        "print([n for n in ('numpy', 'pandas', 'plotly') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    names, loaded = done.stdout.splitlines()
    assert set(ASKED) <= set(names.split())
    assert loaded == "[]"


def test_every_question_is_documented():
    for name in ASKED:
        assert getattr(tracekit, name).__doc__
    for found in (tracekit.explain(SLOW), tracekit.occupancy(SLOW), tracekit.waits(SLOW)):
        assert type(found).__doc__


def test_occupancy_is_the_command_s(capsys):
    found = tracekit.occupancy(SLOW)
    assert str(found) == printed(capsys, "occupancy", SLOW)
    assert repr(found) == "<OccupancyAnswer zyfa_gap_exact: 4 rows, window steady>"
    assert len(found.totals) > 0
    shown = text(found._repr_html_())
    assert "62.6 %" in shown
    assert found._repr_html_().count("<tr>") == 2, "a row for the SIMDs of the SE"


def test_waits_are_the_command_s(capsys):
    found = tracekit.waits(SLOW)
    told = printed(capsys, "waits", SLOW).splitlines()
    assert str(found).splitlines()[: len(told)] == told
    assert "more rows" in found._repr_html_()
    assert len(tracekit.waits(SLOW, per_simd=True).rows) > len(found.rows)
    assert len(found.loads) > 0


def test_explain_is_the_command_s(capsys):
    found = tracekit.explain(SLOW)
    assert str(found) == printed(capsys, "explain", SLOW, "--no-gain").replace(
        "   no gain: --no-gain\n", "   not replayed\n"
    )
    assert repr(found).startswith("<Explained zyfa_gap_exact: matrix pipe busy 62.6 %")
    assert found.causes["share"].sum() == pytest.approx(1)
    assert found.causes["share"].is_monotonic_decreasing
    assert "outside_loop" in [advice.rule for advice in found.advice]
    assert "vector work without an MFMA beside it" in text(found._repr_html_())
    assert "<html" not in found._repr_html_()


def test_explain_says_what_shrank():
    found = tracekit.explain(FAST, base=SLOW)
    (whole,) = [change for change in found.changes if change.key == "iteration"]
    assert round(whole.difference, 1) == -1297.4
    assert whole.verdict == "shrank"


def test_without_a_wave_there_is_nothing_to_explain(captures):
    found = tracekit.explain(captures / "tinygrad_empty_gfx950")
    assert str(found) == "no wave was traced: nothing to explain\n"
    assert len(found.causes) == len(found.advice) == 0
    assert found._repr_html_().startswith("<div>")


def test_compare_is_the_command_s(capsys):
    found = tracekit.compare(SLOW, FAST)
    assert str(found) == printed(capsys, "compare", SLOW, FAST)
    assert repr(found) == f"<Compared {found.headline}>"
    assert "-1,297.4" in text(found._repr_html_())
    assert found.warnings
    assert len(found.bodies) == 146 + 112 + 37


def test_sides_are_runs_baselines_timelines_or_analyses(tmp_path, capsys):
    kept = tmp_path / "base.json"
    printed(capsys, "compare", SLOW, "--save", kept)
    timeline = tracekit.open(FAST).timeline()
    one = tracekit.compare(kept, Analysis(timeline))
    assert str(one) == str(tracekit.compare(SLOW, timeline))
    several = tracekit.compare([SLOW, str(kept)], [timeline])
    assert several.result.noise == "between runs"
    with pytest.raises(NotComparable, match="of window steady"):
        tracekit.compare(kept, FAST, window="span")


def test_a_wrong_path_is_an_error_of_tracekit(tmp_path):
    with pytest.raises(tracekit.TracekitError):
        tracekit.explain(tmp_path)


def test_figures_show_the_numbers_of_the_answers():
    pytest.importorskip("plotly", reason="plotly is not installed: no figures")
    found = tracekit.occupancy(SLOW)
    bars = found.plot().data
    assert [bar.name for bar in bars] == ["matrix", "vector", "both"]
    assert list(bars[0].y) == (100 * found.rows["matrix_occupancy"]).tolist()
    page = tracekit.explain(SLOW)
    (bar,) = page.plot().data
    assert sum(bar.x) == pytest.approx(100)
    assert bar.y[-1] == "matrix pipe busy"
    compared = tracekit.compare(SLOW, FAST)
    (fall,) = compared.plot().data
    mean = compared.result.metrics["cycles"]
    assert sum(fall.y[:-1]) == pytest.approx(mean["new_value"])
    assert (fall.y[0], fall.y[-1]) == (mean["base_value"], mean["new_value"])
    waits = tracekit.waits(SLOW)
    (bar,) = waits.plot().data
    assert bar.x[0] == waits.rows["waited_total"].max()


def test_figures_say_what_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(tracekit.TracekitError, match=r"pip install tracekit\[plot\]"):
        tracekit.occupancy(SLOW).plot()
