"""Vector memory: global, flat, scratch and buffer loads, stores, atomics, direct-to-LDS loads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zyfa.sim.errors import BoundsError, SimError, UnknownInstruction
from zyfa.sim.isa import lds
from zyfa.sim.isa.access import scalar_getter, source_getter
from zyfa.sim.isa.builders import Builder, handles
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.isa.syntax import Operand
from zyfa.sim.state.registers import SGPR
from zyfa.sim.state.wave import Pending, Wave

LOADS = {
    "dword": (4, None), "dwordx2": (8, None), "dwordx3": (12, None), "dwordx4": (16, None),
    "ubyte": (1, None), "sbyte": (1, 0x80), "ushort": (2, None), "sshort": (2, 0x8000),
    "ubyte_d16": (1, "low"), "ubyte_d16_hi": (1, "high"), "short_d16": (2, "low"),
    "short_d16_hi": (2, "high"),
}  # fmt: skip
STORES = {
    "dword": (4, 0), "dwordx2": (8, 0), "dwordx3": (12, 0), "dwordx4": (16, 0), "byte": (1, 0),
    "short": (2, 0), "byte_d16_hi": (1, 16), "short_d16_hi": (2, 16),
}  # fmt: skip
ATOMICS = {
    "add": ("add", np.uint32), "sub": ("sub", np.uint32), "smin": ("min", np.int32),
    "umin": ("min", np.uint32), "smax": ("max", np.int32), "umax": ("max", np.uint32),
    "and": ("and", np.uint32), "or": ("or", np.uint32), "xor": ("xor", np.uint32),
    "swap": ("swap", np.uint32), "inc": ("inc", np.uint32), "dec": ("dec", np.uint32),
    "cmpswap": ("cmpswap", np.uint32), "add_f32": ("add", np.float32),
    "add_x2": ("add", np.uint64), "swap_x2": ("swap", np.uint64), "or_x2": ("or", np.uint64),
    "cmpswap_x2": ("cmpswap", np.uint64), "add_f64": ("add", np.float64),
    "min_f64": ("min", np.float64), "max_f64": ("max", np.float64),
    "and_x2": ("and", np.uint64), "xor_x2": ("xor", np.uint64), "sub_x2": ("sub", np.uint64),
}  # fmt: skip
SHARED_HIGH, PRIVATE_HIGH = 0x10000, 0x20000


class Access:
    """How an instruction forms the byte addresses of its active lanes.

    `addresses(w)` gives uint64[n]; `inside(w, addresses)` is a mask of lanes whose buffer range
    check passed, None when there is none.
    """

    def __init__(self, inst: Instruction, first: int):
        self.where = inst.where
        self.family = inst.syntax.mnemonic.split("_")[0]
        items = inst.operands
        self.offset = int(inst.modifier("offset", 0))
        if self.family == "buffer":
            self.init_buffer(inst, items[first:])
        else:
            self.init_flat(items, first)

    def init_flat(self, items: tuple[Operand, ...], first: int) -> None:
        address = items[first]
        saddr = items[-1]
        offset = np.uint64(self.offset & 0xFFFFFFFFFFFFFFFF)
        if self.family == "scratch":
            vector = source_getter(address, "u") if address.vector else None
            scalar = scalar_getter(saddr) if saddr.base >= SGPR else None

            def form(w: Wave) -> np.ndarray:
                base = np.full(64, self.offset, np.int64)
                if vector is not None:
                    base = base + vector(w)
                if scalar is not None:
                    base = base + scalar(w)
                return base

            self.form = form
        elif saddr.base >= SGPR:
            vector, scalar = source_getter(address, "u"), scalar_getter(saddr, True)

            def form(w: Wave) -> np.ndarray:
                result: np.ndarray = vector(w).astype(np.uint64) + np.uint64(scalar(w)) + offset
                return result

            self.form = form
        else:
            base = address.base
            self.form = lambda w: w.pair(base) + offset

    def init_buffer(self, inst: Instruction, items: tuple[Operand, ...]) -> None:
        srd_at = next(n for n, item in enumerate(items) if item.base >= SGPR and item.count == 4)
        srd = items[srd_at].base - SGPR
        soffset = scalar_getter(items[srd_at + 1])
        vector = [item for item in items[:srd_at] if item.vector]
        offen, idxen = (name in inst.syntax.modifiers for name in ("offen", "idxen"))
        index = source_getter(vector[0], "u") if idxen else None
        voffset = None
        if offen:
            base = vector[-1].base + (1 if idxen else 0)
            voffset = lambda w: w.u[base]  # noqa: E731
        self.raw = not idxen

        def form(w: Wave) -> np.ndarray:
            low, high, records = w.s[srd], w.s[srd + 1], w.s[srd + 2]
            stride = high >> 16 & 0x3FFF
            base = low | (high & 0xFFFF) << 32
            if high >> 31:
                raise SimError(f"swizzled buffers are not simulated: {self.where}")
            scalar = soffset(w)
            offset = np.full(64, self.offset, np.int64)
            if voffset is not None:
                offset = offset + voffset(w)
            if index is not None:
                rows = np.broadcast_to(index(w), (64,)).astype(np.int64)
                self.limit = (rows < records) & (offset < stride)
                offset = offset + rows * stride
            else:
                self.room = records - scalar - offset
            result: np.ndarray = (offset + (base + scalar)).astype(np.uint64)
            return result

        self.form = form

    def lanes(self, w: Wave, size: int) -> tuple[np.ndarray, np.ndarray]:
        """(addresses uint64[64], bool[64] of the lanes that access memory)."""
        address = self.form(w)
        active = w.lanes
        if self.family == "buffer":
            active = active & ((self.room >= size) if self.raw else self.limit)
        return address, active


def _space(w: Wave, access: Access, address: np.ndarray, active: np.ndarray) -> str:
    """global, shared or private; flat addresses choose by their aperture."""
    if access.family == "scratch":
        return "private"
    if access.family != "flat" or not active.any():
        return "global"
    high = (address[active] >> np.uint64(32)).astype(np.int64)
    if (high == SHARED_HIGH).all():
        return "shared"
    if (high == PRIVATE_HIGH).all():
        return "private"
    if ((high == SHARED_HIGH) | (high == PRIVATE_HIGH)).any():
        raise SimError(f"lanes of one flat access use different apertures: {access.where}")
    return "global"


def private_rows(
    w: Wave, address: np.ndarray, size: int, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """(bytes[64, scratch], int64[64]) of private memory; raises BoundsError."""
    at = address.astype(np.int64) & 0xFFFFFFFF
    if w.scratch is None or ((at < 0) | (at + size > w.scratch.shape[1])).any():
        raise BoundsError(f"private memory access outside the kernel's allocation: {where}")
    return w.scratch, at


def load(w: Wave, access: Access, size: int) -> np.ndarray:
    """uint32[dwords, 64]; lanes that are off or out of a buffer's range read 0."""
    address, active = access.lanes(w, size)
    out = np.zeros((max(size // 4, 1), 64), np.uint32)
    space = _space(w, access, address, active)
    picked = address[active]
    w.addresses = picked
    if space == "global":
        try:
            out[:, active] = w.workgroup.memory.gather(picked, size)
        except BoundsError as error:
            raise BoundsError(f"{error}: {access.where}") from None
    elif space == "shared":
        at = (picked & np.uint64(0xFFFFFFFF)).astype(np.int64)
        out[:, active] = lds.fetch(w, at, size, access.where)
    else:
        memory, at = private_rows(w, picked, size, access.where)
        rows = np.flatnonzero(active)
        raw = memory[rows[:, None], at[:, None] + np.arange(size)]
        if size >= 4:
            out[:, active] = np.ascontiguousarray(raw).view(np.uint32).T
        else:
            wide = raw.astype(np.uint32) << (8 * np.arange(size, dtype=np.uint32))
            out[0, active] = wide.sum(axis=1)
    return out


def store(w: Wave, access: Access, values: np.ndarray, size: int) -> Callable[..., Any] | None:
    """Write uint32[dwords, 64] under EXEC and the buffer's range."""
    address, active = access.lanes(w, size)
    space = _space(w, access, address, active)
    picked = address[active]
    w.addresses = picked
    data = values[:, active]
    if space == "global":
        try:
            w.workgroup.memory.scatter(picked, data, size)
        except BoundsError as error:
            raise BoundsError(f"{error}: {access.where}") from None
    elif space == "shared":
        at = (picked & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return lds.deposit(w, at, data, size, access.where)
    else:
        memory, at = private_rows(w, picked, size, access.where)
        raw = np.ascontiguousarray(data.T).view(np.uint8)[:, :size]
        memory[np.flatnonzero(active)[:, None], at[:, None] + np.arange(size)] = raw
    return None


def _queue(w: Wave, entry: Pending, flat: bool) -> None:
    if flat:
        # LDS is done when lgkmcnt says so, memory when vmcnt does; settling twice is harmless.
        w.lgkm.append(Pending(entry.registers, entry.commit, entry.instruction, "flat"))
    w.vmem.append(entry)


def _load_builder(name: str) -> Builder:
    size, rule = LOADS[name]

    def build(inst: Instruction) -> Execute:
        if "lds" in inst.syntax.modifiers or "_lds_" in inst.syntax.mnemonic:
            return _direct(inst, size)
        access, base = Access(inst, 1), inst.operands[0].base
        flat = access.family == "flat"

        def run(w: Wave) -> None:
            rows = load(w, access, size)
            if rule is not None:
                rows = lds.narrow(rows[0], rule, w.u[base])[None]
            lds.load_registers(w, inst, base, rows, "vmem")
            if flat:
                w.lgkm.append(Pending(w.vmem[-1].registers, None, inst, "flat"))

        return run

    return build


def _direct(inst: Instruction, size: int) -> Execute:
    """LDS[M0 + offset + lane * size] = memory; out-of-range lanes write 0."""
    access = Access(inst, 0)
    lanes = access.offset + np.arange(64) * size
    where = inst.where

    def run(w: Wave) -> None:
        rows = load(w, access, size)
        active = w.lanes
        shared = w.workgroup.shared
        at = ((w.s[124] & 0x3FFFF) + lanes)[active]
        words = shared.check(at, size, 4, where)
        shared.note_write(words, w, where, direct=True)
        data = rows[:, active]
        if size < 4:
            raise UnknownInstruction(f"sub-dword loads to LDS are not simulated: {where}")

        def commit() -> None:
            shared.words[words] = data
            shared.settle(words, w)

        w.vmem.append(Pending((), commit, inst, "vmem"))

    return run


def _store_builder(name: str) -> Builder:
    size, shift = STORES[name]
    by = np.uint32(shift)
    count = max(size // 4, 1)

    def build(inst: Instruction) -> Execute:
        buffer = inst.syntax.mnemonic.startswith("buffer")
        access = Access(inst, 1 if buffer else 0)
        base = inst.operands[0 if buffer else 1].base
        flat = access.family == "flat"

        def run(w: Wave) -> None:
            settle = store(w, access, w.v[base : base + count] >> by, size)
            _queue(w, Pending((), settle, inst, "vmem"), flat)

        return run

    return build


for _family in ("global", "flat", "scratch", "buffer"):
    for _name in LOADS:
        handles(f"{_family}_load_{_name}")(_load_builder(_name))
    for _name in STORES:
        handles(f"{_family}_store_{_name}")(_store_builder(_name))
for _name in ("dword", "dwordx3", "dwordx4"):
    handles(f"global_load_lds_{_name}")(_load_builder(_name))


@handles(
    *(f"{family}_atomic_{name}" for family in ("global", "flat", "buffer") for name in ATOMICS)
)
def _atomic(inst: Instruction) -> Execute:  # noqa: C901 - buffer, global, flat; with and without result
    name, dtype = ATOMICS[re.sub(r"^\w+?_atomic_", "", inst.syntax.stem)]
    family = inst.syntax.mnemonic.split("_")[0]
    returns = "sc0" in inst.syntax.modifiers
    if family == "buffer":
        access, data_at = Access(inst, 1), 0
    else:
        access, data_at = Access(inst, 1 if returns else 0), 2 if returns else 1
    base = inst.operands[data_at].base
    size = np.dtype(dtype).itemsize
    count = size // 4

    def operand(w: Wave, first: int) -> np.ndarray:
        return np.ascontiguousarray(w.v[first : first + count].T).view(dtype).reshape(-1)

    def cells(w: Wave, address: np.ndarray, active: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """(lane, one-element view of the memory) of the active lanes, in lane order."""
        space = _space(w, access, address, active)
        if space == "private":
            raise SimError(f"atomics on private memory are not simulated: {inst.where}")
        for lane in np.flatnonzero(active).tolist():
            at = int(address[lane])
            if space == "shared":
                at &= 0xFFFFFFFF
                w.workgroup.shared.check(np.array([at]), size, size, inst.where)
                yield lane, w.workgroup.shared.bytes[at : at + size].view(dtype)
                continue
            try:
                buffer = w.workgroup.memory.find(at, at + size)
            except BoundsError as error:
                raise BoundsError(f"{error}: {inst.where}") from None
            yield lane, buffer.bytes[at - buffer.base : at - buffer.base + size].view(dtype)

    def run(w: Wave) -> None:
        address, active = access.lanes(w, size)
        w.addresses = address[active]
        value = operand(w, base)
        second = operand(w, base + count) if name == "cmpswap" else None
        old = np.zeros(64, dtype)
        for lane, cell in cells(w, address, active):
            old[lane] = cell[0]
            if second is not None:
                if cell[0] == second[lane]:
                    cell[0] = value[lane]
            else:
                cell[0] = lds.combine(name, cell[:1], value[lane : lane + 1])[0]
        if returns:
            target = base if family == "buffer" else inst.operands[0].base
            rows = old.view(np.uint32).reshape(64, count).T.copy()
            lds.load_registers(w, inst, target, rows, "vmem")
            if family == "flat":
                w.lgkm.append(Pending(w.vmem[-1].registers, None, inst, "flat"))
        else:
            _queue(w, Pending((), None, inst, "vmem"), family == "flat")

    return run
