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


def test_a_capture_without_waves_says_so(captures, capsys):
    code, out, error = run(capsys, "explain", str(captures / "tinygrad_empty_gfx950"))
    assert (code, out) == (0, "")
    assert "nothing to explain" in error
