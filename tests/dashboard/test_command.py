"""``tracekit dashboard``: what it refuses to start with, in one line."""

import socket

import pytest

from tracekit.cli import main


def told(capsys, *arguments):
    code = main(["dashboard", *map(str, arguments), "--no-browser"])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return code, lines[0]


def test_a_file_that_is_no_capture(tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    code, line = told(capsys, path)
    assert code == 1
    assert "notes.txt" in line


def test_a_port_that_is_taken(samples, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, line = told(capsys, samples, "--port", port)
    assert code == 1
    assert f"port {port}: " in line


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_port_that_is_none(samples, capsys, port):
    assert main(["dashboard", str(samples), "--port", port]) == 2
    assert "port" in capsys.readouterr().err
