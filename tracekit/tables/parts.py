"""Columns of the tables as they come in, a piece a stream or a wave file."""

from __future__ import annotations

from dataclasses import dataclass, field

from tracekit.tables.columns import Columns
from tracekit.tables.schema import COLUMNS


@dataclass
class Parts:
    """``tables``: table name -> pieces in order; ``notes``: what their reader has to say."""

    tables: dict[str, list[Columns]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    notes: list[str] = field(default_factory=list)

    def add(self, table: str, columns: Columns) -> None:
        self.tables[table].append(columns)

    def __getitem__(self, table: str) -> list[Columns]:
        return self.tables[table]

    def take(self, other: Parts) -> None:
        """Append all pieces and notes of ``other``."""
        for name, pieces in other.tables.items():
            self.tables[name] += pieces
        self.notes += other.notes
