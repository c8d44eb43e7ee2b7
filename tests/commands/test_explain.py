"""``tracekit explain``: a page of 50 lines at most, all of whose numbers are in the JSON result."""

import json
import re
from pathlib import Path

import pytest

from tracekit.cli import main

ROOT = Path(__file__).parents[2]
SAMPLES = {name: str(ROOT / "traces" / name) for name in ("pingpong", "lockstep")}
METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
FLASH = ("flash_attn_bf16_gfx950", "ui_output_agent_55287_dispatch_44")


def run(capsys, *arguments):
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


def leaves(value):
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif value is not None:
        yield value


def said(result):
    """Every way in which a page may write the numbers and words of a result."""
    found = set()
    for leaf in leaves(result):
        if isinstance(leaf, str):
            found |= set(re.findall(r"0x[0-9a-f]+|[\d,.]*\d", leaf))
        elif isinstance(leaf, int | float):
            for text in (f"{100 * leaf:.1f}", f"{abs(leaf):,.1f}", f"{abs(leaf):,.0f}",
                         f"{abs(leaf):.2f}", str(leaf)):  # fmt: skip
                found.add(text)
            if isinstance(leaf, int):
                found.add(f"{leaf:#x}")
    return found


#: Numbers that are no result: ranks, the peaks of the paths, the level of the intervals.
CONSTANT = {*map(str, range(10)), "64", "95"}


def check_numbers(page, result):
    known = said(result) | CONSTANT
    body = page.rsplit("share: what", 1)[0]
    missing = [
        n for n in re.findall(r"0x[0-9a-f]+|\d+(?:,\d{3})*(?:\.\d+)?", body) if n not in known
    ]
    # Numbers inside names, as of v_mfma_f32_32x32x16, are in the words of the result.
    words = " ".join(leaf for leaf in leaves(result) if isinstance(leaf, str))
    assert not [n for n in missing if n not in words]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_of_the_page_is_in_the_json(name, capsys):
    code, page, _ = run(capsys, "explain", SAMPLES[name])
    assert code == 0
    assert len(page.splitlines()) <= 50
    _, out, _ = run(capsys, "explain", SAMPLES[name], "--json")
    check_numbers(page, json.loads(out))


def test_the_numbers_of_a_real_page_are_in_the_json(captures, capsys):
    path = str(captures.joinpath(*FLASH))
    code, page, _ = run(capsys, "explain", path, "-q")
    _, out, _ = run(capsys, "explain", path, "--json", "-q")
    assert code == 0
    assert len(page.splitlines()) <= 50
    check_numbers(page, json.loads(out))
    verdict, headline, *_ = page.splitlines()
    assert verdict.startswith("quality: usable")
    assert headline.startswith("matrix pipe busy 28.6 %")
    assert page.index("0x3c84") < page.index("0x2cb8") < page.index("0x2e88")
    assert "1: 61.0 %, 2: 39.0 %; limiter: unknown" in page
    assert "of the launch" in page


def test_the_json_has_its_schema_scope_and_keys(capsys):
    _, out, _ = run(capsys, "explain", SAMPLES["lockstep"], "--json")
    result = json.loads(out)
    assert result["schema"] == "tracekit.explain/1"
    (found,) = result["captures"]
    assert found["simulated"] is True
    (kernel,) = found["kernels"]
    assert len(kernel["scope"]["capture_hash"]) == 64
    assert kernel["truncated"] == any(cause["left_out"] for cause in kernel["causes"])
    documented = set(re.findall(r"\w+", METRICS))

    def keys(value):
        if isinstance(value, dict):
            for key, each in value.items():
                yield key
                if key not in ("numbers", "labels"):
                    yield from keys(each)
        elif isinstance(value, list):
            for each in value:
                yield from keys(each)

    assert not set(keys(kernel)) - documented


def test_a_base_says_what_shrank_and_grew(capsys):
    options = ("explain", SAMPLES["pingpong"], "--base", SAMPLES["lockstep"])
    _, page, _ = run(capsys, *options)
    _, out, _ = run(capsys, *options, "--json")
    (found,) = json.loads(out)["captures"]
    assert found["base"] == "lockstep"
    changed = {each["key"]: each["verdict"] for each in found["changes"]}
    assert changed["iteration"] == "shrank"
    assert "shrank" in page
    check_numbers(page, json.loads(out))
    documented = set(re.findall(r"\w+", METRICS))
    assert not {key for each in found["changes"] for key in each} - documented


@pytest.mark.parametrize("ending", ["md", "html"])
def test_a_file_is_a_page_for_people(tmp_path, ending, capsys):
    path = tmp_path / f"page.{ending}"
    code, out, _ = run(capsys, "explain", SAMPLES["lockstep"], "-o", str(path))
    text = path.read_text(encoding="utf-8")
    assert (code, out) == (0, "")
    assert "matrix pipe busy" in text
    assert "(synthetic)" in text
    if ending == "html":
        assert text.startswith("<!DOCTYPE html>")
        assert "<svg" in text
        assert not re.search(r"https?://|<script|<link|src=", text)
    else:
        assert "| --- |" in text


def test_csv_is_refused(capsys):
    code, _, error = run(capsys, "explain", SAMPLES["lockstep"], "--csv")
    assert code == 2
    assert "--json" in error


def test_a_base_is_one_capture(capsys):
    code, _, error = run(
        capsys, "explain", SAMPLES["lockstep"], "--base", str(ROOT / "traces"), "-q"
    )
    assert code != 0
    assert "--base takes one" in error


def test_a_capture_without_waves_says_so(captures, capsys, tmp_path):
    path = str(captures / "tinygrad_empty_gfx950")
    said = "tinygrad_empty_gfx950: no wave was traced: nothing to explain\n"
    assert run(capsys, "explain", path, "-q") == (0, said, "")
    page = tmp_path / "page.html"
    assert run(capsys, "explain", path, "-q", "-o", str(page)) == (0, "", "")
    assert f"<p>{said.strip()}</p>" in page.read_text()
    _, out, _ = run(capsys, "explain", path, "--json")
    assert "no wave was traced: nothing to explain" in json.loads(out)["captures"][0]["notes"]


GAP = str(ROOT / "traces" / "zyfa_gap_exact")


def test_gains_are_simulated_and_say_what_they_rest_on(capsys):
    code, page, _ = run(capsys, "explain", GAP)
    assert code == 0
    _, out, _ = run(capsys, "explain", GAP, "--json")
    (found,) = json.loads(out)["captures"]
    check_numbers(page, found)
    (kernel,) = found["kernels"]
    first, replay = kernel["causes"][0], kernel["replay"]
    assert first["gain"]["gain_cycles"] > 0
    assert 0 <= first["gain"]["gain_low_cycles"] <= first["gain"]["gain_cycles"]
    after = replay["unit_cycles"] - first["gain"]["gain_cycles"]
    assert first["gain"]["after_cycles"] == pytest.approx(after)
    assert kernel["labels"]["gain_cycles"] == "simulated"
    assert f"replayed: {replay['units']} iterations of SE 0" in page
    assert {each["key"] for each in kernel["causes"] if each["gain"] is None} >= {"no_attempt"}


def test_without_a_package_that_replays_there_is_no_gain(capsys, monkeypatch):
    monkeypatch.setattr("tracekit.analysis.explain.gains.replayer", lambda: None)
    _, page, _ = run(capsys, "explain", GAP)
    assert "no gain: it is replayed on a model, and no package with one (zyfa) is" in page
    _, page, _ = run(capsys, "explain", GAP, "--no-gain")
    assert "no gain: --no-gain" in page


def test_what_if_replays_a_change(capsys):
    changes = ["no vector_work", "no vector_work at 0x2850->0x25e0", "no barrier"]
    asked = [word for change in changes for word in ("--what-if", change)]
    code, page, _ = run(capsys, "explain", GAP, *asked)
    assert code == 0
    _, out, _ = run(capsys, "explain", GAP, *asked, "--json")
    (kernel,) = json.loads(out)["captures"][0]["kernels"]
    assert [each["text"] for each in kernel["what_if"]] == changes
    whole, part, _ = (each["gain"]["gain_cycles"] for each in kernel["what_if"])
    (cause,) = (each for each in kernel["causes"] if each["key"] == "vector_work")
    assert whole == cause["gain"]["gain_cycles"]
    assert 0 < part <= whole
    assert all(f"what if {change}: " in page for change in changes)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("make it fast", 'expected one of "0xLOAD one iteration earlier"'),
        ("no vector_work at 0x2850", "a cause is at a pair"),
        ("no magic at 0x2850", "0x2850 is v_mfma"),
        ("no v_mfma at 0x2850", "an MFMA is the work itself"),
        ("0x2850 one iteration earlier", "no load"),
        ("0x2850 many iterations earlier", "'many' is no number of iterations"),
        ("loads of 0x2850 one iteration earlier", "no s_waitcnt"),
        ("vmcnt(1) at 0x2850", "no s_waitcnt"),
        ("no s_nop at 0x3", "no instruction at 0x3 was executed"),
        ("no data_lost", "nothing there that a replay can take out"),
        ("no magic", "causes: vector_work"),
    ],
)
def test_what_cannot_be_asked_is_one_line(capsys, change, told):
    code, out, error = run(capsys, "explain", GAP, "--what-if", change)
    assert (code, out) == (2, "")
    assert told in error.splitlines()[-1]
    assert len([line for line in error.splitlines() if "--what-if" in line]) == 1


def test_what_if_needs_a_replay(capsys):
    code, _, error = run(capsys, "explain", GAP, "--what-if", "no nop", "--no-gain")
    assert code == 2
    assert "--no-gain wants none" in error
