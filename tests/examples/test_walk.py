"""The notebook that README names: its cells run and give what it shows."""

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "walk.ipynb"


@pytest.mark.slow
def test_every_cell_gives_the_output_that_is_shown(monkeypatch):
    pytest.importorskip("plotly", reason="plotly is not installed: no figures")
    tool = runpy.run_path(str(ROOT / "scripts" / "notebook"))
    shown = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    monkeypatch.chdir(NOTEBOOK.parent)
    again = tool["run"](json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    for left, right in zip(shown["cells"], again["cells"], strict=True):
        assert own(right) == own(left), "run scripts/notebook"


def own(cell):
    """The cell without what pandas' version decides."""
    for output in cell.get("outputs", ()):
        if "dataframe" in "".join(output.get("data", {}).get("text/html", ())):
            del output["data"]["text/html"]
    return cell


def test_the_own_metric_takes_five_lines():
    cells = [
        cell["source"]
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    (metric,) = [cell for cell in cells if any("idle.groupby" in line for line in cell)]
    assert len(metric) == 5
