"""Folders that nothing leaves."""

import pytest

from tracekit.commands.agents.folders import Folders, Refused


@pytest.fixture
def place(tmp_path):
    (tmp_path / "inside" / "run").mkdir(parents=True)
    (tmp_path / "inside" / "run" / "a.att").write_bytes(b"x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.att").write_bytes(b"x")
    return tmp_path


def test_paths_inside_are_resolved(place):
    folders = Folders([place / "inside"])
    run = place / "inside" / "run"
    assert folders.path("run") == run
    assert folders.path(str(run / "a.att")) == run / "a.att"
    assert folders.path("run/../run/./a.att") == run / "a.att"


@pytest.mark.parametrize("given", ["../outside", "/etc/passwd", "run/../../outside/b.att", "/"])
def test_paths_outside_are_refused(place, given):
    with pytest.raises(Refused, match="outside of the folders"):
        Folders([place / "inside"]).path(given)


def test_a_folder_with_the_same_beginning_is_outside(place):
    (place / "inside2").mkdir()
    with pytest.raises(Refused, match="outside of the folders"):
        Folders([place / "inside"]).path(str(place / "inside2"))


def test_links_to_outside_are_refused(place):
    folders = Folders([place / "inside"])
    (place / "inside" / "link").symlink_to(place / "outside")
    (place / "inside" / "run" / "code.json").symlink_to(place / "outside" / "b.att")
    with pytest.raises(Refused, match="outside of the folders"):
        folders.path("link")
    with pytest.raises(Refused, match=r"code\.json links to outside"):
        folders.path("run")


def test_a_link_to_inside_is_followed(place):
    (place / "inside" / "link").symlink_to(place / "inside" / "run")
    assert Folders([place / "inside"]).path("link") == place / "inside" / "run"


@pytest.mark.parametrize("given", ["", "a\0b"])
def test_what_is_no_path_is_refused(place, given):
    with pytest.raises(Refused, match="no path"):
        Folders([place / "inside"]).path(given)


def test_what_is_not_there_is_said_to_be_not_there(place):
    with pytest.raises(Refused, match="not there"):
        Folders([place / "inside"]).path("none")
