"""Odd states and real captures in Chromium: nothing empty, clipped or unexplained."""

from pathlib import Path

import pytest

from tests.support import odd_captures as odd
from tests.support.driving import LINE, click, go, span, spot, wait

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
