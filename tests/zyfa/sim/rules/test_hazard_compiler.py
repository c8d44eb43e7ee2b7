"""The third witness of the hazard tables: the wait states that the compiler inserts.

Cells that no LLVM IR shows are cited: the check of LLVM's GCNHazardRecognizer that has them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import hazard_ir
from zyfa.sim.isa.program import Program
from zyfa.sim.isa.syntax import Syntax, parse
from zyfa.sim.rules.effects import effects
from zyfa.sim.rules.hazards import Scoreboard, scoreboard
from zyfa.sim.rules.lint import lint, states
from zyfa.sim.rules.waitstates import ACCUMULATORS, ARCHS, Kind, Role, needs
from zyfa.sim.state import loader

LANE_MASK = "the compiler writes no v_cmpx on gfx9"
COPIED = "the compiler copies a C of more than 4 registers before an MFMA that leaves it"
CITED = {
    (Kind.DOT, Role.VALU_WRITE): ("checkMAIVALUHazards", "no result is left unread"),
    (Kind.DOT, Role.MEMORY_WRITE): ("checkMAIVALUHazards", "no result is left unread"),
    (Kind.HALF, Role.MATRIX_WRITE): ("checkVALUHazards", "no result is left unread"),
    (Kind.VALU_SCALAR, Role.EXEC_MATRIX): ("checkMAIHazards90A", LANE_MASK),
    (Kind.VALU_SCALAR, Role.EXEC_MEMORY): ("checkVMEMHazards", LANE_MASK),
    (Kind.VALU_SCALAR, Role.EXEC_DPP): ("checkDPPHazards", LANE_MASK),
    (Kind.VALU_SCALAR, Role.EXEC_LANE): ("checkVALUHazards", LANE_MASK),
    (Kind.VALU_SCALAR, Role.EXEC_SWAP): ("checkPermlaneHazards", LANE_MASK),
    (Kind.SETREG, Role.RFE): ("checkRFEHazards", "only trap handlers return from an exception"),
    (Kind.XDL8_SRC_C, Role.VALU_WRITE): ("checkMAIVALUHazards", COPIED),
    (Kind.XDL8_SRC_C, Role.MEMORY_WRITE): ("checkMAIVALUHazards", COPIED),
    (Kind.XDL16_SRC_C, Role.VALU_WRITE): ("checkMAIVALUHazards", COPIED),
    (Kind.XDL16_SRC_C, Role.MEMORY_WRITE): ("checkMAIVALUHazards", COPIED),
}
"""Cell -> (check of the recogniser, why the compiler does not emit the pair)."""
COUNTS = {"gfx90a": (87, 10), "gfx942": (151, 12), "gfx950": (164, 13)}
"""Chip -> cells that the compiler shows, cells that are cited."""
LABEL, CODE = re.compile(r"(\w+__\w+):"), re.compile(r"\t([a-z]\w+.*)")


@dataclass(frozen=True)
class Compiled:
    """The compiler's assembly of one chip, and its instructions by function."""

    arch: str
    text: str
    functions: dict[str, list[Syntax]]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> dict[str, Compiled]:
    pytest.importorskip("ziglang", reason="clang for gfx9 comes with the ziglang wheel")
    return {arch: _compile(arch, tmp_path_factory.mktemp(arch)) for arch in ARCHS}


def _compile(arch: str, folder: Path) -> Compiled:
    source, out = folder / "pairs.ll", folder / "pairs.s"
    source.write_text(hazard_ir.module(arch))
    # With XNACK the compiler also breaks clauses of loads, which is no hazard of a result.
    chip = arch if arch == "gfx950" else f"{arch}:xnack-"
    _clang(chip, "-nogpulib", "-Wno-override-module", "-O2", "-S", source, "-o", out)
    functions: dict[str, list[Syntax]] = {}
    current: list[Syntax] = []
    for line in out.read_text().splitlines():
        if label := LABEL.match(line):
            current = functions.setdefault(label[1], [])
        elif code := CODE.match(line):
            current.append(parse(code[1].split(";")[0].strip()))
    return Compiled(arch, out.read_text(), functions)


def _clang(chip: str, *arguments: object) -> None:
    command = [sys.executable, "-m", "ziglang", "clang", "--target=amdgcn-amd-amdhsa"]
    subprocess.run([*command, f"-mcpu={chip}", *map(str, arguments)], check=True)


def inserted(found: Compiled, snippet) -> tuple[int, bool] | None:
    """(slots between the pair, whether there is an s_nop among them); None without the pair."""
    lines = found.functions[snippet.name]
    boards = [scoreboard(inst.text, found.arch) for inst in lines]
    for late, board in enumerate(boards):
        for early in range(late - 1, -1, -1):
            if _meet(found.arch, snippet, lines[early].text, boards[early], board):
                between = lines[early + 1 : late]
                nop = any(inst.text.startswith("s_nop") for inst in between)
                return sum(map(states, between)), nop
    return None


def _meet(arch: str, snippet, text: str, producer: Scoreboard, consumer: Scoreboard) -> bool:
    left = effects(text, arch)
    if snippet.kind not in (left.vector, left.scalar, left.held):
        return False
    registers = {r for _, written in producer.marks for r in written}
    if snippet.kind == left.held:
        registers = set(producer.war_registers)
    roles = {snippet.role}
    same = consumer.accumulator == producer.vector_writes
    if snippet.role == Role.SAME_C:
        roles = set(ACCUMULATORS) if same else set()
    elif snippet.role == Role.MEMORY_AFTER_DGEMM:
        roles = {Role.MEMORY}
    elif snippet.role in ACCUMULATORS and same:
        roles = set()
    return any(role in roles and register in registers for register, role in consumer.checks)


def witnessed(found: Compiled) -> dict[tuple[Kind, Role], int]:
    """Cell that needs slots -> slots, where the compiler filled the distance with s_nop."""
    out, table = {}, needs(found.arch)
    for snippet in hazard_ir.snippets(found.arch):
        result = inserted(found, snippet) if table[snippet.kind][snippet.role] else None
        if result is not None and result[1]:
            out[snippet.kind, snippet.role] = result[0]
    return out


@pytest.mark.parametrize("arch", ARCHS)
def test_the_compiler_inserts_what_the_table_says(arch, compiled):
    table = needs(arch)
    slots = witnessed(compiled[arch])
    wrong = {
        f"{kind.name} {role.name}": (table[kind][role], count)
        for (kind, role), count in slots.items()
        if table[kind][role] != count
    }
    assert wrong == {}


@pytest.mark.parametrize("arch", ARCHS)
def test_every_cell_is_shown_by_the_compiler_or_cited(arch, compiled):
    cells = {(kind, role) for kind in Kind for role in Role if needs(arch)[kind][role]}
    shown = set(witnessed(compiled[arch]))
    cited = set(CITED) & cells
    assert shown | cited == cells
    assert shown & cited == set()
    assert (len(shown), len(cited)) == COUNTS[arch]


@pytest.mark.parametrize("arch", ARCHS)
def test_lint_finds_nothing_in_what_the_compiler_emits(arch, compiled, tmp_path):
    assert _lint(arch, compiled[arch].text, tmp_path)[1] == []


@pytest.mark.parametrize("arch", ARCHS)
def test_lint_finds_every_distance_that_loses_a_slot(arch, compiled, tmp_path):
    # With the test above: neither more nor fewer slots than the compiler's, also in the functions
    # of the cells that need none.
    def shorten(found: re.Match[str]) -> str:
        count = int(found[1])
        return f"\ts_nop {count - 1}\n" if count else ""

    text, nops = re.subn(r"\ts_nop (\d+)\n(?!\ts_nop)", shorten, compiled[arch].text)
    program, findings = _lint(arch, text, tmp_path)
    guarded = _guarded(compiled[arch].text)
    names = [inst.text for inst in program.instructions if not inst.text.startswith("s_nop")]
    assert len(guarded) == nops > 100
    rows = {inst.index: n for n, inst in enumerate(
        i for i in program.instructions if not i.text.startswith("s_nop"))}  # fmt: skip
    reported = {rows[program.index_of(int(f.consumer.rsplit("PC ", 1)[1], 16))] for f in findings}
    assert [names[n] for n in sorted(guarded - reported)] == []


def test_lint_reports_the_two_gaps_of_llvm_22(tmp_path):
    # Pull requests 218363 and 222040 close them: the compiler of this test has neither.
    pytest.importorskip("ziglang", reason="clang for gfx9 comes with the ziglang wheel")
    source, out = tmp_path / "gaps.ll", tmp_path / "gaps.s"
    source.write_text(hazard_ir.gaps())
    _clang("gfx950", "-nogpulib", "-Wno-override-module", "-O2", "-S", source, "-o", out)
    _, findings = _lint("gfx950", out.read_text(), tmp_path)
    assert [(f.needed, f.found) for f in findings] == [(6, 0), (20, 19)]
    assert [f.producer.split()[0] for f in findings] == [
        "v_mfma_f32_16x16x32_f16",
        "v_mfma_f32_32x32x4_2b_f16",
    ]


def _guarded(text: str) -> set[int]:
    """Numbers, without s_nop, of the instructions that have an s_nop directly before them."""
    out, number, after = set(), 0, False
    for line in text.splitlines():
        if code := CODE.match(line):
            if code[1].startswith("s_nop"):
                after = True
                continue
            if after:
                out.add(number)
            number, after = number + 1, False
    return out


def _lint(arch: str, text: str, folder: Path):
    source, obj, linked = (folder / f"pairs.{end}" for end in ("s", "o", "co"))
    source.write_text(text)
    chip = arch if arch == "gfx950" else f"{arch}:xnack-"
    _clang(chip, "-c", source, "-o", obj)
    command = [sys.executable, "-m", "ziglang", "ld.lld", "-shared", obj, "-o", linked]
    subprocess.run(list(map(str, command)), check=True)
    code = loader.load(linked, ARCHS)
    program = Program(code, next(iter(code.kernels.values())))
    return program, lint(program)
