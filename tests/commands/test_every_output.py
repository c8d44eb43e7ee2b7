"""Every command on every capture in every form: an exit code, a shape, no missing value's name.

One test is a command on a capture; decoding and analyses are shared by what follows each other
on the same capture.
"""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tracekit.build import open_all
from tracekit.cli import main
from tracekit.cli import tracekit as cli
from tracekit.commands import COMMANDS
from tracekit.commands.options import Source
from tracekit.commands.selection import FILTERS
from tracekit.export import FORMATS

ROOT = Path(__file__).resolve().parents[2]
#: Command -> its options, by what the command line itself takes.
OPTIONS = {
    name: {
        option.removeprefix("--") for p in cli.get_command(None, name).params for option in p.opts
    }
    for name in COMMANDS
}
#: Those that read a part of a capture.
FILTERED = [name for name in COMMANDS if "se" in OPTIONS[name]]
#: Those of rows of each capture; a comparison and a page have shapes of their own.
REPORTS = [
    name for name in FILTERED if "csv" in OPTIONS[name] and name not in ("compare", "explain")
]
#: Results whose first shape is still theirs; all others are at their second.
FIRST = {"waits", "memory"}
#: Instructions from which on only those of one wave are listed.
MANY = 20_000
#: How a missing value must not read.
NAMELESS = re.compile(r"(?<![\w.])(nan|NaN|None|<NA>|inf|NaT)(?![\w.])")


def folders():
    shared = ROOT.parent / "shared"
    for root in (ROOT / "traces", shared / "captures", shared / "cases"):
        for folder in sorted(root.glob("*")):
            if any(folder.rglob("*.att")) or any(folder.rglob("code.json")):
                yield pytest.param(folder, id=f"{root.name}-{folder.name}")


FOLDERS = list(folders())


@pytest.fixture(scope="module", autouse=True)
def shared_analyses():
    """The same capture read the same way is decoded and analysed once."""
    kept, whole = {}, Source.whole

    def remembered(self, window="steady"):
        key = (repr(replace(self, quiet=False, filters={"se": self.filters["se"]})), window)
        if key not in kept:
            if not any(self.paths == paths for _, paths in kept):
                kept.clear()
            kept[key] = list(whole(self, window))
        return list(kept[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Source, "whole", remembered)
        yield


@pytest.fixture
def run(capsys):
    def command(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return command


def cut(folder, command):
    """Filters that keep the list of instructions short."""
    if command != "instructions":
        return []
    tables = [capture.timeline() for capture in open_all(folder)]
    if all(len(timeline.instructions) < MANY for timeline in tables):
        return []
    first = next(timeline.waves.iloc[0] for timeline in tables if len(timeline.waves))
    return [word for name in ("se", "simd", "slot", "wave") for word in (f"--{name}", first[name])]


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def parsed(text):
    return json.loads(text, parse_constant=refuse)


def check_rows(rows, names):
    assert [row for row in rows[1:] if len(row) != len(rows[0])] == []
    where = {"capture"} & set(rows[0])
    assert where
    at = rows[0].index("capture")
    assert {row[at] for row in rows[1:]} <= names
    assert [cell for row in rows[1:] for cell in row if NAMELESS.fullmatch(cell)] == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("command", REPORTS)
def test_a_report_has_its_shape_in_every_form(folder, command, run, tmp_path):
    line = [command, folder, *cut(folder, command)]
    code, text, err = run(*line)
    assert (code, bool(text.strip())) == (0, True)
    assert all(each.startswith("tracekit: ") for each in err.splitlines())
    assert NAMELESS.findall(text) == []
    assert run(*line, "-q") == (0, text, "")

    code, told, _ = run(*line, "--json")
    result = parsed(told)
    assert code == 0
    assert list(result)[:3] == ["schema", "tracekit", "captures"]
    assert result["schema"] == f"tracekit.{command}/{1 if command in FIRST else 2}"
    found = result["captures"]
    assert len(found) == len(open_all(folder))
    for entry in found:
        assert list(entry)[:2] == ["capture", "kernel"]
        assert {"timing", "arch", "quality", "notes"} <= set(entry)
        assert {"verdict", "questions", "findings"} == set(entry["quality"])
        assert set(entry["quality"]["questions"]) == {"matrix", "vector", "waves"}
    names = {entry["capture"] for entry in found}
    assert len(names) == len(found)

    code, table, _ = run(*line, "--csv")
    rows = list(csv.reader(io.StringIO(table)))
    assert code == 0
    assert rows[0].index("capture") == (len(rows[0]) - 1 if command == "hotspots" else 0)
    check_rows(rows, names)
    if "rows" in found[0]:
        assert len(rows) - 1 == sum(len(entry["rows"]) for entry in found)

    for suffix, expected in ((".txt", text), (".csv", table), (".json", told)):
        path = tmp_path / f"out{suffix}"
        assert run(*line, "-q", "-o", path) == (0, "", "")
        assert path.read_text() == expected


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_comparison_with_itself_has_its_shape_or_says_why_not(folder, run):
    code, text, err = run("compare", folder, folder)
    if code:
        assert (code, text) == (2, "")
        assert len([each for each in err.splitlines() if ": quality: " not in each]) == 1
        return
    assert NAMELESS.findall(text) == []
    _, out, _ = run("compare", folder, folder, "--json", "-q")
    result = parsed(out)
    told = ["noise", "warnings", "notes", "requirements", "unmet", "rows", "bodies"]
    assert list(result) == ["schema", "tracekit", "base", "new", *told]
    assert [len(result[name]) for name in ("base", "new")] == [1, 1]
    _, out, _ = run("compare", folder, folder, "--csv", "-q")
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0][0] == "capture"
    check_rows(rows, {result["new"][0]["capture"]})
    assert len(rows) - 1 == len(result["rows"])


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_is_there_in_every_form(folder, run, tmp_path):
    code, text, err = run("explain", folder, "--no-gain")
    assert (code, bool(text.strip())) == (0, True)
    assert all(each.startswith("tracekit: ") for each in err.splitlines())
    assert NAMELESS.findall(text) == []
    code, told, _ = run("explain", folder, "--no-gain", "--json")
    result = parsed(told)
    assert (code, list(result)[:3]) == (0, ["schema", "tracekit", "captures"])
    assert len(result["captures"]) == len(open_all(folder))
    for suffix in (".md", ".html"):
        path = tmp_path / f"out{suffix}"
        assert run("explain", folder, "--no-gain", "-q", "-o", path) == (0, "", "")
        assert NAMELESS.findall(path.read_text()) == []


#: What a format cannot hold -> the folders of such captures.
REFUSED = {"rcv": {"legacy_rocprofv2_ui"}}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", FORMATS)
def test_an_export_writes_every_capture_or_says_why_not(folder, name, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("export", folder, "-q", "--format", name, *cut(folder, "instructions"))
    if folder.name in REFUSED.get(name, ()):
        assert (code, out, len(err.splitlines())) == (1, "", 1)
        return
    assert (code, err) == (0, "")
    written = [Path(each) for each in out.splitlines()]
    assert written
    assert sorted(tmp_path.iterdir()) == sorted(each.absolute() for each in written)
    for path in written:
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
        assert all(each.stat().st_size for each in files)
        assert files
        for each in files:
            if each.suffix == ".json":
                parsed(each.read_text())


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_bundle_of_every_capture_opens_as_it_does(folder, run, tmp_path):
    path = tmp_path / "bundle.tar"
    code, out, err = run("bundle", folder, "-q", "-o", path)
    captures = open_all(folder)
    if len(captures) > 1:
        assert (code, out, len(err.splitlines())) == (1, "", 1)
        return
    assert (code, err) == (0, "")
    (one,), (other,) = captures, open_all(path)
    assert [s.size for s in one.streams] == [s.size for s in other.streams]
    assert str(one.arch) == str(other.arch)
    assert one.listing.text == other.listing.text


def test_these_are_all_the_commands():
    """What takes one filter takes all of them, and what takes a form all forms."""
    assert all(set(FILTERS) <= OPTIONS[name] for name in FILTERED)
    assert all({"csv", "json", "o", "q"} <= {o.strip("-") for o in OPTIONS[n]} for n in REPORTS)
    others = {"doctor", "capture", "listing", "dashboard", "export", "bundle", "mcp"}
    assert {*REPORTS, *others, "compare", "explain"} == set(COMMANDS)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("command", [name for name in FILTERED if name != "dashboard"])
def test_a_filter_that_selects_nothing_is_wrong_usage_and_names_what_there_is(
    command, name, run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    sample = ROOT / "traces" / "pingpong"
    more = {"compare": [ROOT / "traces" / "lockstep"], "export": ["--format", "speedscope"]}
    code, out, err = run(command, sample, *more.get(command, []), f"--{name}", 99)
    assert (code, out) == (2, "")
    there = {"se": "0", "cu": "1", "simd": "0-3", "slot": "0-1", "wave": "0", "dispatch": "1"}
    assert f"pingpong: --{name} 99 selects nothing: there is {name} {there[name]}" in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("command", REPORTS)
def test_a_filter_that_selects_something_is_no_error(command, name, run):
    value = {"cu": 1, "dispatch": 1}.get(name, 0)
    code, _, _ = run(command, ROOT / "traces" / "pingpong", f"--{name}", value, "--csv")
    assert code == 0
