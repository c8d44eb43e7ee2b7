"""What a file is by its first bytes, for files that are no thread-trace stream."""

from __future__ import annotations

import re

#: Beginning of a digest (tracekit/digest).
DIGEST = b"tracekit digest "
#: Beginning of a file -> what such a file is.  Sources: the formats' own documentation;
#: ncu-rep and rgp by files of Nsight Compute and Radeon GPU Profiler.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a code object, not a stream: pass it with --listing"),
    (DIGEST, "a digest (tracekit explain --save), which holds no instructions"),
    (b"SQLite format 3\x00", "a rocpd database holds no thread trace: name the .att files"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive: name it itself, or unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it"),
    (b"\xfd7zXZ\x00", "compressed with xz: unpack it"),
    (b"BZh", "compressed with bzip2: unpack it"),
    (b"\x1f\x8b", "compressed with gzip twice, or damaged: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it"),
    (b"NVR\x00", "a report of Nsight Compute (.ncu-rep), of an NVIDIA GPU"),
    (b"B00P", "a profile of Radeon GPU Profiler (.rgp)"),
    (b"PAR1", "a Parquet table"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"version https://git-lfs", "a pointer of Git LFS: fetch the file (git lfs pull)"),
)
#: Protocol 2 or later of a Python pickle begins so; the opcode behind it is one that dumps().
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95}\](cXKM\x8c\x93NJGUTVq\x88\x89IL)h]", re.DOTALL)
#: How a packet of a Perfetto trace begins: the tag of field 1, its length, the tag of the first
#: field in it, whose wire type is not 3, 4 (groups), 6 or 7 (none).  Source: protobuf's encoding.
_TAGS = bytes(tag for tag in range(8, 256) if tag & 7 in (0, 1, 2, 5))
_PACKET = re.compile(rb"\x0a([\x80-\xff]{0,3}[\x01-\x7f])[" + re.escape(_TAGS) + b"]")
_PACKET_TAG, _SHORTEST = 0x0A, 6
_JSON = re.compile(rb"\s*(?:\{\s*(?:[\"}]|$)|\[\s*(?:[\[\]{\"\d-]|$))")


def other_kind(start: bytes) -> str | None:
    """What the file that begins with ``start`` is; None when the bytes do not tell."""
    for magic, what in _MAGIC:
        if start.startswith(magic):
            return what
    if start[257:262] == b"ustar":
        return "a tar archive: name it itself, or unpack it"
    if _PICKLE.match(start):
        return "a Python pickle, which is not loaded: its content could run code"
    text = _text(start)
    if text is None:
        return "a Perfetto trace (.pftrace)" if _is_packets(start) else None
    if _JSON.match(start):
        return "this is JSON text, not a thread-trace stream"
    if text.lstrip().lower().startswith(("<html", "<!doctype", "<?xml", "<svg")):
        return "an HTML or XML text"
    lines = text.splitlines()
    if lines and lines[0].count(",") >= 2:
        return "CSV text"
    return "text" if text.strip() else None


def _is_packets(start: bytes) -> bool:
    """Whether the bytes are Perfetto's packets, one directly behind the other."""
    at = 0
    while found := _PACKET.match(start, at):
        at = found.end(1) + sum((byte & 0x7F) << 7 * n for n, byte in enumerate(found[1]))
    # What is behind the last one may be cut within its length or tag.
    rest = start[at:]
    return at > 0 and (not rest or (rest[0] == _PACKET_TAG and len(rest) < _SHORTEST))


def _text(start: bytes) -> str | None:
    """The bytes as text; None when they are none."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return start.decode("utf-16", "replace")
    # A cut within a character is no reason against text.
    for cut in range(4):
        try:
            text = start[: len(start) - cut].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return text if all(c.isprintable() or c in "\t\r\n\f\ufeff" for c in text) else None
    return None
