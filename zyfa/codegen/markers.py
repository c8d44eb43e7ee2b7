"""Phase markers: s_ttracedata with the names in an ELF section `.sqtt_funcmap`.

A value is id << 2 | enter << 1 | exit (SQTT device markers, 2026); M0 carries it, and so do the
LDS addresses of direct loads: emit a marker only where no load waits for its M0.
"""

from __future__ import annotations

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


def enter(name: str, enabled: bool) -> list[Line]:
    return list(emit(scope_id(name) << 2 | ENTER)) if enabled else []


def leave(enabled: bool) -> list[Line]:
    """Leave the innermost scope."""
    return list(emit(EXIT)) if enabled else []


def funcmap(kernel: str) -> str:
    """Assembly of the name section: kernel, wave size, one user scope a row."""
    rows = [f"K:{kernel}", "W:64"] + [f"U:{scope_id(name)}:{name}" for name in SCOPES]
    text = "\\n".join(rows)
    return f'  .section .sqtt_funcmap,"",@progbits\n  .ascii "{text}\\n"\n'
