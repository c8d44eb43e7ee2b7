"""Launching: kernel arguments, workgroups, and the initial registers of their waves.

Initial state: LLVM "User Guide for AMDGPU Backend", initial kernel execution state (gfx90a and
later pack the three workitem ids into v0, ten bits each).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from zyfa.sim.errors import SimError
from zyfa.sim.state.loader import Kernel
from zyfa.sim.state.memory import Buffer, Memory
from zyfa.sim.state.shared import Shared
from zyfa.sim.state.wave import Wave

LDS_BYTES = 160 * 1024
USER_SGPRS = (
    ("private_segment_buffer", 0, 4), ("dispatch_ptr", 1, 2), ("queue_ptr", 2, 2),
    ("kernarg_segment_ptr", 3, 2), ("dispatch_id", 4, 2), ("flat_scratch_init", 5, 2),
    ("private_segment_size", 6, 1),
)  # fmt: skip
"""Name, bit of kernel_code_properties, SGPRs; in the order in which they are loaded."""

Triple = tuple[int, int, int]


class Workgroup:
    """Waves that share LDS and barriers."""

    def __init__(self, number: int, ident: Triple, memory: Memory, lds: int):
        self.number, self.ident, self.memory = number, ident, memory
        self.shared = Shared(lds)
        self.waves: list[Wave] = []


class Launch:
    """A dispatch: buffers, kernarg segment, dispatch packet.

    grid: workgroups per dimension; block: workitems per workgroup and dimension.
    """

    def __init__(self, kernel: Kernel, args: Sequence[object], grid: Triple, block: Triple,
                 dynamic_lds: int = 0):  # fmt: skip
        self.kernel, self.grid, self.block = kernel, grid, block
        self.memory = Memory()
        self.buffers: list[Buffer | None] = []
        self.arrays: list[np.ndarray | None] = []
        self.lds = kernel.lds + dynamic_lds
        if self.lds > LDS_BYTES:
            raise SimError(f"{self.lds} bytes of LDS exceed the {LDS_BYTES} of a CU")
        raw = self.kernarg(args)
        self.kernarg_at = self.memory.allocate(np.frombuffer(raw, np.uint8), "kernarg segment")
        self.packet = self.memory.allocate(
            np.frombuffer(self.dispatch_packet(), np.uint8), "dispatch packet"
        )

    def kernarg(self, args: Sequence[object]) -> bytes:
        """The kernarg segment; numpy arrays become buffers, numbers are packed by size."""
        raw = bytearray(max(self.kernel.kernarg_size, 16) + 256)
        explicit = [item for item in self.kernel.arguments if not item.kind.startswith("hidden_")]
        if not explicit and args:
            raise SimError("the code object's metadata names no arguments")
        if len(args) != len(explicit):
            raise SimError(f"{self.kernel.name} takes {len(explicit)} arguments, got {len(args)}")
        for number, (item, value) in enumerate(zip(explicit, args, strict=True)):
            raw[item.offset : item.offset + item.size] = self.pack(number, item.size, value)
        for item in self.kernel.arguments:
            if item.kind in HIDDEN:
                field = HIDDEN[item.kind](self)
                raw[item.offset : item.offset + item.size] = field.to_bytes(item.size, "little")
        return bytes(raw)

    def pack(self, number: int, size: int, value: object) -> bytes:
        buffer = array = None
        if isinstance(value, np.ndarray) and value.ndim:
            array = value
            buffer = self.memory.allocate(value, f"argument {number}")
            raw = struct.pack("<Q", buffer.base)
        elif isinstance(value, np.generic | np.ndarray):
            raw = value.tobytes()
        elif isinstance(value, bytes):
            raw = value
        elif isinstance(value, float):
            raw = struct.pack("<d" if size == 8 else "<f", value)
        elif not isinstance(value, int):
            raise SimError(f"argument {number} is a {type(value).__name__}, not a number or array")
        else:
            raw = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if len(raw) > size:
            raise SimError(f"argument {number} has {len(raw)} bytes, the kernel expects {size}")
        self.buffers.append(buffer)
        self.arrays.append(array)
        return raw.ljust(size, b"\0")

    def dispatch_packet(self) -> bytes:
        """hsa_kernel_dispatch_packet_t, 64 bytes."""
        sizes = [g * b for g, b in zip(self.grid, self.block, strict=True)]
        return struct.pack(
            "<6H5I4Q", 0, 3, *self.block, 0, *sizes, self.kernel.scratch, self.lds,
            0, self.kernarg_at.base, 0, 0,
        )  # fmt: skip

    def workgroup(self, number: int) -> Workgroup:
        """Workgroup `number` (x fastest) with its waves at the kernel's entry."""
        x, y, _ = self.grid
        ident = number % x, number // x % y, number // (x * y)
        group = Workgroup(number, ident, self.memory, self.lds)
        threads = self.block[0] * self.block[1] * self.block[2]
        for index in range(-(-threads // 64)):
            group.waves.append(self.wave(group, index, threads))
        return group

    def wave(self, group: Workgroup, index: int, threads: int) -> Wave:
        """A wave in its initial state."""
        kernel, w = self.kernel, Wave(group, index)
        at = 0
        for name, bit, count in USER_SGPRS:
            if kernel.properties >> bit & 1:
                value = {
                    "kernarg_segment_ptr": self.kernarg_at.base, "dispatch_ptr": self.packet.base,
                    "private_segment_size": kernel.scratch,
                }.get(name, 0)  # fmt: skip
                for n in range(count):
                    w.s[at + n] = value >> (32 * n) & 0xFFFFFFFF
                at += count
        length, offset = kernel.preload & 127, kernel.preload >> 7
        for n in range(length):
            word = self.kernarg_at.bytes[4 * (offset + n) : 4 * (offset + n) + 4]
            w.s[at + n] = int.from_bytes(word.tobytes(), "little")
        at = kernel.user_sgprs
        for enabled, ident in zip(kernel.workgroup_ids, group.ident, strict=True):
            if enabled:
                w.s[at] = ident
                at += 1
        thread = 64 * index + np.arange(64)
        x, y = self.block[:2]
        w.u[0][:] = thread % x | thread // x % y << 10 | thread // (x * y) << 20
        live = min(threads - 64 * index, 64)
        w.set_exec((1 << live) - 1)
        w.mode = kernel.denorm_f32 << 4 | 3 << 6 | int(kernel.ieee) << 9
        if kernel.scratch:
            w.scratch = np.zeros((64, kernel.scratch), np.uint8)
        w.hardware = {"HW_REG_XCC_ID": 0, "HW_REG_HW_ID": index}
        return w

    def outputs(self) -> list[np.ndarray | None]:
        """A copy of every buffer argument, None for the scalars."""
        found: list[np.ndarray | None] = []
        for array, buffer in zip(self.arrays, self.buffers, strict=True):
            if array is None or buffer is None:
                found.append(None)
            else:
                raw = buffer.bytes[: buffer.size].copy()
                found.append(raw.view(array.dtype).reshape(array.shape))
        return found

    def copy_back(self) -> None:
        """Write the buffers back into the argument arrays that are writeable."""
        for array, buffer in zip(self.arrays, self.buffers, strict=True):
            if array is not None and buffer is not None and array.flags.writeable:
                raw = buffer.bytes[: buffer.size]
                array[...] = raw.view(array.dtype).reshape(array.shape)


HIDDEN: dict[str, Callable[[Launch], int]] = {
    "hidden_block_count_x": lambda launch: launch.grid[0],
    "hidden_block_count_y": lambda launch: launch.grid[1],
    "hidden_block_count_z": lambda launch: launch.grid[2],
    "hidden_group_size_x": lambda launch: launch.block[0],
    "hidden_group_size_y": lambda launch: launch.block[1],
    "hidden_group_size_z": lambda launch: launch.block[2],
    "hidden_grid_dims": lambda launch: 3 if launch.grid[2] > 1 else 2 if launch.grid[1] > 1 else 1,
    "hidden_dynamic_lds_size": lambda launch: launch.lds - launch.kernel.lds,
    "hidden_shared_base": lambda launch: 0x10000,
    "hidden_private_base": lambda launch: 0x20000,
}


def triple(value: int | Iterable[int]) -> Triple:
    """A grid or block size with missing dimensions 1."""
    x, y, z, *_ = (value, 1, 1) if isinstance(value, int) else (*value, 1, 1)
    return x, y, z
