"""The file of a digest: bounded, checked, and nothing in it is code."""

import pytest

from tracekit.digest import container
from tracekit.digest.container import Container, assembled, compressed, dumped, is_digest
from tracekit.errors import FormatError


def written(tmp_path, members):
    path = tmp_path / "a.tkd"
    path.write_bytes(assembled({"note": "é"}, members))
    return path


def member(value):
    raw = dumped(value)
    return compressed(raw), len(raw)


def test_members_come_back(tmp_path):
    path = written(tmp_path, {"one": member({"a": [1, 2.5, None]}), "two": member({"b": "ü"})})
    found = Container.open(path)
    assert found.head["note"] == "é"
    assert found.read("two") == {"b": "ü"}
    assert found.read("one") == {"a": [1, 2.5, None]}
    with pytest.raises(FormatError, match="holds no member 'three'"):
        found.read("three")


def test_a_member_that_unpacks_to_more_than_it_says_is_not_unpacked(tmp_path):
    data = compressed(b"[" + b" " * (32 << 20) + b"]")
    assert len(data) < 10_000
    path = written(tmp_path, {"one": (data, 1000)})
    with pytest.raises(FormatError, match=r"byte 0x.*expected 1,000 bytes"):
        Container.open(path).read("one")


def test_a_member_that_says_too_much_is_not_opened(tmp_path):
    path = written(tmp_path, {"one": (b"", container.UNPACKED + 1)})
    with pytest.raises(FormatError, match="bytes unpacked"):
        Container.open(path)


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.tkd"
    with path.open("wb") as file:
        file.truncate(container.LARGEST + 1)
    with pytest.raises(FormatError, match=f"at most {container.LARGEST:,}"):
        Container.open(path)


@pytest.mark.parametrize("text", [b"not json", b"[1]", b"[" * 100_000])
def test_a_member_that_is_no_object_is_refused(tmp_path, text):
    path = written(tmp_path, {"one": (compressed(text), len(text))})
    with pytest.raises(FormatError, match=r"byte 0x.*expected"):
        Container.open(path).read("one")


def test_a_digest_is_known_by_its_name_or_its_first_bytes(tmp_path):
    path = written(tmp_path, {})
    other = tmp_path / "renamed"
    other.write_bytes(path.read_bytes())
    plain = tmp_path / "plain"
    plain.write_bytes(b"text")
    assert is_digest(path)
    assert is_digest(other)
    assert not is_digest(plain)
    assert not is_digest(tmp_path)
    assert not is_digest(tmp_path / "none")
