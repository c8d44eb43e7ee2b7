"""Every number that a page shows is the command line's, for the same window."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from dashboard.views import VIEWS, isa, overview
from dashboard.views.bubbles import _CAUSES, _PLACES
from dashboard.views.bubbles import _ROWS as _BUBBLES
from dashboard.views.compare import _BODIES, _ROWS
from dashboard.views.parts import Request
from tracekit.cli import tracekit
from tracekit.present.cells import number, percent

WINDOWS = ["steady", "span", "20%:60%"]
SAMPLE = "lockstep"


def cli(*arguments):
    result = CliRunner().invoke(tracekit, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def printed(samples, name, window, *more, others=()):
    paths = [samples / each for each in (SAMPLE, *others)]
    tail = ("--window", window) if window else ()
    result = json.loads(cli(name, *paths, *tail, *more, "--json", "-q"))
    if others:
        return result
    (found,) = result["captures"]
    return found


def texts(component):
    """All strings of a component tree, in order."""
    if component is None:
        return []
    if isinstance(component, str | int | float):
        return [str(component)]
    if isinstance(component, list | tuple):
        return [text for each in component for text in texts(each)]
    return texts(getattr(component, "children", None))


def find(component, wanted):
    """Components of a tree for which ``wanted(component)`` holds."""
    if isinstance(component, list | tuple):
        return [found for each in component for found in find(each, wanted)]
    if component is None or isinstance(component, str | int | float):
        return []
    own = [component] if wanted(component) else []
    return own + find(getattr(component, "children", None), wanted)


def cells(page, name):
    """Rows of the table ``name`` as texts."""
    (table,) = find(page, lambda c: getattr(c, "id", None) == f"table-{name}")
    rows = find(table, lambda c: type(c).__name__ == "Tr")
    return [["".join(texts(cell)) for cell in row.children] for row in rows[1:]]


def expected(rows, columns, missing=()):
    return [
        [c.cell(row[n]) for n, c in columns.items() if n in row]
        for row in rows
    ]  # fmt: skip


def view(service, name, window, new=""):
    return VIEWS[name](service, Request(name, f"0/{SAMPLE}", new, window))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", ["occupancy", "budget", "bubbles", "overlap", "hotspots"])
def test_csv_tables_equal_the_commands(client, samples, name, window):
    answer = client.get(
        "/tk/table.csv", headers={"Host": "localhost"},
        query_string={"capture": f"0/{SAMPLE}", "name": name, "window": window},
    )  # fmt: skip
    mine = list(csv.reader(io.StringIO(answer.get_data(as_text=True))))
    tail = () if name == "hotspots" else ("--window", window)
    line = cli(name, samples / SAMPLE, *tail, "--csv", "-q")
    theirs = list(csv.reader(io.StringIO(line)))
    assert mine == theirs
    assert len(mine) > 1


def test_a_csv_of_one_simd_equals_the_command(client, samples):
    answer = client.get(
        "/tk/table.csv", headers={"Host": "localhost"},
        query_string={"capture": f"0/{SAMPLE}", "name": "bubbles", "se": 0, "dispatch": 1,
                      "simd": 2},
    )  # fmt: skip
    place = ("--se", 0, "--dispatch", 1, "--simd", 2)
    assert answer.get_data(as_text=True) == cli("bubbles", samples / SAMPLE, *place, "--csv", "-q")


@pytest.mark.parametrize("window", WINDOWS)
def test_the_tiles_equal_tracekit_occupancy(service, samples, window):
    page = view(service, "overview", window)
    tiles = find(page, lambda c: getattr(c, "className", None) == "tile")
    rows = printed(samples, "occupancy", window)["rows"]
    assert len(tiles) == len(rows) == 4
    for tile, row in zip(tiles, rows, strict=True):
        text = " ".join(texts(tile))
        for part in (
            f"matrix {percent(row['matrix_occupancy'])}",
            f"vector {percent(row['vector_occupancy'])}",
            f"both {percent(row['overlap_cycles'] / row['window_cycles'])}",
            f"neither {percent(row['neither_cycles'] / row['window_cycles'])}",
            f"of {number(row['window_cycles'])} cycles, window {row['window']}",
            f"{number(row['mfma'])} MFMA",
        ):
            assert part in text


@pytest.mark.parametrize("window", WINDOWS)
def test_overview_tables_equal_the_commands(service, samples, window):
    page = view(service, "overview", window)
    simds = printed(samples, "budget", window)["simds"]
    assert cells(page, "bounds") == expected(simds, overview._BUDGET)
    simds = printed(samples, "overlap", window)["simds"]
    assert cells(page, "overlap") == expected(simds, overview._OVERLAP)
    assert cells(page, "clock") == expected(printed(samples, "clock", "")["rows"], overview._CLOCK)
    verdict = printed(samples, "check", "")["quality"]["verdict"]
    assert f"Quality: {verdict}" in " ".join(texts(page))


@pytest.mark.parametrize("window", WINDOWS)
def test_bars_equal_the_commands(service, samples, window):
    page = view(service, "overview", window)
    figures = {c.id: c.figure for c in find(page, lambda c: type(c).__name__ == "Graph")}
    simds = printed(samples, "budget", window)["simds"]
    bars = {trace.name.split(" ")[0]: list(trace.x) for trace in figures["graph-budget"].data}
    for name in ("matrix", "vector", "bound"):
        assert bars[name] == [row[f"{name}_cycles"] for row in simds]
    totals = printed(samples, "bubbles", window)["totals"]
    assert figures["graph-idle"].data
    for trace in figures["graph-idle"].data:
        cause = trace.name.split(" ")[1]
        assert list(trace.customdata) == [row[f"{cause}_cycles"] for row in totals]
        assert list(trace.x) == pytest.approx(
            [100 * row[f"{cause}_cycles"] / row["window_cycles"] for row in totals]
        )


@pytest.mark.parametrize("window", WINDOWS)
def test_the_bubble_page_equals_tracekit_bubbles(service, samples, window):
    page, told = view(service, "bubbles", window), printed(samples, "bubbles", window, "--map")
    first = told["totals"][0]
    shown = {row[1]: row[2:4] for row in cells(page, "causes")}
    assert shown == {
        name.removesuffix("_cycles"): [number(value), percent(value / first["window_cycles"])]
        for name, value in first.items()
        if name.removesuffix("_cycles") in shown
    }
    idle = sum(int(row[0].replace(",", "")) for row in shown.values())
    assert idle == first["matrix_idle_cycles"]
    assert cells(page, "places") == expected(told["places"][:40], _PLACES)
    maps = {c.id: c.figure.data[0] for c in find(page, lambda c: type(c).__name__ == "Graph")}
    for cell in told["by_time"]:
        column = list(maps["graph-time"].x).index(cell["time"])
        share = maps["graph-time"].z[cell["simd"]][column]
        if cell["window_cycles"]:
            assert share == pytest.approx(100 * cell["idle_cycles"] / cell["window_cycles"])
    assert _CAUSES["cycles"].text is number


@pytest.mark.parametrize("window", WINDOWS)
def test_the_bubble_list_equals_tracekit_bubbles(service, samples, window):
    page, told = view(service, "bubbles", window), printed(samples, "bubbles", window, "--map")
    first = {name: told["totals"][0][name] for name in ("se", "simd", "dispatch")}
    own = [row for row in told["rows"] if first.items() <= row.items()]
    wide = sorted((r for r in own if r["start"] >= 0), key=lambda r: -r["cycles"])[:40]
    assert [row[:-1] for row in cells(page, "bubbles")] == expected(wide, _BUBBLES)
    short = sum(row["cycles"] for row in own if row["start"] < 0)
    assert f"are no bubbles: {number(short)} cycles in all." in " ".join(texts(page))
    maps = {c.id: c.figure.data[0] for c in find(page, lambda c: type(c).__name__ == "Graph")}
    heat = maps["graph-offset"]
    shown = {
        (row, column): heat.z[i][j]
        for i, row in enumerate(heat.y) for j, column in enumerate(heat.x)
        if heat.z[i][j] == heat.z[i][j]
    }  # fmt: skip
    assert shown == {
        (c["iteration"], c["offset"]): pytest.approx(100 * c["idle_cycles"] / c["window_cycles"])
        for c in told["by_offset"]
        if first.items() <= c.items() and c["window_cycles"]
    }


def test_what_a_click_tells_equals_tracekit_instructions(client, samples):
    rows = printed(samples, "instructions", "")["rows"]
    for index in range(0, len(rows), 97):
        answer = client.get(
            "/tk/instruction", headers={"Host": "localhost"},
            query_string={"capture": f"0/{SAMPLE}", "index": index},
        ).get_json()  # fmt: skip
        row = rows[index]
        assert answer["text"] == row["instruction"]
        for name in ("se", "cu", "simd", "slot", "wave", "time", "stall", "duration", "vaddr"):
            assert answer[name] == row[name]


@pytest.mark.parametrize("step", [1, -1])
def test_the_bubble_stepped_to_equals_tracekit_bubbles(client, samples, step):
    told = [r for r in printed(samples, "bubbles", "steady")["rows"] if r["start"] >= 0]
    at = sorted(told, key=lambda r: r["start"])[len(told) // 2]["start"] + step
    answer = client.get(
        "/tk/bubble", headers={"Host": "localhost"},
        query_string={"capture": f"0/{SAMPLE}", "after": at, "step": step},
    ).get_json()  # fmt: skip
    beyond = [r for r in told if (r["start"] - at) * step > 0]
    wanted = min(beyond[::step], key=lambda r: abs(r["start"] - at))
    named = ("simd", "cause", "waves", "next_mfma", "previous_mfma", "iteration")
    for name in ("start", "cycles", *named):
        assert answer[name] == wanted[name]


def test_stepping_tells_every_bubble_once(client, samples):
    told = [r for r in printed(samples, "bubbles", "steady")["rows"] if r["start"] >= 0]
    seen, query = [], {"after": 0}
    while True:
        answer = client.get(
            "/tk/bubble", headers={"Host": "localhost"},
            query_string={"capture": f"0/{SAMPLE}", "step": 1, **query},
        ).get_json()  # fmt: skip
        if answer["start"] is None:
            break
        seen.append((answer["start"], answer["simd"]))
        query = {"after": answer["start"], "current": answer["index"]}
    assert sorted(seen) == sorted((r["start"], r["simd"]) for r in told)
    assert len(seen) > len({start for start, _ in seen}), "some begin in the same cycle"


@pytest.mark.parametrize("window", ["steady", "span"])
def test_isa_equals_tracekit_hotspots_and_bubbles(service, samples, window):
    rows = isa.records(service, f"0/{SAMPLE}", window)
    told = printed(samples, "hotspots", "")["rows"]
    for name in ("hits", "latency_cycles", "stall_cycles", "idle_cycles", "matrix_cycles"):
        assert [row[name] for row in rows] == [row[name] for row in told]
    assert [row["instruction"] for row in rows] == [row["instruction"] for row in told]
    bubbles = printed(samples, "bubbles", window)["rows"]
    placed = sum(b["cycles"] for b in bubbles if b["start"] >= 0 and b["next_mfma_vaddr"] >= 0)
    assert sum(row["bubble_cycles"] for row in rows) == placed


@pytest.mark.slow
def test_compare_equals_tracekit_compare(service, samples):
    page = view(service, "compare", "steady", "0/zyfa_gap_exact")
    told = printed(samples, "compare", "steady", others=["zyfa_gap_exact"])["rows"]
    names = [name for name in _ROWS if name not in ("relative_percent", "noise")]
    at = [list(_ROWS).index(name) for name in names]
    shown = [[row[i] for i in at] for row in cells(page, "compare")]
    assert shown == expected([r for r in told if r["se"] < 0], {n: _ROWS[n] for n in names})


@pytest.mark.slow
def test_changed_instructions_and_the_difference_map_equal_the_commands(service, samples):
    page = view(service, "compare", "steady", "0/zyfa_gap_exact")
    told = printed(samples, "compare", "steady", others=["zyfa_gap_exact"])
    assert cells(page, "bodies") == expected(told["bodies"][:60], _BODIES)
    sums = []
    for path in (samples / SAMPLE, samples / "zyfa_gap_exact"):
        grid = {}
        for c in json.loads(cli("bubbles", path, "--map", "--json", "-q"))["captures"][0][
            "by_offset"
        ]:
            idle, window = grid.get(at := (c["iteration"], c["offset"] // c["width"]), (0, 0))
            grid[at] = idle + c["idle_cycles"], window + c["window_cycles"]
        sums.append({at: 100 * idle / n for at, (idle, n) in grid.items() if n})
    (heat,) = find(page, lambda c: getattr(c, "id", None) == "graph-difference")
    known = {
        (i, j): value
        for i, row in enumerate(heat.figure.data[0].z) for j, value in enumerate(row)
        if value == value
    }  # fmt: skip
    assert known == {
        at: pytest.approx(sums[1][at] - sums[0][at]) for at in sums[0].keys() & sums[1].keys()
    }
    assert known


def test_the_copied_command_names_capture_and_window(service, samples):
    page = view(service, "bubbles", "span")
    wanted = f"tracekit bubbles {samples / SAMPLE} --window span"
    assert getattr(page, "data-command") == wanted
