"""What a command says of one capture, and how that is written as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tracekit.digest.columns import packed, unpacked
from tracekit.present.cells import Column, is_missing
from tracekit.present.tables import Cells

#: Column of CSV files that has the name of the capture.
_NAME = "capture"


@dataclass(frozen=True)
class Recording:
    """The ``payload`` of the JSON result, the CSV with its heading, ``tables`` or ``text`` for
    people, notes.  ``truncated``: table of the payload -> (rows kept, rows there were)."""

    schema: str
    payload: Mapping[str, Any]
    csv: str
    tables: tuple[Cells, ...]
    text: str
    notes: tuple[str, ...]
    truncated: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def capture(self) -> str:
        return str(self.payload[_NAME])

    @property
    def result(self) -> dict[str, Any]:
        """The capture's entry of the JSON result, which tells what was left out."""
        if not self.truncated:
            return dict(self.payload)
        told = {name: {"kept": k, "of": n} for name, (k, n) in self.truncated.items()}
        return {**self.payload, "truncated": told}

    @property
    def all_notes(self) -> list[str]:
        """With one on what was left out."""
        if not self.truncated:
            return list(self.notes)
        told = ", ".join(f"{name} {k:,} of {n:,} rows" for name, (k, n) in self.truncated.items())
        return [*self.notes, f"truncated in the digest: {told}"]

    def json(self) -> dict[str, Any]:
        """For the file; CSV that repeats the rows of the payload is not written twice."""
        return {
            "schema": self.schema,
            "payload": packed(self.payload),
            "csv": _columns(self.csv, self.payload),
            "tables": [
                {
                    "title": table.title,
                    "headings": [[c.heading, c.left, c.rank, c.cut] for c in table.columns],
                    "columns": [list(column) for column in zip(*table.rows, strict=True)],
                    "limit": table.limit,
                    "raw": table.raw,
                    "more": table.more,
                }
                for table in self.tables
            ],
            "text": self.text,
            "notes": list(self.notes),
            "truncated": {name: list(each) for name, each in self.truncated.items()},
        }

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Recording:
        """What ``json`` gave."""
        payload = unpacked(found["payload"])
        return cls(
            schema=found["schema"],
            payload=payload,
            csv=_text(found["csv"], payload),
            tables=tuple(
                Cells(
                    table["title"],
                    tuple(
                        Column(str(heading), left=bool(left), rank=int(rank), cut=bool(cut))
                        for heading, left, rank, cut in table["headings"]
                    ),
                    list(zip(*table["columns"], strict=True)),
                    table["limit"],
                    bool(table["raw"]),
                    int(table["more"]),
                )
                for table in found["tables"]
            ),
            text=found["text"],
            notes=tuple(found["notes"]),
            truncated={name: (int(k), int(n)) for name, (k, n) in found["truncated"].items()},
        )


def _columns(text: str, payload: Mapping[str, Any]) -> Any:
    """The CSV by columns: the name of a key of the payload's rows that has the same cells, else
    the cells; all of the text where it is not written as one of ours."""
    heading, *rows = csv.reader(io.StringIO(text)) if text else [[]]
    if any(len(row) != len(heading) for row in rows):
        return text
    keys: dict[tuple[str, ...], str] = {}
    for key in reversed((payload.get("rows") or [{}])[0]):
        keys[tuple(_cell(row[key]) for row in payload["rows"])] = key
    columns = [tuple(column) for column in zip(*rows, strict=True)] or [()] * len(heading)
    name = payload[_NAME]
    for quoted in (False, True):
        made = {
            "heading": heading, "quoted": quoted, "rows": len(rows),
            "columns": [
                1 if at == _NAME and set(column) <= {name} else keys.get(column, list(column))
                for at, column in zip(heading, columns, strict=True)
            ],
        }  # fmt: skip
        if _text(made, payload) == text:
            return made
    return text


def _text(found: Any, payload: Mapping[str, Any]) -> str:
    """The CSV of what ``_columns`` gave."""
    if isinstance(found, str):
        return found
    rows, name, quoted = payload.get("rows", ()), payload[_NAME], found["quoted"]
    columns: list[Sequence[Any]] = [
        [name] * found["rows"] if each == 1 else [row[each] for row in rows]
        if isinstance(each, str) else each
        for each in found["columns"]
    ]  # fmt: skip
    out = io.StringIO()
    if quoted:
        for line in [found["heading"], *zip(*columns, strict=True)]:
            out.write(",".join(_quoted(value) for value in line) + "\n")
    else:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([found["heading"], *([*map(_cell, row)] for row in
                                              zip(*columns, strict=True))])  # fmt: skip
    return out.getvalue()


def _cell(value: Any) -> str:
    return "" if is_missing(value) else str(value)


def _quoted(value: Any) -> str:
    """As rocprofv3 does: texts in quotes, numbers not."""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else _cell(value)


def cut(recording: Recording, table: str, rows: Sequence[int]) -> Recording:
    """Only ``rows`` (in this order) of a table of the payload; its CSV follows "rows"."""
    whole, told = recording.payload[table], recording.csv
    kept = {**recording.payload, table: [whole[row] for row in rows]}
    if table == "rows":
        made = _columns(told, recording.payload)
        if isinstance(made, str):
            told = ""
        else:
            made["columns"] = [[each[row] for row in rows] if isinstance(each, list) else each
                               for each in made["columns"]]  # fmt: skip
            told = _text({**made, "rows": len(rows)}, kept)
    before = recording.truncated.get(table, (0, len(whole)))[1]
    truncated = {**recording.truncated, table: (len(rows), before)}
    return replace(recording, payload=kept, csv=told, truncated=truncated)


def shortened(recording: Recording, most: int) -> Recording:
    """At most ``most`` rows of each table for people."""
    tables = tuple(
        replace(each, rows=each.rows[:most], more=each.more + max(len(each.rows) - most, 0))
        for each in recording.tables
    )
    return replace(recording, tables=tables)
