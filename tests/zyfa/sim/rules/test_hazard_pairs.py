"""Every cell of the hazard tables: one slot fewer is reported, enough slots are not."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from tests.support import hazard_pairs
from zyfa.sim.errors import HazardError, SimError
from zyfa.sim.isa.program import Program
from zyfa.sim.rules import hazards
from zyfa.sim.rules.lint import Finding, lint, states
from zyfa.sim.rules.waitstates import ARCHS, Kind, Role, needs
from zyfa.sim.runs import functional
from zyfa.sim.state import loader
from zyfa.sim.state.workgroup import Launch

NOT_SIMULATED = {
    "ds_read_addtid_b32",
    "s_movrels_b32",
    "s_sendmsg",
    "s_setreg",
    "v_mfma_f64_4x4x4_4b_f64",
    "v_mfma_f64_16x16x4_f64",
}
"""Instructions of pairs that the simulator refuses by name, whatever the slots."""
MARK = "s_mov_b32 s40, "


@lru_cache(maxsize=len(ARCHS))
def program(arch: str, assemble) -> Program:
    """One kernel that holds every pair twice, one slot short and exact, each with its own end."""
    lines = []
    for number, pair in enumerate(hazard_pairs.pairs(arch)):
        for short in (1, 0):
            lines.append(f"{MARK}0x{0x10000 + 2 * number + short:x}")
            lines += [*hazard_pairs.body(pair, pair.slots - short), "s_endpgm"]
    code = loader.load(assemble("\n".join(lines), lds=4096, arch=arch), ARCHS)
    return Program(code, code.kernel())


def starts(found: Program) -> dict[int, int]:
    """Row of the first instruction of each snippet, by its mark."""
    return {
        int(inst.text.split(", ")[1], 0) - 0x10000: inst.index + 1
        for inst in found.instructions
        if inst.text.startswith(MARK)
    }


def by_snippet(found: Program, findings: list[Finding]) -> dict[int, list[Finding]]:
    rows = sorted((row, mark) for mark, row in starts(found).items())
    out: dict[int, list[Finding]] = {mark: [] for _, mark in rows}
    for finding in findings:
        row = found.index_of(int(finding.producer.rsplit("PC ", 1)[1], 16))
        out[max(pair for pair in rows if pair[0] <= row)[1]].append(finding)
    return out


@pytest.mark.parametrize("arch", ARCHS)
def test_every_cell_of_the_table_has_a_pair(arch):
    cells = {(kind, role) for kind in Kind for role in Role if needs(arch)[kind][role]}
    assert {(pair.kind, pair.role) for pair in hazard_pairs.pairs(arch)} == cells


@pytest.mark.parametrize("arch", ARCHS)
def test_lint_reports_each_pair_that_is_one_slot_short(arch, assemble):
    found = program(arch, assemble)
    reported = by_snippet(found, lint(found))
    wrong = {}
    for number, pair in enumerate(hazard_pairs.pairs(arch)):
        short = [(f.needed, f.found) for f in reported[2 * number + 1]]
        enough = [(f.needed, f.found) for f in reported[2 * number]]
        if (short, enough) != ([(pair.slots, pair.slots - 1)], []):
            wrong[pair.name] = (pair.slots, short, enough)
    assert wrong == {}


def walk(found: Program, row: int, execute: bool) -> tuple[int, int] | None:
    """(needed, found) of the HazardError from `row` on, None without one."""
    launch = Launch(found.kernel, [], (1, 1, 1), (64, 1, 1), 0)
    wave = launch.workgroup(0).waves[0]
    wave.set_exec(0)  # no lane accesses memory
    wave.s[12:18] = [0] * 6
    wave.next = row
    try:
        if execute:
            functional.run_until_barrier(found, wave, None)
            return None
        while (inst := found.instructions[wave.next]).text != "s_endpgm":
            if inst.board is None:
                inst.board = hazards.scoreboard(inst.text)
            hazards.check(wave, inst, inst.board, wave.clock)
            hazards.note(wave, inst, inst.board, wave.clock)
            wave.clock += 4 * states(inst.syntax)
            wave.next += 1
    except HazardError as error:
        return error.needed, error.found
    return None


@pytest.mark.parametrize("execute", [True, False], ids=["executed", "checked alone"])
def test_the_simulator_stops_at_each_pair_that_is_one_slot_short(assemble, execute):
    found = program("gfx950", assemble)
    rows, wrong, refused = starts(found), {}, set()
    for number, pair in enumerate(hazard_pairs.pairs("gfx950")):
        try:
            short = walk(found, rows[2 * number + 1], execute)
            enough = walk(found, rows[2 * number], execute)
        except SimError as error:
            refused.add(re.search(r"\b(s|v|ds|global|flat|buffer)_\w+", str(error))[0])
            continue
        if (short, enough) != ((pair.slots, pair.slots - 1), None):
            wrong[pair.name] = (pair.slots, short, enough)
    assert wrong == {}
    assert refused == (NOT_SIMULATED if execute else set())


F16, BF16 = "v_mfma_f32_16x16x32_f16", "v_mfma_f32_16x16x32_bf16"
CHAIN = "v[32:35], v[0:3], v[4:7], v[32:35]"
F64 = "v_mfma_f64_16x16x4f64 v[32:39], v[0:1], v[2:3], v[32:39]"
SRD = "s[12:15]"
FREE = {
    "one opcode accumulates": (f"{F16} {CHAIN}", f"{F16} {CHAIN}"),
    "f64 accumulates": (F64, F64),
    "a dot product accumulates": ("v_dot2_f32_f16 v32, v1, v2, v32",) * 2,
    "a store of 64 bits": (f"buffer_store_dwordx2 v[32:33], v60, {SRD}, 0 offen",
                           "v_mov_b32_e32 v32, 0"),
    "a buffer store with a register as soffset": (
        f"buffer_store_dwordx4 v[32:35], v60, {SRD}, s8 offen", "v_mov_b32_e32 v32, 0"),
    "the address of a store": ("global_store_dwordx4 v[60:61], v[32:35], off",
                               "v_mov_b32_e32 v60, 0"),
    "v_cmpx before a plain VALU instruction": ("v_cmpx_eq_u32_e32 vcc, v0, v0",
                                               "v_mov_b32_e32 v32, 0"),
    "another hardware register": ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0",
                                  "s_getreg_b32 s9, hwreg(HW_REG_XCC_ID)"),
    "a dot product before an MFMA": ("v_dot2_f32_f16 v32, v1, v2, v3",
                                     f"{F16} v[64:67], v[32:35], v[4:7], v[64:67]"),
    "op_sel of a packed instruction": ("v_pk_add_f16 v32, v1, v2 op_sel:[0,1]",
                                       "v_add_u32_e32 v20, v32, v21"),
}  # fmt: skip


@pytest.mark.parametrize("name", FREE)
def test_neighbours_of_the_rows_need_no_slots(name, assemble):
    code = loader.load(assemble("\n".join(FREE[name])))
    assert lint(Program(code, code.kernel())) == []


def test_another_opcode_on_the_accumulator_needs_the_slots_of_an_overlap(assemble):
    # LLVM 22 inserts none; its pull request 218363 does.
    code = loader.load(assemble(f"{F16} {CHAIN}\n{BF16} {CHAIN}"))
    assert [(f.needed, f.found) for f in lint(Program(code, code.kernel()))] == [(6, 0)]


def test_a_format_that_changes_the_passes_is_another_opcode(assemble):
    name = "v_mfma_f32_16x16x128_f8f6f4"
    fp8 = f"{name} v[32:35], v[0:7], v[8:15], v[32:35]"
    fp4 = f"{name} v[32:35], v[0:3], v[8:11], v[32:35] cbsz:4 blgp:4"
    code = loader.load(assemble(f"{fp8}\n{fp4}"))
    assert [(f.needed, f.found) for f in lint(Program(code, code.kernel()))] == [(10, 0)]
