"""The verdict on each shared capture is the one that docs/quality.md gives."""

import re
from pathlib import Path

import pytest

from tracekit.analysis.checks.quality import quality
from tracekit.analysis.occupancy import occupancy
from tracekit.build import open_all

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")


def rows(title):
    """Cells of the first table of a section."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def code(text):
    return re.findall(r"`([^`]+)`", text)


VERDICTS = {
    code(name)[0]: (verdict, code(ids)) for name, verdict, ids, _ in rows("The public captures")
}


@pytest.fixture(scope="module")
def timelines(captures):
    """Timelines by name: the folder's, and the capture's where a folder has several."""
    found = {}
    for folder in sorted(path for path in captures.iterdir() if path.is_dir()):
        for capture in open_all(folder):
            same = capture.name == folder.name
            name = folder.name if same else f"{folder.name}/{capture.name}"
            found[name] = capture.timeline()
    return found


@pytest.fixture(scope="module")
def judged(timelines):
    return {name: quality(timeline) for name, timeline in timelines.items()}


@pytest.mark.slow
def test_the_table_has_every_capture(judged):
    assert set(VERDICTS) == set(judged)


@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_is_the_documented_one(name, judged):
    found = judged[name]
    assert (found.verdict, [finding.id for finding in found.reasons]) == VERDICTS[name]


@pytest.mark.parametrize(
    ("name", "verdict", "said"),
    [
        ("fp8_mla_no_mfma_gfx950", "do not conclude", "688 MFMAs was executed"),
        ("tinygrad_empty_gfx950", "do not conclude", "waves ran on CU 4"),
        ("wave_gemm_bf16_gfx950", "usable", "2 of 32 SEs have instructions (SE 0, 22)"),
        ("tinygrad_gemm_gfx950", "usable", "1 of 6 SEs have instructions (SE 0)"),
        ("ui_missing_waves", "do not conclude", "4 of 4 wave files are missing"),
        ("legacy_rocprofv2_ui", "do not conclude", "969 of 972 wave files are missing"),
        ("fp8_paged_attention_gfx950", "usable", "48 of 56 waves leave early"),
        ("gemm_bf16_gfx942", "usable", "gfx942 is assumed"),
    ],
)
def test_the_first_reason_is_what_an_engineer_would_say_first(name, verdict, said, judged):
    assert judged[name].verdict == verdict
    assert said in judged[name].line()


def test_an_empty_capture_says_to_try_another_cu(judged):
    (finding,) = judged["tinygrad_empty_gfx950"].reasons
    assert finding.remedy.startswith("try another CU (--att-target-cu 4)")


def test_violations_are_those_of_occupancy(timelines, judged):
    """Over the whole span both count the same MFMAs."""
    for name, timeline in timelines.items():
        counted = occupancy(timeline, "span").rows["violations"].dropna().sum()
        found = [f.value for f in judged[name].findings if f.id == "model_violations"]
        assert sum(found) == counted, name


@pytest.mark.slow
@pytest.mark.parametrize("which", ["before", "after"])
def test_raw_and_decoded_of_one_trace_are_worth_the_same(which, captures):
    folder = captures / f"aiter_fp4_gemm_gfx950_{which}"
    (ui,) = folder.glob("ui_output_*")
    assert quality(open_all(ui)[0].timeline()).verdict == "usable"
    assert quality(open_all(folder)[0].timeline()).verdict == "usable"
