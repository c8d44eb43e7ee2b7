"""The tools: each is one question with a JSON answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tracekit.commands.agents.bounds import bounded
from tracekit.commands.agents.folders import Folders, Refused
from tracekit.commands.agents.library import Library

#: Instructions on each side of a PC, without and with asking for more.
AROUND, MOST = 8, 100
_PC = re.compile(r"0x[0-9a-fA-F]+|0|[1-9]\d*")


class Tools:
    """Questions about the captures and digests in ``folders``.

    Every answer is the JSON result of the command of that name (``schema`` says which shape),
    cut to ``bounds.LONGEST`` characters with what was left out in ``truncated``.  Raises
    TracekitError for what cannot be answered.
    """

    def __init__(self, folders: Folders) -> None:
        self._folders, self._library = folders, Library(folders.roots)

    def open(self, path: str) -> dict[str, Any]:
        """What a capture (a folder, an .att file, an archive) or digest (.tkd) holds, and whether
        its numbers can be trusted. Ask this first: "do not conclude" means just that."""
        info, check = (self._ask(name, [path]) for name in ("info", "check"))
        verdicts = {entry["capture"]: entry["quality"] for entry in check["captures"]}
        entries = [{**entry, "quality": verdicts[entry["capture"]]} for entry in info["captures"]]
        return bounded({**info, "captures": entries})

    def explain(self, path: str, window: str = "steady", base: str = "") -> dict[str, Any]:
        """Why the matrix pipe idles: causes by share of the idle cycles, load -> wait -> consumer
        -> MFMA chains, and advice with the numbers that fired it. base: a capture or digest from
        before; "changes" then says which causes shrank or grew. share is what the deciding wave
        does; removable is an upper bound, not additive; neither is a speed-up."""
        found = self._folders.path(path)
        before = self._folders.path(base) if base else None
        return bounded(self._library.ask("explain", [found], "--window", window, base=before))

    def waits(self, path: str, window: str = "span", loads: bool = False) -> dict[str, Any]:
        """Which memory operation each s_waitcnt waits for: cycles waited, lead of the producer,
        latency. loads: also by memory instruction."""
        return bounded(self._ask("waits", [path], "--window", window, *["--loads"] * loads))

    def occupancy(self, path: str, window: str = "steady") -> dict[str, Any]:
        """How busy the matrix and the vector pipe of each SIMD are, as share of the window."""
        return bounded(self._ask("occupancy", [path], "--window", window))

    def compare(self, base: str, new: str, window: str = "steady") -> dict[str, Any]:
        """What new changed against base, with the 95 % interval of each difference: "within_noise"
        is no change. Rows with se -1 are the sum of all SIMDs."""
        return bounded(self._ask("compare", [base, new], "--window", window))

    def instructions(self, path: str, pc: str, around: int = AROUND) -> dict[str, Any]:
        """The code around a PC (as "0x2cb8"): text, source line, and the cycles that all traced
        waves spent at each instruction (as hotspots)."""
        text = pc.strip()
        if not _PC.fullmatch(text):
            raise Refused(f"{pc!r}: no PC: expected an address as 0x2cb8")
        vaddr, around = int(text, 0), min(max(around, 0), MOST)
        result = self._ask("hotspots", [path])
        entries = []
        for entry in result["captures"]:
            rows = sorted(entry["rows"], key=lambda row: (row["code_object"], row["vaddr"]))
            parts = [rows[max(at - around, 0) : at + around + 1]
                     for at, row in enumerate(rows) if row["vaddr"] == vaddr]  # fmt: skip
            entries.append({**entry, "rows": [row for part in parts for row in part]})
        if not any(entry["rows"] for entry in entries):
            raise Refused(f"{pc}: no instruction there; {_near(result['captures'], vaddr)}")
        return bounded({**result, "captures": entries})

    def _ask(self, name: str, paths: Sequence[str], *options: str) -> dict[str, Any]:
        return self._library.ask(name, [self._folders.path(path) for path in paths], *options)


def _near(captures: Sequence[dict[str, Any]], vaddr: int) -> str:
    """The instructions before and after."""
    known = sorted({row["vaddr"] for entry in captures for row in entry["rows"]})
    before = [each for each in known if 0 <= each < vaddr][-1:]
    after = [each for each in known if each > vaddr][:1]
    if not before + after:
        return "the listing has no addresses"
    return f"the nearest are {' and '.join(map(hex, before + after))}"
