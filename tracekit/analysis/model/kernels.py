"""Which kernels the traced waves ran."""

from __future__ import annotations

import ctypes
import re
from functools import cache

import numpy as np

from tracekit.tables.timeline import Timeline

#: A kernel that no symbol names: "code object / 0xentry".
_NAMELESS = re.compile(r"\d+ / 0x[0-9a-f]+$")


def kernel_names(timeline: Timeline) -> tuple[str, ...]:
    """Names of the kernels that the traced waves ran, in order of their dispatches.

    By the dispatches of the waves (all of them where no wave was traced), else by the symbol
    around the waves' entry.  Empty where nothing names them.
    """
    waves, table = timeline.waves, timeline.dispatches
    if len(waves) and len(table):
        own = table[table["dispatch"].isin(waves["dispatch"].unique())]
        table = own if len(own) else table
    names = [name for name in table["kernel"].tolist() if name and not _NAMELESS.match(name)]
    return tuple(dict.fromkeys(names or _by_symbol(timeline)))


def _by_symbol(timeline: Timeline) -> list[str]:
    """Names of the symbols that the waves' entries lie behind."""
    names = []
    entered = timeline.waves[["code_object", "entry"]].drop_duplicates().to_numpy().tolist()
    for code_object, entry in entered:
        own = [s for s in timeline.listing.symbols if s.code_object == code_object]
        own.sort(key=lambda symbol: symbol.vaddr)
        at = int(np.searchsorted([symbol.vaddr for symbol in own], entry, side="right")) - 1
        if at >= 0:
            names.append(own[at].name)
    return names


def short_name(name: str) -> str:
    """A kernel's name for people: demangled, without arguments, templates folded to <…>.

    Results keep the full one.  Names that cannot be read stay as they are.
    """
    plain = re.sub(r"( \[clone [^]]*\]|\.kd)+$", "", demangled(name))
    depth, kept = 0, []
    for at, letter in enumerate(plain):
        if letter == "<" and not plain[:at].endswith("operator"):
            kept += ["<…>"] if not depth else []
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(letter)
    folded = "".join(kept)
    if depth:
        return plain
    arguments = re.search(r"(?<!operator)\((?!anonymous namespace\))", folded)
    folded = folded[: arguments.start()] if arguments else folded
    return folded.removeprefix("void ").strip() or name


@cache
def demangled(name: str) -> str:
    """The C++ name behind an Itanium mangled one, by the C++ runtime where there is one."""
    if not name.startswith("_Z"):
        return name
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError, TypeError):
        return name
    demangle = library.__cxa_demangle
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p,
                         ctypes.POINTER(ctypes.c_int)]  # fmt: skip
    demangle.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    status = ctypes.c_int()
    found = demangle(name.removesuffix(".kd").encode(), None, None, ctypes.byref(status))
    if not found:
        return name
    text = ctypes.string_at(found).decode(errors="replace")
    free(found)
    return text
