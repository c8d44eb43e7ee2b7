"""The timeline in Chromium: zoom, measure, select, step, search."""

import re

import pytest

from tests.support.driving import LINE, click, go, hash_of, span, wait


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


def test_a_range_becomes_the_window(page, address):
    go(page, address, view="timeline", m="2000,3000")
    page.click("[data-do=window]")
    page.click("[data-tab=overview]")
    page.wait_for_selector("#tiles")
    assert "of 1,000 cycles, window 2000:3000" in page.locator("#tiles").inner_text()


def test_a_bubble_is_told_and_stepped_through(page, address, service):
    go(page, address, view="timeline", a="0/lockstep")
    rows = service.analysis("0/lockstep", "steady").bubbles.rows
    first = rows[rows["start"] >= 0].sort_values("start").iloc[0]
    page.keyboard.press("n")
    wait(page, "document.querySelector('#detail').innerText.includes('bubble:')")
    text = page.locator("#detail").inner_text()
    assert first["cause"] in text
    assert f"{first['start']:,} + {first['cycles']:,} cycles" in text


def test_a_clicked_bubble_is_told(page, address, service):
    rows = service.analysis("0/lockstep", "steady").bubbles.rows
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


def test_a_selection_that_is_no_more_is_told(page, address):
    for wrong in ({"i": "99999999"}, {"u": "99999999"}):
        go(page, address, view="timeline", **wrong)
        wait(page, "document.querySelector('.status').innerText.includes('99999999')")


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
