"""The 8-byte software header of a gfx9 stream (written by aqlprofile, not by hardware)."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.errors import FormatError
from tracekit.sqtt.layout import GFX9_VERSIONS, HEADER, HEADER_BYTES, LEGACY_VERSIONS


@dataclass(frozen=True)
class Header:
    """What the header says; ``suspicious`` when a tool other than aqlprofile wrote it.

    tinygrad stores the shader engine one bit too low, so on odd engines the target CU
    reads as 16 or more and the shader array as 1: then ``target_cu`` keeps its low four
    bits and ``se`` means nothing (take it from the file name).
    """

    simd_mask: int
    target_cu: int
    se: int
    suspicious: bool


def parse(data: bytes | memoryview, path: object = "stream") -> Header:
    """Read the header of ``data``.

    Raises FormatError for an empty or header-only file, JSON text, and the hardware
    headers of other families (gfx10 and later, which have none of aqlprofile's).
    """
    if len(data) == 0:
        raise FormatError(path, "the file is empty; expected an 8-byte gfx9 header and tokens")
    if len(data) <= HEADER_BYTES:
        raise FormatError(
            path,
            f"only {len(data)} bytes; expected an 8-byte gfx9 header and tokens "
            "(no trace data was written: raise --att-buffer-size or check the SE mask)",
            offset=0,
        )
    if bytes(data[:1]) in (b"{", b"["):
        raise FormatError(path, "this is JSON text, not a thread-trace stream", offset=0)
    if bytes(data[:4]) == b"\x7fELF":
        raise FormatError(path, "this is an ELF object, not a thread-trace stream", offset=0)
    word = int.from_bytes(data[:HEADER_BYTES], "little")
    values = {name: field.read(word) for name, field in HEADER.items()}
    legacy, version = values["legacy_version"], values["gfx9_version2"]
    if legacy not in LEGACY_VERSIONS or version not in GFX9_VERSIONS:
        if legacy:
            raise FormatError(
                path,
                f"header {word:#018x} is not a gfx9 one (versions {legacy:#x}/{version}); "
                "tracekit reads gfx90a, gfx942 and gfx950 streams, this looks like RDNA "
                "or another generation",
                offset=0,
            )
        raise FormatError(
            path,
            f"no gfx9 header (first word {word:#018x}); streams of old aqlprofile versions "
            "lack it: record the trace with ROCm 6.4 or newer",
            offset=0,
        )
    suspicious = values["target_cu"] > 15 or values["shader_array"] != 0
    return Header(values["simd_mask"], values["target_cu"] & 15, values["se"], suspicious)
