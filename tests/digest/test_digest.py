"""Digests as values: what is left out to keep them small, and what is not as it should be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tracekit.digest.container import Container, assembled, compressed, dumped
from tracekit.digest.digest import Digest, Explained, Kept, Key, Opened
from tracekit.digest.fitting import LEAST, fitted, limit
from tracekit.digest.recording import Recording, cut
from tracekit.errors import FormatError, TracekitError
from tracekit.present.cells import Column
from tracekit.present.explained.sheet import Row, Sheet
from tracekit.present.tables import Cells

SHEET = Sheet("", "busy", ("a fact",), "why", (Row("nop", "1 %", "2 %", "3", "4", ("0x10",), 0.1),),
              "rest", ("gain",), ("do",), (), (), 0.5)  # fmt: skip


def recording(rows, command="waits"):
    text = "capture,at,latency_cycles,hits\n"
    text += "".join(f"c,{r['at']},{r['latency_cycles']},{r['hits']}\n" for r in rows)
    shown = Cells("title", (Column("at"),), [[str(row["at"])] for row in rows])
    return Recording(
        f"tracekit.{command}/1", {"capture": "c", "rows": rows}, text, (shown,), "", ("a note",)
    )


def noise(count):
    """Rows that do not compress."""
    return [
        {"at": pow(3, n, 2**61 - 1), "latency_cycles": pow(5, n, 2**61 - 1), "hits": n % 2}
        for n in range(count)
    ]


def digest(tables):
    page = Explained({"capture": "c", "kernels": []}, SHEET, ("note",))
    kept = Kept("c", "0" * 64, "c: good", {"steady": page}, tables, {})
    return Digest({}, ("steady",), (kept,))


def opened(tmp_path, content):
    path = tmp_path / "a.tkd"
    path.write_bytes(content)
    return Opened.of(path)


def test_a_digest_comes_back(tmp_path):
    key, one = Key("waits", "steady", ""), recording(noise(20))
    found = opened(tmp_path, digest({key: one}).content())
    (again,) = found.recordings(key)
    assert again.payload == one.payload
    assert again.csv == one.csv
    assert [list(row) for row in again.tables[0].rows] == one.tables[0].rows
    assert found.explained("steady")[0].sheet == SHEET
    assert found.verdicts() == ["c: good"]
    assert found.recordings(Key("waits", "span", "")) is None


@pytest.mark.slow
@pytest.mark.parametrize("count", [6_000, 20_000])
def test_a_digest_keeps_to_its_size_and_counts_what_it_left_out(tmp_path, count):
    keys = [Key("waits", "steady", ""), Key("waits", "steady", "with_loads")]
    content = fitted(digest({key: recording(noise(count)) for key in keys}), LEAST)
    assert len(content) <= LEAST
    (one,) = opened(tmp_path, content).recordings(keys[0])
    kept = len(one.payload["rows"])
    assert 0 < kept < count
    assert one.result["truncated"] == {"rows": {"kept": kept, "of": count}}
    assert one.all_notes[-1] == f"truncated in the digest: rows {kept:,} of {count:,} rows"
    assert len(one.csv.splitlines()) == 1 + kept
    assert len(one.tables[0].rows) + one.tables[0].more == count


@pytest.mark.slow
def test_lines_that_matter_most_are_kept(tmp_path):
    key = Key("hotspots", "", "")
    rows = noise(4_000)
    content = fitted(digest({key: recording(rows, "hotspots")}), 20_000)
    (one,) = opened(tmp_path, content).recordings(key)
    kept = [row["latency_cycles"] for row in one.payload["rows"]]
    ran = sorted((row["latency_cycles"] for row in rows if row["hits"]), reverse=True)
    assert sorted(kept, reverse=True) == ran[: len(kept)]
    assert [row["at"] for row in rows if row["latency_cycles"] in set(kept)] == [
        row["at"] for row in one.payload["rows"]
    ]


@pytest.mark.slow
def test_single_bubbles_go_first(tmp_path):
    keys = [Key("bubbles", "steady", ""), Key("memory", "steady", "")]
    tables = {keys[0]: recording(noise(6_000)), keys[1]: recording(noise(1_000))}
    found = opened(tmp_path, fitted(digest(tables), LEAST))
    assert found.recordings(keys[0])[0].truncated == {"rows": (0, 6_000)}
    assert found.recordings(keys[1])[0].truncated == {}


def test_without_room_for_the_pages_nothing_is_saved():
    with pytest.raises(TracekitError, match="pages alone"):
        fitted(digest({}), 100)


def test_the_limit_is_a_share_of_what_was_read(tmp_path):
    (tmp_path / "big").write_bytes(bytes(10_000_000))
    assert limit((str(tmp_path),), 1) == 100_000
    assert limit((str(tmp_path / "big"),), 1) == 100_000
    assert limit((str(tmp_path),), 3) == 3 * LEAST


def test_csv_of_any_spelling_comes_back():
    rows = [{"name": 'a "b", c', "value": 0.5, "none": None, "flag": True}]
    for text in (
        'capture,name,value,none,flag\nc,"a ""b"", c",0.5,,True\n',
        '"Name","Value","capture"\n"a ""b"", c",0.5,"c"\n',
        "capture,other\nc,7\n",
        "no table of ours\nat, all\nof it\n",
        "",
    ):
        one = Recording("s/1", {"capture": "c", "rows": rows}, text, (), "", ())
        again = Recording.of(json.loads(json.dumps(one.json())))
        assert again.csv == text
    assert (
        cut(Recording("s/1", {"capture": "c", "rows": rows}, "", (), "", ()), "rows", []).csv == ""
    )


@pytest.mark.parametrize("member", ["pages", "tables", "sides"])
@pytest.mark.parametrize("content", [{}, {"captures": []}, {"captures": [7]}])
def test_a_member_of_another_shape_is_refused(tmp_path, member, content):
    found = Container.open(opened(tmp_path, digest({}).content()).path)
    members = {name: found.read(name) for name in found.places} | {member: content}
    raw = {name: dumped(each) for name, each in members.items()}
    made = assembled(
        found.head, {name: (compressed(each), len(each)) for name, each in raw.items()}
    )
    broken = opened(tmp_path, made)
    asks = {
        "pages": lambda: broken.explained("steady"),
        "tables": lambda: broken.recordings(Key("waits", "steady", "")),
        "sides": lambda: broken.sides("steady", 0),
    }
    with pytest.raises(FormatError, match="not as tracekit writes it"):
        asks[member]()


@pytest.mark.slow
def test_opening_a_digest_loads_no_heavy_package(tmp_path):
    file = tmp_path / "a.tkd"
    sample = Path(__file__).resolve().parents[2] / "traces" / "lockstep"
    code = (
        "import sys\nfrom tracekit.cli import main\n"
        "codes = [main([*line.split(), sys.argv[1], '-q']) for line in sys.argv[2:]]\n"
        "heavy = ('numpy', 'pandas', 'rich', 'tracekit.analysis.explain.page')\n"
        "print(codes, [m for m in heavy if m in sys.modules])"
    )
    save = [sys.executable, "-m", "tracekit", "explain", str(sample), "--save", str(file)]
    subprocess.run(save, capture_output=True, check=True)
    lines = ["explain", "explain --json", "waits", "check", "occupancy --csv"]
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), *lines], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 0, 0] []"
