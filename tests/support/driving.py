"""What tests do with a page: open a view by its link, wait, find what can be clicked."""

import time
from urllib.parse import urlencode

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
