"""The dashboard with a million instructions in headless Chromium: paint, zoom, memory.

    python benchmarks/dashboard.py [--instructions 1000000]

Encodes launches of a sample's kernel (traces/pingpong) one after the other until there are
so many instructions; nothing of it is kept.  Reports the first paint of the timeline once
the capture is decoded, the time of zoom steps (key to drawn pixels, and with the finer data
of the server), memory of the tab, and how the server's memory grows with the instructions.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tracekit.sqtt.wave_writer import Executed, write_wave  # noqa: E402
from tracekit.sqtt.writer import StreamWriter  # noqa: E402
from traces import generate  # noqa: E402

SERVE = """
import sys, threading
from pathlib import Path
from werkzeug.serving import make_server, WSGIRequestHandler
from dashboard.app import create
class Quiet(WSGIRequestHandler):
    def log_request(self, *_): pass
app = create([Path(sys.argv[1])])
server = make_server("127.0.0.1", 0, app.server, threaded=True, request_handler=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
"""
ZOOMS = 24


def encode(folder: Path, instructions: int) -> int:
    """A capture of at least so many instructions; returns how many it has."""
    sample = generate.build("pingpong")
    first = min(wave.begin for wave in sample.waves)
    last = max(wave.steps[-1].record.time for wave in sample.waves)
    each = sum(len(wave.steps) for wave in sample.waves)
    writer = StreamWriter(target_cu=generate.CU, se=generate.SE, clock=generate.CLOCKS["pingpong"])
    writer.code_object_load(
        2400, generate.CODE_OBJECT, generate.LOAD_ADDRESS, generate.LOAD_SIZE, from_start=True
    )
    writer.dispatch(first - 40, generate.LOAD_ADDRESS + generate.ENTRY, (64, 1, 1))
    launches = -(-instructions // each)
    for launch in range(launches):
        by = launch * (last - first + 400)
        for wave in sample.waves:
            records = [_later(step.record, by) for step in wave.steps]
            write_wave(writer, wave.simd, wave.slot, wave.begin + by, records)
    folder.mkdir()
    (folder / "1000_1_shader_engine_0_1.att").write_bytes(writer.finish())
    (folder / "code.json").write_text(generate.listing(sample))
    (folder / "meta.json").write_text('{"arch": "gfx950", "synthetic": true}')
    return launches * each


def _later(record: Executed, by: int) -> Executed:
    """The same instruction, so many cycles later."""
    stall = None if record.stall is None else record.stall + by
    release = None if record.release is None else record.release + by
    return record._replace(time=record.time + by, stall=stall, release=release)


def resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    text = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(text.split("VmRSS:")[1].split()[0])


def private(pid: int) -> int:
    """Bytes of memory that only this process holds: Chromium's own code is shared."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def measure(folder: Path, chromium: str) -> dict[str, float]:
    """Milliseconds and bytes of one capture."""
    from playwright.sync_api import sync_playwright

    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        before = resident(server.pid)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
            )
            page = browser.new_page(viewport={"width": 1920, "height": 1080})
            page.set_default_timeout(600_000)
            page.goto(address)
            page.wait_for_selector("#content .view")
            page.click("[data-tab=timeline]")
            page.wait_for_selector(".timeline[data-ready=all]")
            found = {"first open": page.evaluate("tk.timelines[0].firstPaint")}
            page.click("[data-tab=open]")
            page.wait_for_selector("#table-captures")
            page.click("[data-tab=timeline]")
            page.wait_for_selector(".timeline[data-ready=all]")
            found["first paint"] = page.evaluate("tk.timelines[0].firstPaint")
            steps = page.evaluate(_ZOOM, ZOOMS)
            found["zoom step"] = statistics.median(step[0] for step in steps)
            found["slowest zoom step"] = max(step[0] for step in steps)
            found["with finer data"] = statistics.median(step[1] for step in steps)
            found["slowest with finer data"] = max(step[1] for step in steps)
            page.evaluate("gc()")
            found["tab heap"] = page.evaluate("performance.memory.usedJSHeapSize")
            session = browser.new_browser_cdp_session()
            told = session.send("SystemInfo.getProcessInfo")["processInfo"]
            tabs = [private(p["id"]) for p in told if p["type"] == "renderer"]
            found["tab, private memory"] = max(tabs)
            found["server"] = resident(server.pid) - before
            browser.close()
        return found
    finally:
        server.kill()
        server.wait()


# Zooms in at half of the lanes; per step: ms until drawn, ms until drawn with the data of
# the server for this zoom.
_ZOOM = """async (count) => {
  const line = tk.timelines[0], steps = [];
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    if (i === count / 2) line.fit(line.whole.begin, line.whole.end); else line.zoom(0.6, 700);
    await frame();
    const drawn = performance.now() - began, asked = line.timer;
    await new Promise((done) => { const old = line.refine.bind(line);
      clearTimeout(asked); old().then(done); });
    await frame();
    steps.push([drawn, performance.now() - began]);
  }
  return steps; }"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instructions", type=int, default=1_000_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for part in (4, 2, 1):
            folder = Path(scratch) / str(part)
            many = encode(folder, chosen.instructions // part)
            found = measure(folder, chosen.chromium)
            print(f"{many:,} instructions")
            for name, value in found.items():
                unit = f"{value / 1e6:8.1f} MB" if value > 1e5 else f"{value:8.1f} ms"
                print(f"  {name:24} {unit}", flush=True)
            print(f"  server per instruction   {found['server'] / many:8.1f} bytes")


if __name__ == "__main__":
    main()
