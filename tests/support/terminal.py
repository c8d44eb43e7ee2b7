"""Commands in a pseudo-terminal of a given width."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

_SCRIPT = """
import sys
from tracekit.cli import main
for line in {lines!r}:
    print("$ " + " ".join(line), flush=True)
    main(line)
    sys.stdout.flush()
"""


def shown(lines, columns, folder):
    """What ``tracekit LINE...`` shows for each line: (line, its output) in order."""
    near, far = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"TERM": "dumb", "XDG_CACHE_HOME": str(folder), "PYTHONUTF8": "1"}
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT.format(lines=[list(map(str, line)) for line in lines])],
        stdout=far, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    os.close(far)
    pieces = []
    while True:
        try:
            piece = os.read(near, 65536)
        except OSError:  # Linux says so where the other end is closed.
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(near)
    assert process.wait() == 0
    text = b"".join(pieces).decode().replace("\r\n", "\n")
    parts = text.removeprefix("$ ").split("\n$ ")
    return list(zip(lines, (part.split("\n", 1)[1] for part in parts), strict=True))
