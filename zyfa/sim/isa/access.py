"""Closures that read and write operands, made once per static instruction.

Kinds: u, i, f = 32 bit unsigned, signed, float; U, I, d = the 64-bit ones; h = float16 and
H, S = uint16, int16 in the low half of a register.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa.sim.errors import SimError
from zyfa.sim.isa.syntax import Operand
from zyfa.sim.state.registers import AGPR, EXEC, SCC, SGPR
from zyfa.sim.state.wave import SHIFT32, Wave

Getter = Callable[[Wave], Any]
Putter = Callable[[Wave, Any], None]

DTYPES = {
    "u": np.uint32, "i": np.int32, "f": np.float32,
    "U": np.uint64, "I": np.int64, "d": np.float64,
    "h": np.float16, "H": np.uint16, "S": np.int16,
}  # fmt: skip
WIDE = "UId"
FLOAT = "fdh"
MASK16 = np.array(0xFFFF, np.uint32)
HIGH16 = np.array(0xFFFF0000, np.uint32)
SHIFT16 = np.array(16, np.uint32)
APERTURES = {
    "src_shared_base": 0x10000 << 32,
    "src_shared_limit": 0x10000 << 32 | 0xFFFFFFFF,
    "src_private_base": 0x20000 << 32,
    "src_private_limit": 0x20000 << 32 | 0xFFFFFFFF,
}


def constant_bits(item: Operand, kind: str) -> int:
    """The bits that the constant `item` stands for in an operand of `kind`.

    Floats take the operand's own format; an integer is its own bit pattern. A 32-bit literal of
    a float64 operand is the high dword.
    """
    value = item.value
    if value is None:
        raise SimError(f"{item.text}: not a constant")
    if isinstance(value, float):
        layout = {"d": "<d", "U": "<d", "I": "<d", "h": "<e", "H": "<e", "S": "<e"}.get(kind, "<f")
        return int.from_bytes(struct.pack(layout, value), "little")
    number = int(value)
    if kind == "d" and "0x" in item.text:
        return (number & 0xFFFFFFFF) << 32
    size = 64 if kind in WIDE else 16 if kind in "hHS" else 32
    return number & ((1 << size) - 1)


_cache: dict[tuple[str, int], np.ndarray] = {}


def cast(bits: int, kind: str) -> np.ndarray:
    """A zero-dimensional array of `kind` with these bits."""
    key = (kind, bits)
    found = _cache.get(key)
    if found is None:
        if len(_cache) > 65536:
            _cache.clear()
        base = np.uint64 if kind in WIDE else np.uint16 if kind in "hHS" else np.uint32
        found = np.array(bits, base).view(DTYPES[kind])
        found.flags.writeable = False
        _cache[key] = found
    return found


def scalar_getter(item: Operand, wide: bool = False) -> Getter:
    """int of a scalar operand: 32 bits, or 64 when `wide`."""
    if item.value is not None:
        if wide and isinstance(item.value, int):
            bits = item.value & 0xFFFFFFFFFFFFFFFF
        else:
            bits = constant_bits(item, "d" if wide else "u")
        return lambda w: bits
    if item.text in APERTURES:
        aperture = APERTURES[item.text]
        return lambda w: aperture
    base = item.base
    if base == EXEC:
        if wide:
            return lambda w: w.exec
        return lambda w: w.exec & 0xFFFFFFFF
    if base == EXEC + 1:
        return lambda w: w.exec >> 32
    if base == SCC:
        return lambda w: w.scc
    if base < SGPR:
        raise SimError(f"{item.text}: not a scalar operand")
    n = base - SGPR
    if wide:
        return lambda w: w.s[n] | w.s[n + 1] << 32
    return lambda w: w.s[n]


def scalar_putter(item: Operand, wide: bool = False) -> Putter:
    """Write an int, wrapped to 32 or 64 bits, to a scalar destination."""
    base = item.base
    if base == EXEC and wide:
        return lambda w, value: w.set_exec(value & 0xFFFFFFFFFFFFFFFF)
    if base == EXEC:
        return lambda w, value: w.set_exec((w.exec & ~0xFFFFFFFF) | (value & 0xFFFFFFFF))
    if base == EXEC + 1:
        return lambda w, value: w.set_exec((w.exec & 0xFFFFFFFF) | (value & 0xFFFFFFFF) << 32)
    if base < SGPR:
        raise SimError(f"{item.text}: not a scalar destination")
    n = base - SGPR

    def put(w: Wave, value: int) -> None:
        w.s[n] = value & 0xFFFFFFFF

    def put_wide(w: Wave, value: int) -> None:
        w.s[n] = value & 0xFFFFFFFF
        w.s[n + 1] = value >> 32 & 0xFFFFFFFF

    return put_wide if wide else put


def _vector_getter(base: int, kind: str, half: int = 0) -> Getter:
    if kind == "f":
        return lambda w: w.f[base]
    if kind == "u":
        return lambda w: w.u[base]
    if kind == "i":
        return lambda w: w.i[base]
    if kind in WIDE:
        dtype = DTYPES[kind]
        return lambda w: w.pair(base).view(dtype)
    dtype = DTYPES[kind]
    if half:
        return lambda w: (w.u[base] >> SHIFT16).astype(np.uint16).view(dtype)
    return lambda w: w.u[base].astype(np.uint16).view(dtype)


def source_getter(item: Operand, kind: str, half: int = 0) -> Getter:
    """Read an operand as `kind`: array[64] of a vector register, array[] of anything scalar.

    Applies the operand's neg and abs. `half` selects the high 16 bits for the 16-bit kinds.
    """
    if item.vector:
        get = _vector_getter(item.base, kind, half)
    elif item.value is not None:
        fixed = cast(constant_bits(item, kind), kind)

        def get(w: Wave) -> np.ndarray:
            return fixed
    else:
        wide = kind in WIDE
        bits = scalar_getter(item, wide)
        if kind in "hHS":
            shift = 16 * half

            def get(w: Wave) -> np.ndarray:
                return cast(bits(w) >> shift & 0xFFFF, kind)
        else:

            def get(w: Wave) -> np.ndarray:
                return cast(bits(w), kind)

    return modified(get, item.neg, item.absolute)


def modified(get: Getter, neg: bool, absolute: bool) -> Getter:
    """Wrap a getter with the float input modifiers."""
    if neg and absolute:
        return lambda w: -np.abs(get(w))
    if neg:
        return lambda w: -get(w)
    if absolute:
        return lambda w: np.abs(get(w))
    return get


def vector_putter(base: int, kind: str, half: int | None = None) -> Putter:
    """Write array[64] (or array[]) of `kind` to VGPR `base` under EXEC.

    16-bit kinds write the low half and clear the high one when `half` is None (VOP1/2/3 of gfx9),
    else only the half named.
    """
    if kind in "fui":
        return _dword_putter(base, kind == "f")
    if kind in WIDE:
        return _wide_putter(base, kind)
    return _half_putter(base, kind, half)


def _dword_putter(base: int, real: bool) -> Putter:
    def put_float(w: Wave, value: Any) -> None:
        if w.mask is None:
            w.f[base][:] = value
        else:
            np.copyto(w.f[base], value, where=w.mask, casting="unsafe")

    def put_integer(w: Wave, value: Any) -> None:
        if w.mask is None:
            w.u[base][:] = value
        else:
            np.copyto(w.u[base], value, where=w.mask, casting="unsafe")

    return put_float if real else put_integer


def _wide_putter(base: int, kind: str) -> Putter:
    dtype = DTYPES[kind]

    def put(w: Wave, value: Any) -> None:
        bits = np.asarray(value, dtype).view(np.uint64)
        if w.mask is None:
            w.u[base][:] = bits
            w.u[base + 1][:] = bits >> SHIFT32
        else:
            np.copyto(w.u[base], bits, where=w.mask, casting="unsafe")
            np.copyto(w.u[base + 1], bits >> SHIFT32, where=w.mask, casting="unsafe")

    return put


def _half_putter(base: int, kind: str, half: int | None) -> Putter:
    dtype = DTYPES[kind]

    def put(w: Wave, value: Any) -> None:
        bits = np.asarray(value, dtype).view(np.uint16).astype(np.uint32)
        if half == 0:
            bits = bits | (w.u[base] & HIGH16)
        elif half == 1:
            bits = (bits << SHIFT16) | (w.u[base] & MASK16)
        if w.mask is None:
            w.u[base][:] = bits
        else:
            np.copyto(w.u[base], bits, where=w.mask)

    return put


def block_getter(item: Operand) -> Getter:
    """uint32[count, 64] of a register range (a view), or None for the inline constant 0."""
    if item.vector:
        first, last = item.base, item.base + item.count
        return lambda w: w.v[first:last]
    bits = constant_bits(item, "f")
    block = np.array(bits, np.uint32)
    return lambda w: block


def is_agpr(item: Operand) -> bool:
    return AGPR <= item.base < SGPR
