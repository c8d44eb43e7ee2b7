"""The program around the tiles: a persistent workgroup that takes jobs of two tiles in turn."""

from __future__ import annotations

from zyfa.codegen import lds, markers
from zyfa.codegen.hazards import legalise
from zyfa.codegen.instruction import Comment, Label, Line, control, op, scalar, wait
from zyfa.codegen.machine import Machine
from zyfa.codegen.options import Options
from zyfa.codegen.phases import load, setup, tile
from zyfa.codegen.text import render

ITEM_SHIFT = 6
"""64 bytes an item, two items a job."""


def remap(k: Machine) -> list[Line]:
    """First job of this workgroup: workgroup w runs on chiplet w % 8 (round robin), so
    (w % 8) * (grid / 8) + w / 8 gives one chiplet consecutive jobs."""
    return [
        scalar("s_and_b32", k.t[0], k.group, 7),
        op("s_lshr_b32", k.t[1], k.argument("grid"), 3),
        op("s_mul_i32", k.t[0], k.t[0], k.t[1]),
        op("s_lshr_b32", k.t[1], k.group, 3),
        scalar("s_add_u32", k.job, k.t[0], k.t[1]),
    ]


def program(options: Options) -> list[Line]:
    """All lines of the kernel, hazards resolved."""
    k = Machine(options)
    jobs, items, skip, end = (k.label(x) for x in ("jobs", "items", "no_item", "end"))
    marked = options.markers == "on"
    lines: list[Line] = [
        *setup.arguments(k),
        *setup.constants(k),
        *remap(k),
        Label(jobs),
        scalar("s_cmp_ge_u32", k.job, k.argument("job_count")),
        control("s_cbranch_scc1", end, reads=("scc",)),
        op("s_mov_b32", k.half, 0),
        Label(items),
        op("s_lshl_b32", k.t[0], k.job, 1),
        scalar("s_add_u32", k.t[0], k.t[0], k.half),
        op("s_lshl_b32", k.t[0], k.t[0], ITEM_SHIFT),
        scalar("s_add_u32", k.item_address[0], k.argument("jobs")[0], k.t[0]),
        scalar("s_addc_u32", k.item_address[1], k.argument("jobs")[1], 0),
        op("s_load_dwordx16", k.item, k.item_address, 0),
        wait(lgkmcnt=0),
        scalar("s_cmp_eq_u32", k.item[load.ITEM_BLOCKS], 0),
        control("s_cbranch_scc1", skip, reads=("scc",)),
        *markers.enter("tile", marked),
        *tile.body(k),
        *markers.leave(marked),
        Label(skip),
        scalar("s_add_u32", k.half, k.half, 1),
        scalar("s_cmp_lt_u32", k.half, 2),
        control("s_cbranch_scc1", items, reads=("scc",)),
        scalar("s_add_u32", k.job, k.job, k.argument("grid")),
        control("s_branch", jobs),
        Label(end),
        control("s_endpgm"),
    ]
    return legalise(lines)


def emit(options: Options | None = None) -> str:
    """Assembly text of one variant, deterministic."""
    options = options or Options()
    k = Machine(options)
    return render(options, program(options), k.vector.used, k.scalar.used, lds.SIZE)


__all__ = ["Comment", "emit", "program"]
