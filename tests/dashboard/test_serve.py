"""A running dashboard ends when it is told to, however it was started."""

import signal
import subprocess
import sys
import urllib.request

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def started(samples, disposition):
    """A dashboard in a process that inherits ``disposition`` of SIGINT, and its address."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tracekit", "dashboard", str(samples), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, disposition),
    )
    return server, server.stdout.readline().strip()


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "disposition", [signal.SIG_IGN, signal.SIG_DFL], ids=["SIGINT ignored", "SIGINT default"]
)
def test_each_signal_ends_it_with_one_line(samples, disposition, number):
    server, address = started(samples, disposition)
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
        server.send_signal(number)
        _, told = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert (server.returncode, told) == (0, "stopped\n")


@posix
def test_a_signal_as_soon_as_the_address_is_told_ends_it(samples):
    server, _ = started(samples, signal.SIG_IGN)
    try:
        server.send_signal(signal.SIGINT)
        _, told = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert (server.returncode, told) == (0, "stopped\n")
