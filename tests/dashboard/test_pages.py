"""Views in Chromium, what leads from one to the next, exports; no console error on the way."""

import shutil

import pytest

from tests.support import planned
from tests.support.driving import STATE, VIEWS, go, hash_of, wait
from tests.support.planned import Plan, lines


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


def test_changing_the_window_changes_the_tiles(page, address):
    go(page, address, view="overview")
    before = page.locator("#tiles").inner_text()
    assert "window steady" in before
    page.fill("#window", "span")
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('#tiles').innerText.includes('window span')")
    assert page.locator("#tiles").inner_text() != before
    assert "w=span" in hash_of(page)


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


def test_keys_before_the_page_has_started_do_not_lose_the_link(page, address):
    page.goto("about:blank")
    page.goto(f"{address}#view=overview&a=0/pingpong", wait_until="commit")
    for key in "2345234":
        page.keyboard.press(key)
    page.wait_for_selector("#content .view")
    assert "a=0/pingpong" in hash_of(page)
    page.keyboard.press("1")
    page.wait_for_selector("#tiles")


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
    assert "lockstep (synthetic)" in (tmp_path / "map.svg").read_text(), "it says what it is of"
    with page.expect_download() as download:
        page.click("#table-places [data-csv]")
    download.value.save_as(tmp_path / "places.csv")
    assert (tmp_path / "places.csv").read_text().startswith("capture,dispatch,place,")


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
    # Nothing in this kernel tells the chip, so that meta.json does.
    kernel = lines("s_mov_b32 s0, s1", "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000).at(6500, 0).at(6504, 1)
    planned.write(tmp_path / "made", kernel, [plan], arch="gfx942").rename(tmp_path / "two")
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
