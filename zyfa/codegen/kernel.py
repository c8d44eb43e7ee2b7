"""The program around the tiles: a persistent workgroup that takes jobs of two tiles in turn."""

from __future__ import annotations

from dataclasses import dataclass

from zyfa.codegen.hazards import legalise
from zyfa.codegen.instruction import Label, Line, control, op, scalar, wait
from zyfa.codegen.machine import Machine
from zyfa.codegen.options import Options
from zyfa.codegen.phases import setup, tile
from zyfa.codegen.text import render
from zyfa.jobs import CHIPLETS, ITEM

ITEMS = 2
"""Of a job."""


@dataclass(frozen=True, slots=True)
class Registers:
    """What a wave takes of the two files."""

    vector: int
    scalar: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A generated variant: its lines with hazards resolved, registers, bytes of LDS."""

    options: Options
    lines: tuple[Line, ...]
    registers: Registers
    lds: int

    @property
    def symbol(self) -> str:
        return self.options.symbol

    @property
    def text(self) -> str:
        """The assembly file."""
        r = self.registers
        return render(self.options, self.lines, (r.vector, r.scalar), self.lds)


def kernel(options: Options | None = None) -> Kernel:
    """Generate one variant, deterministically. Raises BudgetError when registers do not suffice."""
    k = Machine(options or Options())
    lines = legalise(program(k))
    registers = Registers(k.vector.used, k.scalar.used)
    return Kernel(k.options, tuple(lines), registers, k.layout.size)


def emit(options: Options | None = None) -> str:
    """Assembly text of one variant."""
    return kernel(options).text


def remap(k: Machine) -> list[Line]:
    """First job of this workgroup: workgroup w runs on chiplet w % 8 (round robin), so
    (w % 8) * (grid / 8) + w / 8 gives one chiplet consecutive jobs."""
    shift = CHIPLETS.bit_length() - 1
    return [
        scalar("s_and_b32", k.t[0], k.group, CHIPLETS - 1),
        op("s_lshr_b32", k.t[1], k.argument("grid"), shift),
        op("s_mul_i32", k.t[0], k.t[0], k.t[1]),
        op("s_lshr_b32", k.t[1], k.group, shift),
        scalar("s_add_u32", k.job, k.t[0], k.t[1]),
    ]


def program(k: Machine) -> list[Line]:
    """All lines of the kernel, hazards not looked at yet."""
    jobs, items, skip, end = (k.label(x) for x in ("jobs", "items", "no_item", "end"))
    item_shift = ITEM.itemsize.bit_length() - 1
    return [
        *setup.arguments(k),
        *setup.constants(k),
        *remap(k),
        Label(jobs),
        scalar("s_cmp_ge_u32", k.job, k.argument("job_count")),
        control("s_cbranch_scc1", end, reads=("scc",)),
        op("s_mov_b32", k.half, 0),
        Label(items),
        op("s_lshl_b32", k.t[0], k.job, ITEMS.bit_length() - 1),
        scalar("s_add_u32", k.t[0], k.t[0], k.half),
        op("s_lshl_b32", k.t[0], k.t[0], item_shift),
        scalar("s_add_u32", k.item_address[0], k.argument("jobs")[0], k.t[0]),
        scalar("s_addc_u32", k.item_address[1], k.argument("jobs")[1], 0),
        op(f"s_load_dwordx{len(k.item)}", k.item, k.item_address, 0),
        wait(lgkmcnt=0),
        scalar("s_cmp_eq_u32", k.field("blocks"), 0),
        control("s_cbranch_scc1", skip, reads=("scc",)),
        *k.markers.around("tile", tile.body(k)),
        Label(skip),
        scalar("s_add_u32", k.half, k.half, 1),
        scalar("s_cmp_lt_u32", k.half, ITEMS),
        control("s_cbranch_scc1", items, reads=("scc",)),
        scalar("s_add_u32", k.job, k.job, k.argument("grid")),
        control("s_branch", jobs),
        Label(end),
        control("s_endpgm"),
    ]
