"""Which wave files a decoded directory has: by filenames.json, or by their names."""

from __future__ import annotations

import re
from typing import Any

from tracekit.capture.archive import Place
from tracekit.capture.files import matching
from tracekit.errors import FormatError

_WAVE_FILE = re.compile(r"se(\d{1,4})_sm(\d)_sl(\d{1,2})_wv(\d{1,6})\.json$")
#: Greatest se, simd, slot and wave that a column can hold.
_LIMITS = (1 << 14, 3, 31, 1 << 30)

WaveKey = tuple[int, int, int, int]


def listed_waves(path: Place, content: dict[str, Any]) -> list[tuple[WaveKey, str]]:
    """Key and file name of the waves in a filenames.json; FormatError when it is none."""
    found: list[tuple[WaveKey, str]] = []
    try:
        for se, simds in (content.get("wave_filenames") or {}).items():
            for simd, slots in simds.items():
                for slot, waves in slots.items():
                    for wave, entry in waves.items():
                        key = (int(se), int(simd), int(slot), int(wave))
                        found.append((key, str(entry[0]).rsplit("/", 1)[-1]))
    except (AttributeError, TypeError, ValueError, LookupError):
        raise FormatError(
            path, "wave_filenames: expected {se: {simd: {slot: {wave: [file, begin, end]}}}}"
        ) from None
    for key, _ in found:
        if not _fits(key):
            raise FormatError(path, f"wave_filenames: no such wave {key}")
    return found


def named_waves(folder: Place) -> list[tuple[WaveKey, str]]:
    """Key and name of all wave files that are there."""
    found: list[tuple[WaveKey, str]] = []
    for entry in matching(folder, "se*_sm*_sl*_wv*.json"):
        if name := _WAVE_FILE.match(entry.name):
            key = (int(name[1]), int(name[2]), int(name[3]), int(name[4]))
            if _fits(key):
                found.append((key, entry.name))
    return found


def _fits(key: WaveKey) -> bool:
    return all(0 <= n <= limit for n, limit in zip(key, _LIMITS, strict=True))
