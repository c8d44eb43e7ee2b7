"""The bar: on stderr of a terminal, for work that takes long, and nowhere else."""

import io
import time
from pathlib import Path

import pytest

import tracekit
from tracekit.commands import progress

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "pingpong"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def stderr(monkeypatch):
    def install(terminal):
        made = Terminal() if terminal else io.StringIO()
        monkeypatch.setattr("sys.stderr", made)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(progress, "DELAY", 0)
        return made

    return install


def work(quiet=False):
    capture = tracekit.open(SAMPLE)
    with progress.Progress(capture, None, quiet) as shown:
        if shown.wanted:
            shown.timer.join()  # the bar stands before the work begins
        capture.timeline(progress=shown.advance)
    return shown


def test_a_terminal_gets_a_bar(stderr):
    out = stderr(terminal=True)
    shown = work()
    assert shown.done == shown.total > 0
    assert "decoding 1 stream" in out.getvalue()


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_a_pipe_and_quiet_get_none(stderr, terminal, quiet):
    out = stderr(terminal)
    work(quiet)
    assert out.getvalue() == ""


def test_a_dumb_terminal_gets_none(stderr, monkeypatch):
    out = stderr(terminal=True)
    monkeypatch.setenv("TERM", "dumb")
    work()
    assert out.getvalue() == ""


def test_short_work_gets_none(stderr, monkeypatch):
    out = stderr(terminal=True)
    monkeypatch.setattr(progress, "DELAY", 1000)
    with progress.Progress(tracekit.open(SAMPLE), None, False):
        time.sleep(0)
    assert out.getvalue() == ""


def test_the_bar_goes_when_the_work_fails(stderr):
    stderr(terminal=True)
    capture = tracekit.open(SAMPLE)
    shown = progress.Progress(capture, None, False)
    shown.__enter__()
    shown.timer.join()
    shown.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert shown.ended
    assert not shown.bar.live.is_started
