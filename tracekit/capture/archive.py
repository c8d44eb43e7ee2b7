"""Captures inside an archive (.zip, .tar, .tar.gz, .tar.zst), read without unpacking to disk,
and streams that are compressed with gzip.

The members that a capture can consist of are read into memory, within limits: an archive
of a few kilobytes may claim to hold terabytes.  ``MemberPath`` then offers what the rest of
this room uses of ``pathlib.Path``.
"""

from __future__ import annotations

import gzip
import io
import os
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tracekit.errors import FormatError

#: Bytes that the members of one archive may unpack to (TRACEKIT_ARCHIVE_LIMIT overrides).
DEFAULT_LIMIT = 4 << 30
#: Members that one archive may have.
MOST_MEMBERS = 200_000
#: What a capture can consist of; other members are skipped.
SUFFIXES = (".att", ".att.gz", ".json", ".csv", ".out", ".co", ".hsaco", ".db")

_ZIP, _GZIP, _ZSTD = b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_TAR_MAGIC_AT = 257


@dataclass
class _Archive:
    path: Path
    files: dict[str, bytes] = field(default_factory=dict)
    folders: dict[str, set[str]] = field(default_factory=lambda: {"": set()})
    limit: int = DEFAULT_LIMIT
    used: int = 0
    links: list[str] = field(default_factory=list)

    def take(self, name: str, size: int, file: IO[bytes]) -> None:
        """Read a member, never more than its size and the limit allow."""
        clean = posixpath.normpath("/" + name).lstrip("/")
        if not clean.lower().endswith(SUFFIXES):
            return
        if size > self.limit - self.used:
            raise self.bomb()
        # A zip's directory may lie about the size: read one byte more than it says.
        data = file.read(size + 1)[: size + 1]
        if len(data) > size:
            raise FormatError(self.path, f"{clean} is larger than the archive says")
        self.used += len(data)
        self.files[clean] = data
        while clean:
            parent = posixpath.dirname(clean)
            self.folders.setdefault(parent, set()).add(posixpath.basename(clean))
            clean = parent

    def bomb(self) -> FormatError:
        return FormatError(
            self.path,
            f"unpacks to more than {self.limit:,} bytes; unpack it yourself or set "
            "TRACEKIT_ARCHIVE_LIMIT (bytes)",
        )


@dataclass(frozen=True, order=True)
class MemberPath:
    """A file or folder of an archive, used like a ``pathlib.Path`` for reading."""

    inside: str
    archive: _Archive = field(compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.inside, id(self.archive)))

    def __str__(self) -> str:
        return f"{self.archive.path}:{self.inside}" if self.inside else str(self.archive.path)

    @property
    def name(self) -> str:
        return posixpath.basename(self.inside) or self.archive.path.name

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.inside)[1]

    @property
    def parent(self) -> MemberPath:
        return MemberPath(posixpath.dirname(self.inside), self.archive)

    def __truediv__(self, name: str) -> MemberPath:
        return MemberPath(posixpath.join(self.inside, name), self.archive)

    def resolve(self) -> MemberPath:
        return self

    def is_symlink(self) -> bool:
        return False

    def is_file(self) -> bool:
        return self.inside in self.archive.files

    def is_dir(self) -> bool:
        return self.inside in self.archive.folders

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def iterdir(self) -> Iterator[MemberPath]:
        return (self / name for name in sorted(self.archive.folders.get(self.inside, ())))

    def read_bytes(self) -> bytes:
        if not self.is_file():
            raise FileNotFoundError(2, "no such member", str(self))
        return self.archive.files[self.inside]


#: A place to read from: on disk or in an archive.
Place = Path | MemberPath


def open_archive(path: Path) -> MemberPath | None:
    """The root folder of an archive; None when ``path`` is no archive.

    Raises FormatError for a damaged archive and one that exceeds the limits.
    """
    with path.open("rb") as file:
        head = file.read(_TAR_MAGIC_AT + 5)
    if is_gzip(head) and not _holds_tar(path):
        return None
    kind = (
        _read_zip if head.startswith(_ZIP)
        else _read_zstd if head.startswith(_ZSTD)
        else _read_tar if is_gzip(head) or head[_TAR_MAGIC_AT:] == b"ustar"
        else None
    )  # fmt: skip
    if kind is None:
        return None
    archive = _Archive(path, limit=_limit())
    try:
        kind(archive)
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        OSError,
        TypeError,
    ) as error:
        # tarfile raises TypeError where the header of a gzip stream ends early.
        raise FormatError(path, f"damaged archive: {error}") from None
    except (NotImplementedError, RuntimeError, ValueError, OverflowError) as error:
        raise FormatError(path, f"archive that cannot be read: {error}") from None
    return MemberPath("", archive)


def _limit() -> int:
    return int(os.environ.get("TRACEKIT_ARCHIVE_LIMIT", DEFAULT_LIMIT))


def is_gzip(start: bytes) -> bool:
    """Whether a file that begins with ``start`` is compressed with gzip."""
    return start.startswith(_GZIP)


def _holds_tar(path: Path) -> bool:
    """Whether a gzip file holds a tar archive rather than one file; by its name if damaged."""
    try:
        with gzip.open(path) as file:
            return file.read(_TAR_MAGIC_AT + 5)[_TAR_MAGIC_AT:] == b"ustar"
    except (OSError, EOFError, zlib.error):
        return not path.name.endswith(".att.gz")


def unpacked(path: Place) -> bytes:
    """Content of a gzip file; FormatError for a damaged one and one above the limit."""
    limit = _limit()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(path.read_bytes())) as file:
            data = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(path, f"damaged gzip file: {error}") from None
    if len(data) > limit:
        raise FormatError(
            path,
            f"unpacks to more than {limit:,} bytes; unpack it yourself or set "
            "TRACEKIT_ARCHIVE_LIMIT (bytes)",
        )
    return data


def _read_zip(archive: _Archive) -> None:
    with zipfile.ZipFile(archive.path) as source:
        members = source.infolist()
        if len(members) > MOST_MEMBERS:
            raise FormatError(archive.path, f"more than {MOST_MEMBERS:,} members")
        for member in members:
            if member.filename and not member.is_dir():
                with source.open(member) as file:
                    archive.take(member.filename, member.file_size, file)


def _read_tar(archive: _Archive, file: IO[bytes] | None = None) -> None:
    mode, source = ("r|", file) if file is not None else ("r|*", None)
    with tarfile.open(archive.path, mode, fileobj=_Limited(archive, source)) as tar:  # type: ignore[call-overload]
        for count, member in enumerate(tar):
            if count >= MOST_MEMBERS:
                raise FormatError(archive.path, f"more than {MOST_MEMBERS:,} members")
            if member.issym() and member.name.lower().endswith(SUFFIXES):
                archive.links.append(member.name)
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                archive.take(member.name, member.size, content)


class _Limited(io.RawIOBase):
    """The archive's bytes; for a decompressed stream, no more than the limit of them."""

    def __init__(self, archive: _Archive, source: IO[bytes] | None) -> None:
        self.archive, self.bounded = archive, source is not None
        self.source = source if source is not None else archive.path.open("rb")
        self.left = archive.limit * 2

    def read(self, size: int = -1) -> bytes:
        data = self.source.read(size)
        self.left -= len(data)
        if self.bounded and self.left < 0:
            raise self.archive.bomb()
        return data


def _read_zstd(archive: _Archive) -> None:
    try:
        import zstandard
    except ImportError:
        raise FormatError(
            archive.path, "reading .tar.zst needs: pip install 'tracekit[zstd]'"
        ) from None
    with archive.path.open("rb") as file:
        try:
            _read_tar(archive, zstandard.ZstdDecompressor().stream_reader(file))
        except zstandard.ZstdError as error:
            raise FormatError(archive.path, f"damaged archive: {error}") from None
