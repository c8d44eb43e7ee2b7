"""The file of a digest: a line with the version, a line of JSON, then compressed members.

::

    tracekit digest 1\\n
    {"members": {"pages": [packed, unpacked], ...}, ...}\\n
    xz xz ...

``packed`` and ``unpacked`` are bytes; members follow each other in the order of the second line.
Each is JSON in an .xz stream, which carries a checksum of its own.  Nothing in it is code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracekit.capture.kinds import DIGEST
from tracekit.errors import FormatError

VERSION = 1
#: Bytes of a file, of its second line and of an unpacked member beyond which it is none of ours,
#: and what unpacking may take beside the member.
LARGEST, LONGEST, UNPACKED, MEMORY = 64 << 20, 1 << 20, 256 << 20, 128 << 20


def is_digest(path: str | Path) -> bool:
    """Whether ``path`` is a file that is, or by its name should be, a digest."""
    file = Path(path)
    if not file.is_file():
        return False
    if file.suffix.lower() == ".tkd":
        return True
    try:
        with file.open("rb") as opened:
            return opened.read(len(DIGEST)) == DIGEST
    except OSError:
        return False


def dumped(content: object) -> bytes:
    """``content`` as JSON without blanks."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def compressed(content: bytes) -> bytes:
    """One member."""
    import lzma

    return lzma.compress(content, preset=6 | lzma.PRESET_EXTREME)


def assembled(head: Mapping[str, object], members: Mapping[str, tuple[bytes, int]]) -> bytes:
    """The file of ``members``: name -> (compressed, bytes before)."""
    sizes = {name: [len(data), unpacked] for name, (data, unpacked) in members.items()}
    lines = b"%s%d\n%s\n" % (DIGEST, VERSION, dumped({**head, "members": sizes}))
    return lines + b"".join(data for data, _ in members.values())


@dataclass(frozen=True)
class Container:
    """An opened file: ``head`` is its second line; members are unpacked when they are read."""

    path: Path
    content: bytes
    head: dict[str, Any]
    places: dict[str, tuple[int, int, int]]

    @classmethod
    def open(cls, path: str | Path) -> Container:
        """Raises FormatError for what is no digest, is cut off, or of another version."""
        file = Path(path)
        content = _content(file)
        if not content.startswith(DIGEST):
            raise FormatError(file, f'no digest: expected "{DIGEST.decode()}"', offset=0)
        first = content.find(b"\n", len(DIGEST), len(DIGEST) + 20)
        version = content[len(DIGEST) : max(first, 0)]
        if not version.isdigit():
            raise FormatError(file, "no digest: expected its version", offset=len(DIGEST))
        if int(version) != VERSION:
            raise FormatError(
                file, f"a digest of version {int(version)}, and this tracekit reads {VERSION}: "
                "save it again", offset=len(DIGEST),
            )  # fmt: skip
        start = first + 1
        end = content.find(b"\n", start, start + LONGEST)
        if end < 0:
            raise FormatError(file, "cut off: expected a line of JSON", offset=start)
        head = _parsed(file, content[start:end], start)
        try:
            sizes = {str(k): (int(v[0]), int(v[1])) for k, v in head["members"].items()}
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise FormatError(file, "expected the sizes of members", offset=start) from None
        return cls(file, content, head, _places(file, sizes, end + 1, len(content)))

    def read(self, name: str) -> Any:
        """The content of a member; raises FormatError where it is damaged or too large."""
        import lzma

        if name not in self.places:
            raise FormatError(self.path, f"holds no member {name!r}")
        offset, packed, unpacked = self.places[name]
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)
        try:
            # One byte more than is said: what unpacks to more than that is not read on.
            data = decoder.decompress(self.content[offset : offset + packed], unpacked + 1)
        except lzma.LZMAError as error:
            what = str(error)[:1].lower() + str(error)[1:]
            raise FormatError(self.path, f"member {name}: {what}", offset=offset) from None
        if len(data) != unpacked or not decoder.eof:
            told = f"member {name}: expected {unpacked:,} bytes when unpacked"
            raise FormatError(self.path, told, offset=offset)
        return _parsed(self.path, data, offset)


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise FormatError(file, f"{size:,} bytes: a digest has at most {LARGEST:,}")
        return file.read_bytes()
    except OSError as error:
        raise FormatError(file, error.strerror or "cannot be read") from None


def _parsed(file: Path, text: bytes, offset: int) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(file, "expected JSON", offset=offset) from None
    if not isinstance(found, dict):
        raise FormatError(file, "expected a JSON object", offset=offset)
    return found


def _places(
    file: Path, sizes: Mapping[str, tuple[int, int]], at: int, end: int
) -> dict[str, tuple[int, int, int]]:
    """Offset, packed and unpacked size of each member."""
    found = {}
    for name, (packed, unpacked) in sizes.items():
        if packed < 0 or not 0 <= unpacked <= UNPACKED:
            raise FormatError(
                file, f"member {name}: at most {UNPACKED:,} bytes unpacked", offset=at
            )
        if at + packed > end:
            told = f"cut off: member {name} has {packed:,} bytes, {max(end - at, 0):,} are there"
            raise FormatError(file, told, offset=at)
        found[name] = (at, packed, unpacked)
        at += packed
    return found
