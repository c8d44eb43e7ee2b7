"""``tracekit mcp``, asked by the SDK's own client over stdio."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tracekit.cli import main
from tracekit.commands.agents.bounds import LONGEST

mcp = pytest.importorskip("mcp", reason="mcp is not installed: no server")

ROOT = Path(__file__).resolve().parents[3]
NAMES = ["open", "explain", "waits", "compare", "instructions", "occupancy"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two captures, a digest, and links that lead out."""
    top = tmp_path_factory.mktemp("agents")
    inside = top / "inside"
    for name in ("lockstep", "pingpong", "zyfa_gap_exact"):
        shutil.copytree(ROOT / "traces" / name, inside / name)
    shutil.copytree(ROOT / "traces" / "lockstep", top / "outside")
    (inside / "link").symlink_to(top / "outside")
    (inside / "holey").mkdir()
    (inside / "holey" / "x.att").symlink_to(next((top / "outside").glob("*.att")))
    (inside / "text.att").write_text("not a stream")
    digest = inside / "old.tkd"
    assert main(["explain", str(inside / "lockstep"), "-q", "--save", str(digest)]) == 0
    return inside


def talk(folder, *calls):
    """(is it an error, JSON or text) of each (tool, arguments), and the tools."""

    async def conversation():
        server = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "tracekit", "mcp", str(folder)]
        )
        async with mcp.Client(server) as client:
            tools = (await client.list_tools()).tools
            answers = []
            for name, arguments in calls:
                done = await client.call_tool(name, arguments)
                answers.append((bool(done.is_error), done.content[0].text))
            return tools, answers

    tools, answers = asyncio.run(asyncio.wait_for(conversation(), 300))
    return tools, [(bad, text if bad else json.loads(text)) for bad, text in answers]


def printed(capsys, *line):
    capsys.readouterr()
    assert main([*line, "--json", "-q"]) == 0
    return json.loads(capsys.readouterr().out)


def without_cuts(result):
    return {key: value for key, value in result.items() if key != "truncated"}


def test_tools_are_few_read_only_and_described(folder):
    tools, _ = talk(folder)
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert len(tool.description.split()) > 10


def test_answers_are_the_json_of_the_commands(folder, capsys):
    path = str(folder / "lockstep")
    calls = [
        ("open", {"path": "lockstep"}),
        ("occupancy", {"path": path}),
        ("waits", {"path": path, "loads": True}),
        ("explain", {"path": path, "window": "span"}),
        ("compare", {"base": path, "new": "pingpong"}),
    ]
    _, answers = talk(folder, *calls)
    assert [bad for bad, _ in answers] == [False] * len(calls)
    opened, *others = (answer for _, answer in answers)
    assert opened["schema"] == "tracekit.info/2"
    assert opened["captures"][0]["quality"]["verdict"] == "good"
    lines = [
        ("occupancy", path),
        ("waits", path, "--loads"),
        ("explain", path, "--window", "span"),
        ("compare", path, str(folder / "pingpong")),
    ]
    for answer, line in zip(others, lines, strict=True):
        expected = printed(capsys, *line)
        assert answer["schema"] == expected["schema"]
        if not answer["truncated"]:
            assert without_cuts(answer) == expected
    assert len([answer for answer in others if not answer["truncated"]]) >= 2


def test_answers_are_bounded_and_say_so(folder):
    calls = [(name, {"path": "zyfa_gap_exact"}) for name in ("explain", "waits")]
    _, answers = talk(folder, *calls)
    for _, answer in answers:
        assert len(json.dumps(answer, ensure_ascii=False)) <= LONGEST
        cut = answer["truncated"]
        assert cut
        assert all(0 < count["kept"] < count["of"] for count in cut.values())


def test_a_digest_answers_as_its_capture(folder):
    names = [("explain", {}), ("occupancy", {}), ("waits", {}), ("open", {})]
    calls = [(name, {"path": path}) for name, _ in names for path in ("lockstep", "old.tkd")]
    _, answers = talk(folder, *calls)
    for left, right in zip(answers[::2], answers[1::2], strict=True):
        assert left == right


def test_a_base_says_what_changed(folder):
    _, answers = talk(
        folder,
        ("explain", {"path": "pingpong", "base": "old.tkd"}),
        ("explain", {"path": "pingpong", "base": "lockstep"}),
    )
    (_, kept), (_, decoded) = answers
    assert kept == decoded
    changes = {each["key"]: each["verdict"] for each in kept["captures"][0]["changes"]}
    assert changes["iteration"] == "shrank"


def test_instructions_are_those_around_a_pc(folder, capsys):
    path = str(folder / "lockstep")
    rows = printed(capsys, "hotspots", path)["captures"][0]["rows"]
    middle = rows[len(rows) // 2]
    _, answers = talk(
        folder,
        ("instructions", {"path": path, "pc": hex(middle["vaddr"]), "around": 2}),
        ("instructions", {"path": "old.tkd", "pc": hex(middle["vaddr"]), "around": 2}),
        ("instructions", {"path": path, "pc": str(middle["vaddr"]), "around": 0}),
    )
    at = rows.index(middle)
    (_, found), (_, kept), (_, line) = answers
    assert found["captures"][0]["rows"] == rows[at - 2 : at + 3]
    assert found == kept
    assert line["captures"][0]["rows"] == [middle]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("open", {"path": "/etc/passwd"}, "/etc/passwd: outside of the folders"),
        ("open", {"path": "../outside"}, "outside of the folders"),
        ("explain", {"path": "link"}, "outside of the folders"),
        ("explain", {"path": "holey"}, "x.att links to outside of the folders"),
        ("explain", {"path": "lockstep", "base": "../outside"}, "outside of the folders"),
        ("compare", {"base": "lockstep", "new": "/"}, "outside of the folders"),
        ("occupancy", {"path": "none"}, "none: not there"),
        ("occupancy", {"path": ""}, "no path"),
        ("open", {"path": "text.att"}, "text.att: text"),
        ("waits", {"path": "lockstep", "window": "moon"}, "moon"),
        ("explain", {"path": "old.tkd", "window": "10%:20%"}, "saved with windows steady, span"),
        ("instructions", {"path": "lockstep", "pc": "0x2"}, "the nearest are 0x"),
        ("instructions", {"path": "lockstep", "pc": "main"}, "no PC: expected an address"),
    ],
)
def test_what_cannot_be_answered_is_an_error_in_one_line(tool, arguments, expected, folder):
    _, ((bad, text),) = talk(folder, (tool, arguments))
    assert bad
    assert expected in text
    assert "Traceback" not in text
    assert len(text.splitlines()) == 1


def test_the_second_question_decodes_nothing(folder, monkeypatch):
    from tracekit.build import OpenCapture
    from tracekit.commands.agents.folders import Folders
    from tracekit.commands.agents.tools import Tools

    decoded = []
    timeline = OpenCapture.timeline
    monkeypatch.setattr(
        OpenCapture, "timeline",
        lambda self, *a, **k: decoded.append(self.name) or timeline(self, *a, **k),
    )  # fmt: skip
    tools = Tools(Folders([folder]))
    first = tools.explain("lockstep")
    assert tools.explain("lockstep") == first
    tools.waits("lockstep")
    tools.occupancy("lockstep", "span")
    tools.compare("lockstep", "pingpong")
    assert decoded == ["lockstep", "pingpong"]
    stream = next((folder / "lockstep").glob("*.att"))
    stream.touch()
    assert tools.explain("lockstep") == first
    assert decoded == ["lockstep", "pingpong", "lockstep"]


def test_listings_outside_are_not_looked_at(tmp_path):
    from tracekit.commands.agents.folders import Folders
    from tracekit.commands.agents.tools import Tools

    shutil.copytree(ROOT / "traces" / "lockstep", tmp_path / "run" / "capture")
    shutil.move(tmp_path / "run" / "capture" / "code.json", tmp_path / "run" / "code.json")
    seen = [
        Tools(Folders([root])).open(str(tmp_path / "run" / "capture"))["captures"][0]
        for root in (tmp_path / "run", tmp_path / "run" / "capture")
    ]
    assert [entry["listing_rows"] > 0 for entry in seen] == [True, False]


def test_without_the_sdk_one_line_says_how_to_install_it(tmp_path):
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError('none', name='mcp')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom tracekit.cli import main\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "sys.exit(main(['mcp']))"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "tracekit: mcp needs mcp: pip install tracekit[mcp]\n"
