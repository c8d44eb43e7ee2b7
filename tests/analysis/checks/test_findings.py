"""docs/quality.md documents every finding, and only those."""

import re
from pathlib import Path

from tracekit.analysis.checks import losses, reach, sampling, soundness, timekeeping

ROOT = Path(__file__).parents[3]
ROOMS = (losses, reach, sampling, soundness, timekeeping)
ATT = {
    "--att-target-cu", "--att-shader-engine-mask", "--att-simd-select", "--att-buffer-size",
    "--att-perfcounters", "--att-perfcounter-ctrl", "--kernel-include-regex",
    "--kernel-iteration-range",
}  # fmt: skip


def source(room):
    return Path(room.__file__).read_text(encoding="utf-8")


def test_every_finding_is_documented():
    page = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
    section = page.split("\n## Findings\n")[1].split("\n## ")[0]
    documented = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    named = {
        name
        for room in ROOMS
        for name in re.findall(r'(?:Finding\(|for name, what in \(|,\n)\s*\(?"([a-z_]+)", ',
                               source(room))
    }  # fmt: skip
    assert {"no_waves", "illegal_tokens", "orphan_tokens", "clock"} <= named
    assert documented == named


def test_remedies_name_options_that_rocprofv3_has():
    page = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
    for text in (page, *map(source, ROOMS)):
        assert set(re.findall(r"--(?:att|kernel)-[a-z-]+", text)) <= ATT
