"""Phase markers: s_ttracedata with the names in an ELF section `.sqtt_funcmap`.

A value is id << 2 | enter << 1 | exit (SQTT device markers, 2026); M0 carries it, and so do the
LDS addresses of direct loads: emit a marker only where no load waits for its M0.
"""

from __future__ import annotations

from dataclasses import dataclass

from zyfa.codegen.instruction import Instruction, Line, control, scalar
from zyfa.codegen.registers import M0

SCOPES = ("tile", "load", "softmax", "matrix", "rescale", "epilogue")
ENTER = 2
EXIT = 1


def scope_id(name: str) -> int:
    """Marker id of a scope, from 1; ValueError for an unknown scope."""
    return SCOPES.index(name) + 1


def emit(value: int) -> list[Instruction]:
    return [
        scalar("s_mov_b32", M0, value),
        control("s_nop", 0),
        control("s_ttracedata", reads=(M0,)),
    ]


@dataclass(frozen=True, slots=True)
class Markers:
    """Brackets of scopes, or nothing where the variant has no markers."""

    enabled: bool

    def enter(self, name: str) -> list[Line]:
        return list(emit(scope_id(name) << 2 | ENTER)) if self.enabled else []

    def leave(self) -> list[Line]:
        """Leave the innermost scope."""
        return list(emit(EXIT)) if self.enabled else []

    def around(self, name: str, lines: list[Line]) -> list[Line]:
        """`lines` in a scope of their own."""
        return [*self.enter(name), *lines, *self.leave()]


def funcmap(kernel: str) -> str:
    """Assembly of the name section: kernel, wave size, one user scope a row."""
    rows = [f"K:{kernel}", "W:64"] + [f"U:{scope_id(name)}:{name}" for name in SCOPES]
    text = "\\n".join(rows)
    return f'  .section .sqtt_funcmap,"",@progbits\n  .ascii "{text}\\n"\n'
