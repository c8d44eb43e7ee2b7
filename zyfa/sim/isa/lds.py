"""LDS instructions. Reads are poison until s_waitcnt; addresses are bytes of the workgroup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa.sim.errors import SimError
from zyfa.sim.isa.access import source_getter
from zyfa.sim.isa.builders import Builder, handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Pending, Wave

LANE = np.arange(64)
BYTES = {"b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4, "b64": 8, "b96": 12,
         "b128": 16}  # fmt: skip
READS: dict[str, tuple[int, int | str | None]] = {
    "ds_read_b32": (4, None), "ds_read_b64": (8, None), "ds_read_b96": (12, None),
    "ds_read_b128": (16, None), "ds_read_u8": (1, None), "ds_read_u16": (2, None),
    "ds_read_i8": (1, 0x80), "ds_read_i16": (2, 0x8000),
    "ds_read_u16_d16": (2, "low"), "ds_read_u16_d16_hi": (2, "high"),
    "ds_read_u8_d16": (1, "low"), "ds_read_u8_d16_hi": (1, "high"),
}  # fmt: skip
WRITES = {
    "ds_write_b8": 1, "ds_write_b16": 2, "ds_write_b32": 4, "ds_write_b64": 8, "ds_write_b96": 12,
    "ds_write_b128": 16, "ds_write_b8_d16_hi": 1, "ds_write_b16_d16_hi": 2,
}  # fmt: skip


def alignment(size: int) -> int:
    """Natural alignment; 12-byte accesses need 4."""
    return 4 if size == 12 else size


def load_registers(w: Wave, inst: Instruction, base: int, rows: np.ndarray, queue: str) -> None:
    """Queue uint32[dwords, 64] for registers `base`...; written at the s_waitcnt under EXEC."""
    mask, count = w.mask, len(rows)

    def commit() -> None:
        if mask is None:
            w.v[base : base + count] = rows
        else:
            np.copyto(w.v[base : base + count], rows, where=mask)

    entry = Pending(tuple(range(base, base + count)), commit, inst, queue)
    (w.vmem if queue == "vmem" else w.lgkm).append(entry)


def expand(values: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """uint32[dwords, active] spread to 64 lanes."""
    if mask is None:
        return values
    full = np.zeros((len(values), 64), np.uint32)
    full[:, mask] = values
    return full


def _active(values: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    return values if mask is None else values[..., mask]


def narrow(values: np.ndarray, rule: int | str | None, old: np.ndarray) -> np.ndarray:
    """Sign extension or merging into half a register of a sub-dword load."""
    merged: np.ndarray
    if rule is None:
        return values
    if rule == "low":
        merged = values | (old & np.uint32(0xFFFF0000))
        return merged
    if rule == "high":
        merged = values << np.uint32(16) | (old & np.uint32(0xFFFF))
        return merged
    sign = np.int64(rule)
    return ((values.astype(np.int64) ^ sign) - sign).astype(np.uint32)


def fetch(w: Wave, addresses: np.ndarray, size: int, where: str) -> np.ndarray:
    """uint32[dwords, n] from LDS byte addresses, checked."""
    shared = w.workgroup.shared
    words = shared.check(addresses, size, alignment(size), where)
    shared.note_read(words, w, where)
    found: np.ndarray
    if size >= 4:
        found = shared.words[words]
    elif size == 2:
        found = shared.bytes.view(np.uint16)[addresses >> 1].astype(np.uint32)[None]
    else:
        found = shared.bytes[addresses].astype(np.uint32)[None]
    return found


def deposit(
    w: Wave, addresses: np.ndarray, values: np.ndarray, size: int, where: str
) -> Callable[..., Any]:
    """Store and return the function that settles the write at its s_waitcnt."""
    shared = w.workgroup.shared
    words = shared.check(addresses, size, alignment(size), where)
    shared.note_write(words, w, where)
    if size >= 4:
        shared.words[words] = values
    elif size == 2:
        shared.bytes.view(np.uint16)[addresses >> 1] = values[0]
    else:
        shared.bytes[addresses] = values[0]
    return lambda: shared.settle(words, w)


def _address(inst: Instruction, position: int) -> Callable[[Wave], np.ndarray]:
    get = source_getter(inst.operands[position], "u")
    given = inst.modifier("offset")
    offset = 0 if isinstance(given, str) else int(given)
    return lambda w: get(w).astype(np.int64) + offset


@handles(*READS)
def _read(inst: Instruction) -> Execute:
    size, rule = READS[inst.syntax.stem]
    address, base = _address(inst, 1), inst.operands[0].base
    where = inst.where

    def run(w: Wave) -> None:
        at = _active(address(w), w.mask)
        w.addresses = at
        rows = expand(fetch(w, at, size, where), w.mask)
        if rule is not None:
            rows = narrow(rows[0], rule, w.u[base])[None]
        load_registers(w, inst, base, rows, "lds")

    return run


@handles("ds_read2_b32", "ds_read2_b64", "ds_read2st64_b32", "ds_read2st64_b64")
def _read2(inst: Instruction) -> Execute:
    size = 8 if inst.syntax.stem.endswith("b64") else 4
    step = size * (64 if "st64" in inst.syntax.stem else 1)
    get, base = source_getter(inst.operands[1], "u"), inst.operands[0].base
    offsets = [step * int(inst.modifier(f"offset{n}", 0)) for n in (0, 1)]
    where = inst.where

    def run(w: Wave) -> None:
        at = _active(get(w).astype(np.int64), w.mask)
        w.addresses = np.concatenate([at + offset for offset in offsets])
        parts = [expand(fetch(w, at + offset, size, where), w.mask) for offset in offsets]
        load_registers(w, inst, base, np.concatenate(parts), "lds")

    return run


@handles(*WRITES)
def _write(inst: Instruction) -> Execute:
    size = WRITES[inst.syntax.stem]
    address, base = _address(inst, 0), inst.operands[1].base
    shift = np.uint32(16 if inst.syntax.stem.endswith("_hi") else 0)
    count, where = max(size // 4, 1), inst.where

    def run(w: Wave) -> None:
        at = _active(address(w), w.mask)
        w.addresses = at
        values = _active(w.v[base : base + count] >> shift, w.mask)
        settle = deposit(w, at, values, size, where)
        w.lgkm.append(Pending((), settle, inst, "lds"))

    return run


@handles("ds_write2_b32", "ds_write2_b64", "ds_write2st64_b32", "ds_write2st64_b64")
def _write2(inst: Instruction) -> Execute:
    size = 8 if inst.syntax.stem.endswith("b64") else 4
    step = size * (64 if "st64" in inst.syntax.stem else 1)
    get = source_getter(inst.operands[0], "u")
    bases = [item.base for item in inst.operands[1:3]]
    offsets = [step * int(inst.modifier(f"offset{n}", 0)) for n in (0, 1)]
    count, where = size // 4, inst.where

    def run(w: Wave) -> None:
        at = _active(get(w).astype(np.int64), w.mask)
        w.addresses = np.concatenate([at + offset for offset in offsets])
        settles = [
            deposit(w, at + offset, _active(w.v[base : base + count], w.mask), size, where)
            for base, offset in zip(bases, offsets, strict=True)
        ]

        def settle() -> None:
            for one in settles:
                one()

        w.lgkm.append(Pending((), settle, inst, "lds"))

    return run


def _transpose(element_bytes: int) -> Builder:
    """ds_read_b64_tr: a 16-lane group reads rows and gets columns back.

    8-bit: lane s supplies row s / 2, columns 8 (s % 2)...; 16-bit: row s / 4, columns 4 (s % 4)...
    Lane t receives column t of all rows.
    """
    per_lane = 8 // element_bytes
    lanes_per_row = 16 // per_lane
    t, r = np.arange(16)[:, None], np.arange(per_lane)[None, :]
    source_lane = r * lanes_per_row + t // per_lane
    element = t % per_lane
    dtype = np.uint8 if element_bytes == 1 else np.uint16

    def build(inst: Instruction) -> Execute:
        address, base, where = _address(inst, 1), inst.operands[0].base, inst.where

        def run(w: Wave) -> None:
            if w.mask is not None:
                raise SimError(f"transpose reads need a full EXEC: {where}")
            at = address(w)
            w.addresses = at
            rows = fetch(w, at, 8, where)
            lanes = np.ascontiguousarray(rows.T).view(dtype).reshape(4, 16, per_lane)
            turned = np.ascontiguousarray(lanes[:, source_lane, element])
            words = turned.view(np.uint32).reshape(64, 2)
            load_registers(w, inst, base, np.ascontiguousarray(words.T), "lds")

        return run

    return build


handles("ds_read_b64_tr_b8")(_transpose(1))
handles("ds_read_b64_tr_b16")(_transpose(2))


def _quad(choice: list[int]) -> np.ndarray:
    """Source lanes of a permutation inside every four lanes."""
    lanes: np.ndarray = (LANE & ~3) + np.array(choice)[LANE & 3]
    return lanes


def swizzle_lanes(control: int | str) -> np.ndarray:
    """Source lane of ds_swizzle_b32's offset: int or `swizzle(MODE,...)` text."""
    if isinstance(control, str):
        mode, *numbers = control[control.index("(") + 1 : -1].split(",")
        if mode == "BITMASK_PERM":
            ands = ors = xors = 0
            for bit, letter in zip((16, 8, 4, 2, 1), numbers[0].strip().strip('"'), strict=True):
                ands |= bit * (letter in "pi")
                ors |= bit * (letter == "1")
                xors |= bit * (letter == "i")
        else:
            values = [int(number, 0) for number in numbers]
            if mode == "QUAD_PERM":
                return _quad(values)
            size = values[0]
            ands, ors, xors = {
                "SWAP": (31, 0, size), "REVERSE": (31, 0, size - 1),
                "BROADCAST": (32 - size, values[-1], 0),
            }[mode]  # fmt: skip
    else:
        code = control
        if code & 0x8000:
            return _quad([code >> (2 * n) & 3 for n in range(4)])
        ands, ors, xors = code & 31, code >> 5 & 31, code >> 10 & 31
    return (LANE & 32) | ((((LANE & 31) & ands) | ors) ^ xors)


@handles("ds_swizzle_b32", "ds_bpermute_b32", "ds_permute_b32")
def _permute(inst: Instruction) -> Execute:
    stem, base = inst.syntax.stem, inst.operands[0].base
    swizzle = stem == "ds_swizzle_b32"
    get = source_getter(inst.operands[1 if swizzle else 2], "u")
    if swizzle:
        lanes = swizzle_lanes(inst.modifier("offset"))
    else:
        address = _address(inst, 1)

    def run(w: Wave) -> None:
        value, active = np.broadcast_to(get(w), (64,)), w.lanes
        if stem == "ds_permute_b32":
            rows = np.zeros(64, np.uint32)
            target = (address(w) >> 2) & 63
            rows[target[active]] = value[active]
        else:
            pick = lanes if swizzle else (address(w) >> 2) & 63
            rows = np.where(active[pick], value[pick], np.uint32(0))
        load_registers(w, inst, base, rows[None], "lds")

    return run


def combine(name: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The value an atomic leaves in memory, for arrays of one lane each (any dtype)."""
    table: dict[str, Callable[..., Any]] = {
        "add": np.add, "sub": np.subtract, "rsub": lambda a, b: b - a, "and": np.bitwise_and,
        "or": np.bitwise_or, "xor": np.bitwise_xor, "min": np.fmin, "max": np.fmax,
        "swap": lambda a, b: b, "wrxchg": lambda a, b: b,
        "inc": lambda a, b: np.where(a >= b, 0, a + a.dtype.type(1)),
        "dec": lambda a, b: np.where((a == 0) | (a > b), b, a - a.dtype.type(1)),
    }  # fmt: skip
    left: np.ndarray = table[name](old, new).astype(old.dtype)
    return left


ATOMIC = {
    f"ds_{name}{rtn}_{kind}": (name, dtype, bool(rtn))
    for name, kinds in {
        "add": ("u32", "u64", "f32", "f64"), "sub": ("u32", "u64"), "and": ("b32", "b64"),
        "or": ("b32", "b64"), "xor": ("b32", "b64"), "inc": ("u32",), "dec": ("u32",),
        "min": ("i32", "u32", "f32"), "max": ("i32", "u32", "f32"), "wrxchg": ("b32", "b64"),
    }.items()
    for kind in kinds
    for rtn in ("", "_rtn")
    for dtype in [{"u32": np.uint32, "b32": np.uint32, "i32": np.int32, "f32": np.float32,
                   "u64": np.uint64, "b64": np.uint64, "f64": np.float64}[kind]]
}  # fmt: skip


@handles(*ATOMIC, "ds_cmpst_b32", "ds_cmpst_rtn_b32")
def _atomic(inst: Instruction) -> Execute:
    stem = inst.syntax.stem
    compare = stem.startswith("ds_cmpst")
    name, dtype, returns = ATOMIC.get(stem, ("cmpst", np.uint32, "_rtn_" in stem))
    first = 1 if returns else 0
    address = _address(inst, first)
    bases = [item.base for item in inst.operands[first + 1 :] if item.vector]
    size, where = np.dtype(dtype).itemsize, inst.where
    count = size // 4

    def run(w: Wave) -> None:
        at = _active(address(w), w.mask)
        w.addresses = at
        shared = w.workgroup.shared
        shared.check(at, size, size, where)
        memory = shared.words.view(dtype)
        data = [
            np.ascontiguousarray(_active(w.v[b : b + count], w.mask).T).view(dtype).reshape(-1)
            for b in bases
        ]
        old = np.empty(len(at), dtype)
        for n, index in enumerate((at // size).tolist()):
            old[n] = memory[index]
            if compare:
                if old[n] == data[0][n]:
                    memory[index] = data[1][n]
            else:
                memory[index] = combine(name, old[n : n + 1], data[0][n : n + 1])[0]
        if returns:
            rows = old.view(np.uint32).reshape(-1, count).T
            load_registers(w, inst, inst.operands[0].base, expand(rows, w.mask), "lds")
        else:
            w.lgkm.append(Pending((), None, inst, "lds"))

    return run
