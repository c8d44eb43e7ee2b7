"""What must be refused: other hosts and sites, paths that lead out, large requests."""

import os
import re
import shutil
from pathlib import Path

import pytest

from dashboard.guard import MOST_BODY, MOST_QUERY
from dashboard.library import Library, Refused
from dashboard.serve import HOST, tunnel
from dashboard.service import Service

HOME = {"Host": "127.0.0.1:8050"}
CODE = Path(__file__).parents[2] / "dashboard"


@pytest.mark.parametrize("host", ["localhost:9", "127.0.0.1", "[::1]:80"])
def test_local_hosts_are_served(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "10.0.0.1", "]["])
def test_other_hosts_are_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 403
    assert client.get("/tk/names?capture=0/pingpong", headers={"Host": host}).status_code == 403


def test_requests_of_other_sites_are_refused(client):
    path = "/tk/names?capture=0/pingpong"
    assert client.get(path, headers=HOME | {"Origin": "http://evil.example"}).status_code == 403
    assert client.get(path, headers=HOME | {"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get(path, headers=HOME | {"Origin": "http://localhost:1"}).status_code == 200


@pytest.mark.parametrize(
    "key",
    ["0/../README.md", "0/pingpong/../../README.md", "/etc/passwd", "../traces", "0//etc", "1/x",
     "0/%2e%2e", "", "0/pingpong\x00", "9/pingpong"],
)  # fmt: skip
def test_keys_that_are_not_on_offer_are_refused(client, key):
    answer = client.get("/tk/lanes", query_string={"capture": key}, headers=HOME)
    assert answer.status_code == 400
    assert "no capture" in answer.get_json()["error"]


def test_links_that_lead_out_are_left_out(tmp_path, samples):
    root, secret = tmp_path / "root", tmp_path / "secret"
    shutil.copytree(samples / "pingpong", root / "own")
    shutil.copytree(samples / "lockstep", secret)
    os.symlink(secret, root / "link")
    library = Library([root])
    assert list(library.entries) == ["0/own"]
    assert any("leads outside" in note for note in library.notes)


def test_a_capture_that_becomes_a_link_is_refused(tmp_path, samples):
    root, secret = tmp_path / "root", tmp_path / "secret"
    shutil.copytree(samples / "pingpong", root / "own")
    shutil.copytree(samples / "lockstep", secret)
    service = Service(Library([root]))
    shutil.rmtree(root / "own")
    os.symlink(secret, root / "own")
    with pytest.raises(Refused, match="leads out"):
        service.timeline("0/own")


def test_a_stream_that_is_a_link_is_left_out(tmp_path, samples):
    root = tmp_path / "root" / "own"
    shutil.copytree(samples / "pingpong", root)
    (stream,) = root.glob("*.att")
    outside = shutil.move(stream, tmp_path / stream.name)
    os.symlink(outside, stream)
    library = Library([tmp_path / "root"])
    assert not library.entries
    assert any("leads outside" in note for note in library.notes)


def test_large_requests_are_refused(client):
    body = b"x" * (MOST_BODY + 1)
    assert client.post("/_dash-update-component", data=body, headers=HOME).status_code == 413
    long = client.get(f"/tk/names?capture={'x' * MOST_QUERY}", headers=HOME)
    assert long.status_code == 414


@pytest.mark.parametrize(
    "query",
    [{"from": "nan"}, {"from": "x"}, {"from": "5", "to": "5"}, {"to": "1e40"},
     {"window": "y" * 600}, {"from": "9", "to": "1"}],
)  # fmt: skip
def test_bad_parameters_are_told(client, query):
    answer = client.get("/tk/lanes", query_string={"capture": "0/pingpong", **query}, headers=HOME)
    assert answer.status_code == 400
    assert answer.get_json()["error"]


def test_the_policy_allows_this_server_only(client):
    policy = client.get("/", headers=HOME).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_nothing_is_loaded_from_elsewhere(client):
    text = client.get("/", headers=HOME).get_data(as_text=True)
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", text)


def test_no_eval_and_no_pickle_in_the_code():
    for path in [*CODE.rglob("*.py"), *CODE.rglob("*.js")]:
        assert not re.search(
            r"\beval\s*\(|\bexec\s*\(|pickle|new Function|innerHTML|shell=True", path.read_text()
        ), path


def test_the_tunnel_line():
    assert HOST == "127.0.0.1"
    assert tunnel(80, {}) is None
    line = tunnel(8050, {"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 2222", "USER": "me"})
    assert line.startswith("ssh -N -L 8050:127.0.0.1:8050 -p 2222 me@")
