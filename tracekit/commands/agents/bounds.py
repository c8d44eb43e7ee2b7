"""Answers that fit into a conversation: long lists are cut, and it is said how far."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

#: Characters of JSON that an answer has at most.
LONGEST = 24_000
#: Rows that each list of objects keeps, and captures, one try after the other.
_ALL = 1 << 30
_TRIES = (*((rows, _ALL) for rows in (200, 100, 50, 20, 10, 5, 3, 2, 1)),
          *((1, captures) for captures in (20, 10, 5, 2, 1)))  # fmt: skip
#: Entries that a list of numbers or words keeps at least.
_PLAIN = 20


def bounded(result: dict[str, Any], longest: int = LONGEST) -> dict[str, Any]:
    """``result`` in ``longest`` characters: of every list of objects the first so many.

    ``truncated`` maps the name of a list, with dots for nesting, to how many rows of all such
    lists (in the rows that were kept) were ``kept`` ``of`` how many; empty where everything is
    there.
    """
    made = {**result, "truncated": {}}
    for rows, captures in _TRIES:
        if _length(made) <= longest:
            break
        counts: dict[str, _Count] = {}
        cut: dict[str, Any] = _cut(result, _Most(rows, captures), "", counts)
        left = {name: asdict(each) for name, each in counts.items() if each.kept < each.of}
        made = {**cut, "truncated": left}
    return made


@dataclass
class _Count:
    kept: int = 0
    of: int = 0


class _Most(NamedTuple):
    """Rows of a list, and captures."""

    rows: int
    captures: int

    def of(self, value: list[Any], name: str) -> int:
        if name == "captures":
            return self.captures
        objects = any(isinstance(each, dict) for each in value)
        return self.rows if objects else max(self.rows, _PLAIN)


def _length(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _cut(value: Any, most: _Most, name: str, counts: dict[str, _Count]) -> Any:
    if isinstance(value, dict):
        return {
            key: _cut(each, most, f"{name}.{key}" if name else key, counts)
            for key, each in value.items()
        }
    if not isinstance(value, list):
        return value
    kept = value[: most.of(value, name)]
    count = counts.setdefault(name, _Count())
    count.kept += len(kept)
    count.of += len(value)
    return [_cut(each, most, name, counts) for each in kept]
