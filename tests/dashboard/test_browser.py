"""The real app in Chromium: what a person does, and no console error on the way."""

import json
import re
import shutil
import time
from pathlib import Path
from urllib.parse import urlencode

import odd_captures as odd
import pytest

VIEWS = ["overview", "timeline", "bubbles", "isa", "compare", "open"]
STATE = "JSON.parse(JSON.stringify(tk.state))"
LINE = "tk.timelines[0]"


def go(page, address, **state):
    """Open a view by its link and wait for it."""
    page.goto("about:blank")
    page.goto(f"{address}#{urlencode({'a': '0/pingpong', **state})}")
    page.wait_for_selector("#content .view")
    if state.get("view") in ("timeline", "compare") and not page.query_selector(".failure"):
        page.wait_for_selector(".timeline[data-ready=all]")


def wait(page, expression):
    """Until ``expression`` holds (Playwright's own wait evaluates text, which the CSP forbids)."""
    end = time.monotonic() + 60
    while not page.evaluate(f"!!({expression})"):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)


def span(page):
    return page.evaluate(f"{LINE}.t1 - {LINE}.t0")


def spot(page, group):
    """Where the first interval of the first lane of ``group`` is that can be clicked."""
    return page.evaluate(
        """(group) => {
        const line = tk.timelines[0], row = line.rows.find((r) => r.lane.group === group);
        const { lane } = row;
        for (let i = 0; i < lane.count; i++) {
          const t = (lane.start[i] + lane.end[i]) / 2 + line.tile.first;
          if (lane.index[i] >= 0 && t > line.t0 && t < line.t1 && lane.end[i] - lane.start[i] >= 4)
            return { x: line.x(t), y: row.y + row.h / 2 };
        }
        return null; }""",
        group,
    )


def click(page, group):
    page.locator("canvas.lanes").first.click(position=spot(page, group))


def hash_of(page):
    return page.evaluate("location.hash")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens(page, address, shots, view, theme):
    go(page, address, view=view, b="0/lockstep", theme=theme)
    page.wait_for_timeout(600)
    assert page.locator(".failure").count() == 0
    assert page.locator("html").get_attribute("data-theme") == theme
    wide = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=shots / f"{view}-{theme}.png", full_page=True)
    assert wide, "wider than 1280 pixels"


def test_a_4k_screen_is_filled(browser, address, shots):
    opened = browser.new_page(viewport={"width": 3840, "height": 2160})
    go(opened, address, view="timeline")
    opened.screenshot(path=shots / "timeline-4k.png")
    size = opened.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    width = opened.evaluate("document.querySelector('canvas.lanes').clientWidth")
    opened.close()
    assert size >= 20
    assert width > 3600


def test_zoom_and_pan_by_keys_and_wheel(page, address):
    go(page, address, view="timeline")
    lanes = page.locator("canvas.lanes")
    lanes.focus()
    whole = span(page)
    page.keyboard.press("w")
    assert span(page) == pytest.approx(0.7 * whole)
    page.keyboard.press("s")
    assert span(page) == pytest.approx(whole)
    lanes.hover(position={"x": 600, "y": 60})
    before = page.evaluate(f"{LINE}.time(600)")
    page.mouse.wheel(0, -100)
    wait(page, f"{LINE}.t1 - {LINE}.t0 < {0.9 * whole}")
    assert page.evaluate(f"{LINE}.time(600)") == pytest.approx(before, abs=whole * 0.002)
    left = page.evaluate(f"{LINE}.t0")
    page.keyboard.press("d")
    assert page.evaluate(f"{LINE}.t0") > left
    page.keyboard.press("0")
    assert "t=" in hash_of(page)


def test_zooming_brings_finer_data_and_names(page, address, shots):
    go(page, address, view="timeline", a="0/zyfa_pingpong_lean")
    assert page.evaluate(f"!{LINE}.tile.exact")
    page.evaluate(f"{LINE}.fit(({LINE}.t0 + {LINE}.t1) / 2, ({LINE}.t0 + {LINE}.t1) / 2 + 300)")
    wait(page, f"{LINE}.tile.exact")
    assert page.evaluate(f"{LINE}.rows.every((row) => {LINE}.tile.lanes.includes(row.lane))")
    page.wait_for_timeout(200)
    page.screenshot(path=shots / "timeline-zoomed.png", full_page=True)


def test_dragging_measures(page, address):
    go(page, address, view="timeline")
    box = page.locator("canvas.lanes").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 60, steps=4)
    page.mouse.up()
    text = page.locator(".status").first.inner_text()
    cycles = int(re.search(r": ([\d,]+) cycles", text)[1].replace(",", ""))
    assert cycles == pytest.approx(page.evaluate(f"{LINE}.time(500) - {LINE}.time(300)"), abs=2)


def test_select_an_instruction_follow_it_to_the_isa_and_back(page, address):
    go(page, address, view="timeline", t="8000,8600")
    page.wait_for_timeout(400)
    click(page, "matrix")
    page.wait_for_selector("#to-isa")
    text = page.locator("#detail strong").inner_text()
    assert text.startswith("v_mfma")
    pc = page.locator("#to-isa").get_attribute("data-pc")
    page.click("#to-isa")
    page.wait_for_selector("#to-timeline")
    assert text in page.locator("#source h3").inner_text()
    focused = "tk.api.getDisplayedRowAtIndex(tk.api.getFocusedCell().rowIndex).data.pc"
    assert page.evaluate(focused) == pc
    page.click("#to-timeline")
    page.wait_for_selector(".timeline[data-ready=all]")
    page.wait_for_selector("#to-isa")
    assert page.locator("#detail strong").inner_text() == text


def test_changing_the_window_changes_the_tiles(page, address):
    go(page, address, view="overview")
    before = page.locator("#tiles").inner_text()
    assert "window steady" in before
    page.fill("#window", "span")
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('#tiles').innerText.includes('window span')")
    assert page.locator("#tiles").inner_text() != before
    assert "w=span" in hash_of(page)


def test_a_range_becomes_the_window(page, address):
    go(page, address, view="timeline", m="2000,3000")
    page.click("[data-do=window]")
    page.click("[data-tab=overview]")
    page.wait_for_selector("#tiles")
    assert "of 1,000 cycles, window 2000:3000" in page.locator("#tiles").inner_text()


def test_a_bubble_is_told_and_stepped_through(page, address, service):
    go(page, address, view="timeline", a="0/lockstep")
    rows = service.bubbles("0/lockstep", "steady").rows
    first = rows[rows["start"] >= 0].sort_values("start").iloc[0]
    page.keyboard.press("n")
    wait(page, "document.querySelector('#detail').innerText.includes('bubble:')")
    text = page.locator("#detail").inner_text()
    assert first["cause"] in text
    assert f"{first['start']:,} + {first['cycles']:,} cycles" in text


def test_a_clicked_bubble_is_told(page, address, service):
    rows = service.bubbles("0/lockstep", "steady").rows
    start, cycles = rows[rows["start"] >= 0].iloc[0][["start", "cycles"]]
    go(page, address, view="timeline", a="0/lockstep", t=f"{start - 300},{start + cycles + 300}")
    page.wait_for_timeout(300)
    click(page, "bubbles")
    wait(page, "document.querySelector('#detail').innerText.includes('bubble:')")
    assert f"{start:,} + {cycles:,} cycles" in page.locator("#detail").inner_text()
    wanted = f"{start},{start + cycles}"
    assert page.evaluate("tk.state.m") == wanted


def test_stepping_stays_in_the_wave(page, address, service):
    table = service.timeline("0/pingpong").instructions
    last = int((table["slot"] == 0).to_numpy().nonzero()[0][-1])
    wave = table[(table["simd"] == table["simd"].iloc[last]) & (table["slot"] == 0)]
    go(page, address, view="timeline", i=str(last))
    wait(page, f"{LINE}.chosen && {LINE}.chosen.index === {last}")
    page.locator("canvas.lanes").focus()
    page.keyboard.press(".")
    page.wait_for_timeout(400)
    assert page.evaluate(f"{LINE}.chosen.index") == last
    page.keyboard.press(",")
    wait(page, f"{LINE}.chosen.index === {last - 1}")
    assert page.locator("#detail strong").inner_text() == wave["instruction"].iloc[-2]


def test_a_cell_of_the_map_opens_the_timeline_there(page, address):
    go(page, address, view="bubbles", a="0/lockstep")
    wait(page, "document.querySelector('#graph-time .js-plotly-plot')?.tkBound")
    box = page.locator("#graph-time .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(300)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector(".timeline[data-ready=all]")
    first, last = map(int, page.evaluate("tk.state.t").split(","))
    assert 0 < last - first < 1000


def test_a_bubble_of_the_table_opens_the_timeline(page, address):
    go(page, address, view="bubbles", a="0/lockstep")
    start = page.locator("#table-bubbles tbody td").nth(1).inner_text().replace(",", "")
    page.locator("#table-bubbles [data-goto]").first.click()
    page.wait_for_selector(".timeline[data-ready=all]")
    first, last = map(int, page.evaluate("tk.state.t").split(","))
    assert first < int(start) < last


def test_filters_of_the_bubble_map(page, address):
    go(page, address, view="bubbles", a="0/lockstep")
    page.select_option("#filter-simd", index=2)
    wait(page, "document.querySelector('#table-bubbles tbody td').innerText === '2'")
    page.select_option("#filter-cause", "barrier")
    wait(page, "document.querySelector('#filter-cause').value === 'barrier'")
    assert "c=barrier" in hash_of(page)


def test_search_finds_executions(page, address):
    go(page, address, view="timeline")
    page.keyboard.press("/")
    page.keyboard.type("s_barrier")
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('.status').innerText.includes('match')")
    assert page.locator("#detail strong").inner_text().startswith("s_barrier")


def test_two_timelines_share_one_zoom(page, address):
    go(page, address, view="compare", b="0/lockstep")
    wait(page, "tk.timelines.every((line) => line.linked && line.whole)")
    before = page.evaluate("tk.timelines[1].t1 - tk.timelines[1].t0")
    page.evaluate("tk.timelines[0].zoom(0.25)")
    assert page.evaluate("tk.timelines[1].t1 - tk.timelines[1].t0") < before
    assert page.locator("#table-compare tbody tr").count() > 5
    assert page.locator("#graph-difference").count() == 1


def test_the_dark_theme_is_kept(page, address):
    go(page, address, view="overview", theme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[data-action=theme]")
    wait(page, "document.documentElement.dataset.theme === 'dark'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.goto(f"{address}?again#a=0/pingpong")
    page.wait_for_selector("#content .view")
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_a_link_restores_the_view(page, browser, address):
    go(page, address, view="timeline", w="span", t="8100,8500", m="8200,8300")
    page.click("[data-action=link]")
    wait(page, "tk.copied")
    link = page.evaluate("tk.copied")
    other = browser.new_page()
    other.goto(link)
    other.wait_for_selector(".timeline[data-ready=all]")
    state = other.evaluate(STATE)
    other.close()
    assert (state["view"], state["w"], state["m"]) == ("timeline", "span", "8200,8300")
    assert [float(x) for x in state["t"].split(",")] == pytest.approx([8100, 8500], abs=1)


def test_a_bubble_is_handed_over_and_kept_in_the_link(page, address):
    go(page, address, view="bubbles", a="0/lockstep")
    start = page.locator("#table-bubbles tbody td").nth(1).inner_text()
    page.locator("#table-bubbles [data-goto]").first.click()
    wait(page, "document.querySelector('#detail')?.innerText.includes('bubble:')")
    assert f"{start} + " in page.locator("#detail").inner_text()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    wait(page, "document.querySelector('#detail')?.innerText.includes('bubble:')")
    assert f"{start} + " in page.locator("#detail").inner_text()
    page.locator("canvas.lanes").focus()
    page.keyboard.press("Escape")
    assert "bubble:" not in page.locator("#detail").inner_text()
    assert "u=" not in hash_of(page)


def test_compare_without_a_second_capture_offers_some(page, address):
    go(page, address, view="overview", a="0/lockstep")
    page.click("[data-tab=compare]")
    page.locator("[data-open='0/pingpong'][data-which=b]").click()
    page.wait_for_selector("#table-compare")
    assert "b=0/pingpong" in hash_of(page)


def test_isa_shows_only_lines_that_ran(page, address):
    go(page, address, view="isa", a="0/zyfa_pingpong_lean")
    wait(page, "tk.api && tk.api.getDisplayedRowCount() > 0")
    rows = page.evaluate("tk.api.getDisplayedRowCount()")
    page.click("#ran")
    wait(page, f"tk.api.getDisplayedRowCount() < {rows}")
    page.click("#ran")
    wait(page, f"tk.api.getDisplayedRowCount() === {rows}")


def test_ink_of_a_lane_is_its_share_whatever_the_screen(page, address):
    """Thin bars drawn at full height would make a pipe look busier on a wider screen."""
    go(page, address, view="timeline", a="0/zyfa_gap_exact")
    shares = []
    for width in (1280, 2400):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(1200)
        shares.append(
            page.evaluate(
                """() => {
        const line = tk.timelines[0], lane = line.tile.lanes.find((l) => l.group === "matrix");
        let sum = 0;
        for (let i = 0; i < lane.count; i++)
          sum += (lane.end[i] - lane.start[i]) * lane.fill[i] / 255;
        return sum; }"""
            )
        )
    assert shares[0] == pytest.approx(shares[1], rel=0.02)


def test_keys_before_the_page_has_started_do_not_lose_the_link(page, address):
    page.goto("about:blank")
    page.goto(f"{address}#view=overview&a=0/pingpong", wait_until="commit")
    for key in "2345234":
        page.keyboard.press(key)
    page.wait_for_selector("#content .view")
    assert "a=0/pingpong" in hash_of(page)
    page.keyboard.press("1")
    page.wait_for_selector("#tiles")


def test_a_selection_that_is_no_more_is_told(page, address):
    for wrong in ({"i": "99999999"}, {"u": "99999999"}):
        go(page, address, view="timeline", **wrong)
        wait(page, "document.querySelector('.status').innerText.includes('99999999')")


def test_figures_have_their_height_before_they_are_drawn(page, address):
    page.route("**/plotly*.js", lambda route: route.abort())
    page.goto("about:blank")
    page.goto(f"{address}#view=bubbles&a=0/lockstep")
    page.wait_for_selector("#table-bubbles")
    heights = page.evaluate("[...document.querySelectorAll('.figure')].map((x) => x.clientHeight)")
    assert len(heights) == 2
    assert min(heights) > 150
    page.errors.clear()  # of the script that was held back


def test_the_back_button_returns_to_the_view_before(page, address):
    go(page, address, view="overview")
    page.click("[data-tab=timeline]")
    page.wait_for_selector(".timeline[data-ready=all]")
    page.locator("canvas.lanes").focus()
    page.keyboard.press("w")
    page.click("[data-tab=isa]")
    page.wait_for_selector("#source")
    page.go_back()
    page.wait_for_selector(".timeline[data-ready=all]")
    page.go_back()
    page.wait_for_selector("#tiles")
    page.go_forward()
    page.wait_for_selector(".timeline[data-ready=all]")


def test_the_command_is_copied(page, address, samples):
    go(page, address, view="bubbles", w="span")
    page.click("[data-action=command]")
    wait(page, "tk.copied")
    assert page.evaluate("tk.copied") == f"tracekit bubbles {samples / 'pingpong'} --window span"


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_saves_a_png(page, address, shots, view):
    go(page, address, view=view, b="0/lockstep")
    page.wait_for_timeout(800)
    with page.expect_download() as download:
        page.click("[data-action=png]")
    path = shots / f"export-{view}.png"
    download.value.save_as(path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    assert width > 1000
    assert height > 100
    assert len(data) > 5000


def test_figures_save_as_svg_and_tables_as_csv(page, address, tmp_path):
    from xml.etree import ElementTree

    go(page, address, view="bubbles", a="0/lockstep")
    wait(page, "document.querySelectorAll('.js-plotly-plot').length === 2")
    with page.expect_download() as download:
        page.click("[data-action=svg]")
    download.value.save_as(tmp_path / "map.svg")
    assert ElementTree.parse(tmp_path / "map.svg").getroot().tag.endswith("svg")
    with page.expect_download() as download:
        page.click("#table-sites [data-csv]")
    download.value.save_as(tmp_path / "sites.csv")
    assert (tmp_path / "sites.csv").read_text().startswith("dispatch,cause,")


def test_a_broken_capture_says_why(page, serve, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "1_1_shader_engine_0_1.att").write_bytes(b"nothing of this kind" * 9)
    address = serve(tmp_path)
    go(page, address, view="overview", a="0/broken")
    message = page.locator(".failure .message").inner_text()
    assert "1_1_shader_engine_0_1.att" in message
    page.click(".failure [data-tab=open]")
    page.wait_for_selector("#table-captures")


def test_different_chips_are_refused_with_a_reason(page, serve, samples, tmp_path):
    shutil.copytree(samples / "pingpong", tmp_path / "one")
    shutil.copytree(samples / "pingpong", tmp_path / "two")
    meta = tmp_path / "two" / "meta.json"
    told = json.loads(meta.read_text())
    meta.write_text(meta.read_text().replace("gfx950", "gfx942"))
    assert "gfx950" in json.dumps(told)
    go(page, serve(tmp_path), view="compare", a="0/one", b="0/two")
    message = page.locator(".failure .message").inner_text()
    assert "gfx950" in message
    assert "gfx942" in message


def test_choosing_a_capture_opens_it(page, serve, samples):
    page.goto(serve(samples))
    page.wait_for_selector("#table-captures")
    page.locator("[data-open='0/lockstep'][data-which=a]").click()
    page.wait_for_selector("#tiles")
    assert "a=0/lockstep" in hash_of(page)


def test_an_unknown_window_is_told(page, address):
    go(page, address, view="overview", w="nonsense")
    assert "unknown window" in page.locator(".failure .message").inner_text()


def test_tabs_and_lanes_are_reached_by_the_keyboard(page, address):
    go(page, address, view="overview")
    page.keyboard.press("2")
    page.wait_for_selector(".timeline[data-ready=all]")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.className || document.activeElement.id"))
    assert {"lanes", "search", "window", "place"} <= reached
    page.locator("canvas.lanes").focus()
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()


ODD = {
    "no_wave": "no wave",
    "no_mfma": "no MFMA",
    "one_wave": "1 waves",
    "many_waves": "128 waves",
    "many_engines": "SE 31",
    "missing_source": "1 waves",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_states_are_designed(page, serve, shots, tmp_path, name):
    getattr(odd, name)(tmp_path / name)
    address = serve(tmp_path)
    for view in ("overview", "timeline", "bubbles", "isa"):
        go(page, address, view=view, a=f"0/{name}")
        page.wait_for_timeout(500)
        page.screenshot(path=shots / f"odd-{name}-{view}.png", full_page=True)
        text = page.locator("#content").inner_text()
        assert "internal error" not in text
        assert "NaN" not in text
        assert "undefined" not in text
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if view == "overview":
            assert ODD[name] in text


def test_a_missing_source_says_what_to_do(page, serve, tmp_path):
    odd.missing_source(tmp_path / "odd")
    go(page, serve(tmp_path), view="isa", a="0/odd", pc="1:0x1700")
    page.wait_for_selector("#source ol .note")
    text = page.locator("#source").inner_text()
    assert "/build/kernel.py:12" in text
    assert "--source-root" in text


def test_the_source_is_shown_with_its_callers(page, serve, tmp_path):
    folder = odd.missing_source(tmp_path / "odd")
    for name, text in (("kernel.py", "def inner(): ..."), ("main.py", "call inner here")):
        (tmp_path / name).write_text("\n" * 2 + "\n".join([text] * 30))
    code = folder / "code.json"
    code.write_text(code.read_text().replace("/build/", f"{tmp_path}/"))
    go(page, serve(tmp_path), view="isa", a="0/odd", pc="1:0x1700")
    page.wait_for_selector("#source .here")
    here = page.locator("#source .here").all_inner_texts()
    assert [line.split(maxsplit=1) for line in here] == [
        ["12", "def inner(): ..."],
        ["3", "call inner here"],
    ]


REAL = {
    "tinygrad_empty_gfx950": "no wave",
    "fp8_mla_no_mfma_gfx950": "no MFMA",
    "wave_gemm_bf16_gfx950": "32 streams",
    "gemm_bf16_gfx942": "gfx942",
    "ui_missing_waves": "wave files",
}


@pytest.mark.parametrize("name", REAL)
def test_real_captures_open(page, serve, captures, shots, name):
    address = serve(captures / name)
    page.goto(address)
    page.wait_for_selector("#content .view")
    if page.query_selector("#table-captures"):
        page.locator("[data-which=a]").first.click()
    page.wait_for_selector("#verdict")
    page.wait_for_timeout(500)
    page.screenshot(path=shots / f"real-{name}.png", full_page=True)
    page.click("[data-tab=timeline]")
    page.wait_for_selector(".timeline[data-ready=all], .failure .message")
    page.screenshot(path=shots / f"real-{name}-timeline.png", full_page=True)
    assert Path(shots / f"real-{name}.png").stat().st_size > 10_000


def test_a_real_capture_is_driven(page, serve, captures, shots):
    """From the list to a busy instruction, its line, a bubble, and what the change did."""
    names = [f"aiter_fp4_gemm_gfx950_{when}" for when in ("before", "after")]
    address = serve(*(captures / name for name in names))
    page.goto(f"{address}#view=overview&a=0/att")
    page.wait_for_selector("#tiles")
    before = page.locator("#tiles").inner_text()
    page.fill("#window", "span")
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('#tiles').innerText.includes('window span')")
    assert page.locator("#tiles").inner_text() != before
    page.click("[data-tab=timeline]")
    page.wait_for_selector(".timeline[data-ready=all]")
    lanes = page.locator("canvas.lanes").first
    lanes.focus()
    whole = span(page)
    for _ in range(16):
        page.keyboard.press("w")
    lanes.hover(position={"x": 600, "y": 60})
    page.mouse.wheel(0, -100)
    wait(page, f"{LINE}.t1 - {LINE}.t0 < {whole} / 200 && {LINE}.tile.exact")
    page.wait_for_timeout(300)
    if spot(page, "matrix") is None:  # nothing runs just there
        page.keyboard.press("n")
        wait(page, f"{LINE}.told !== undefined && {LINE}.tile.exact")
        page.wait_for_timeout(300)
    click(page, "matrix")
    page.wait_for_selector("#to-isa")
    text = page.locator("#detail strong").inner_text()
    assert text.startswith("v_mfma")
    page.click("#to-isa")
    page.wait_for_selector("#to-timeline")
    assert text in page.locator("#source h3").inner_text()
    page.click("#to-timeline")
    page.wait_for_selector("#to-isa")
    assert page.locator("#detail strong").inner_text() == text
    page.locator("canvas.lanes").first.focus()
    page.keyboard.press("n")
    wait(page, "document.querySelector('#detail').innerText.includes('bubble:')")
    page.screenshot(path=shots / "real-aiter-bubble.png", full_page=True)
    page.goto(f"{address}?again#view=compare&a=0/att&b=1/att&theme=dark")
    page.wait_for_selector("#table-compare")
    wait(page, "tk.timelines.length === 2 && tk.timelines.every((line) => line.whole)")
    page.wait_for_timeout(1500)
    page.screenshot(path=shots / "real-aiter-compare.png", full_page=True)
    assert page.locator("#table-compare tbody tr").count() > 5
    shown = page.locator("#content").inner_text()
    assert all(name in shown for name in names)
