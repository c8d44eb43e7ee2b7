"""Start the server: 127.0.0.1, a free port, and how to reach it from elsewhere."""

from __future__ import annotations

import getpass
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from dash import Dash
from werkzeug.serving import BaseWSGIServer, make_server

HOST = "127.0.0.1"
#: What ends the server: Ctrl-C, and what service managers and ``kill`` send.
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def tunnel(port: int, environment: dict[str, str]) -> str | None:
    """The ``ssh -L`` line for a remote session, None for a local one.

    SSH_CONNECTION is "client port server port" (sshd(8)).
    """
    parts = environment.get("SSH_CONNECTION", "").split()
    if len(parts) != 4:
        return None
    login = environment.get("USER") or getpass.getuser()
    there = f"-p {parts[3]} " if parts[3] != "22" else ""
    return f"ssh -N -L {port}:{HOST}:{port} {there}{login}@{socket.gethostname()}"


def serve(app: Dash, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Serve ``app`` until SIGINT or SIGTERM; ``port`` 0 takes a free one (OSError when taken).

    ``say`` gets the address; that it stopped is one line on stderr.
    """
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    listening = socket.create_server((HOST, port))  # werkzeug exits where the port is taken
    server = make_server(HOST, port, app.server, threaded=True, fd=listening.fileno())
    taken = listening.getsockname()[1]
    url = f"http://{HOST}:{taken}/"
    with _ended_by_signals(server):  # before the address is told: then it can be stopped
        say(url)
        line = tunnel(taken, dict(os.environ))
        if line is not None:
            say(f"from your own machine: {line}   then open the address there")
        shown = sys.platform in ("darwin", "win32") or bool(
            os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        )
        if browser and shown and line is None:
            webbrowser.open(url)
        server.serve_forever()
    print("stopped", file=sys.stderr)


@contextmanager
def _ended_by_signals(server: BaseWSGIServer) -> Iterator[None]:
    """Handlers that end ``server``, also where SIGINT came ignored: a script's ``&`` does that."""

    def stop(_: int, __: FrameType | None) -> None:
        # shutdown() waits for the loop that this handler interrupts.
        threading.Thread(target=server.shutdown, daemon=True).start()

    before = {each: signal.signal(each, stop) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
