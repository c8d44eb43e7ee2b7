"""Sheets in 50 lines of text, as markdown and as HTML."""

from dataclasses import replace

from tracekit.present.explained.html import html
from tracekit.present.explained.sheet import CAUSES_SHOWN, CHANGES_SHOWN, DETAILS, Row, Sheet
from tracekit.present.explained.text import LINES, markdown, text

WHERE = ("0x10 → 0x20",) * DETAILS
ROW = Row("wait <for> memory", "25.0 %", "26.5 %", "1,852", "1,000", WHERE, 0.2)
FULL = Sheet(
    verdict="quality: usable (planted)",
    headline="matrix pipe busy 28.6 %",
    facts=("a fact",) * 6,
    heading="why idle, of idle",
    rows=(ROW,) * CAUSES_SHOWN,
    rest="5 more causes",
    gains=("a replay",) * 2,
    advice=("do this",) * 10,
    changed=(),
    others=("another kernel",) * 40,
    busy=0.286,
)
CHANGE = ("s_nop", "8", "0", "-8.0", "-9.0 to -7.0", "shrank")


def test_a_full_page_has_50_lines_and_says_what_it_leaves_out():
    found = text(FULL)
    assert len(found.splitlines()) == LINES
    assert "more kernels in --json" in found


def test_a_full_page_with_changes_has_50_lines_too():
    rows = (replace(ROW, details=ROW.details[:1]),) * CAUSES_SHOWN
    full = replace(FULL, rows=rows, changed=(CHANGE,) * CHANGES_SHOWN, others=())
    assert len(text(full).splitlines()) <= LINES


def test_the_verdict_stands_first_and_a_good_one_nowhere():
    assert text(FULL).startswith("quality: usable")
    assert text(replace(FULL, verdict="")).startswith("matrix pipe busy")


def test_markdown_escapes_what_would_end_a_cell():
    found = markdown(replace(FULL, rows=(replace(ROW, title="a | b"),)))
    assert "a \\| b" in found


def test_html_escapes_text_and_draws_the_window():
    found = html("title", [FULL])
    assert "wait &lt;for&gt; memory" in found
    assert found.count("<rect") == 1 + CAUSES_SHOWN
