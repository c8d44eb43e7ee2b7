"""Properties of the emitted kernels: counts per block, budgets, hazards, determinism."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from zyfa import toolchain
from zyfa.codegen import Options, all_options, emit, kernel
from zyfa.codegen.hazards import legalise
from zyfa.codegen.instruction import Comment, Instruction, Label
from zyfa.codegen.options import CHOICES
from zyfa.sim.isa.program import Program, disassemble
from zyfa.sim.rules.lint import lint
from zyfa.sim.state.loader import load

SOFTMAX = ("exact", "lean_u8", "lean_ashr")
QUICK = [o for o in all_options() if o.markers == "off" and o.setprio == "off"]
SWITCHED = [o for o in all_options() if o.markers == o.setprio == "on" and o.fma == "packed"]


def loop_body(options):
    """Instructions of the unmasked block loop."""
    lines = list(kernel(options).lines)
    first = next(i for i, x in enumerate(lines) if isinstance(x, Label) and "block" in x.name)
    last = next(i for i, x in enumerate(lines) if lines[first].name in str(x) and i > first)
    return [x for x in lines[first:last] if isinstance(x, Instruction)]


def counts(options):
    return Counter(x.mnemonic.removesuffix("_e64") for x in loop_body(options))


@pytest.mark.parametrize("softmax", SOFTMAX)
@pytest.mark.parametrize("schedule", CHOICES["schedule"])
def test_matrix_and_element_work_of_a_block(softmax, schedule):
    n = counts(Options(softmax=softmax, schedule=schedule))
    big = n["v_mfma_f32_32x32x64_f8f6f4"] + n["v_mfma_scale_f32_32x32x64_f8f6f4"]
    assert big * 64 == 1024
    assert n["v_mfma_f32_16x16x128_f8f6f4"] * 32 == 64
    assert n["ds_read_b128"] == 16
    assert n["ds_read_b64_tr_b8"] == 32
    assert n["buffer_load_dwordx4"] == 4
    assert n["s_barrier"] == (6 if "gap" in schedule else 2)
    assert n["v_exp_f32"] == (64 if softmax == "exact" else 0)
    assert n["v_cvt_pk_fp8_f32"] == (32 if softmax == "exact" else 0)
    assert n["v_cvt_pk_u8_f32"] == (64 if softmax == "lean_u8" else 0)
    assert n["v_ashr_pk_u8_i32"] == (32 if softmax == "lean_ashr" else 0)


def test_qk_is_scaled_only_for_lean_ashr():
    scaled = "v_mfma_scale_f32_32x32x64_f8f6f4"
    assert counts(Options(softmax="lean_ashr"))[scaled] == 16
    assert counts(Options(softmax="exact"))[scaled] == 8


def test_packed_and_scalar_multiply_adds():
    assert counts(Options(fma="packed", schedule="gap"))["v_pk_fma_f32"] == 32
    assert not any(m.startswith("v_pk") for m in counts(Options(fma="scalar")))


@pytest.mark.parametrize("softmax", ["lean_u8", "lean_ashr"])
def test_the_softmax_phase_fits_the_shadow_of_the_other_wave(softmax):
    ticks = sum(2 if re.match("v_(exp|permlane)", x.mnemonic) else 1
                for x in loop_body(Options(softmax=softmax)) if x.is_vector)  # fmt: skip
    assert ticks <= 192


@pytest.mark.parametrize("schedule", CHOICES["schedule"])
@pytest.mark.parametrize("name", ["lean_ashr", "exact-packed", "lean_u8-rowsum_a"])
def test_dense_code_does_not_cross_fetch_lines(name, schedule):
    """An eight-byte instruction over a 32-byte line may cost four cycles (timing_rules 1.8)."""
    rows = disassemble(load(toolchain.build(emit(Options.parse(f"{name}-{schedule}")))))
    maxima = [text.startswith("v_maximum3_f32") for _, _, text in rows]
    first = next(i for i, run in enumerate(pairwise(maxima)) if all(run))
    length = next(i for i, (_, _, text) in enumerate(rows[first:]) if "vmcnt(0) lgkm" in text)
    phase = rows[first : first + length]
    assert length > 130
    assert not any(size == 8 and address % 8 for address, size, _ in phase)


def test_no_padding_in_the_element_work():
    body = loop_body(Options())
    first = next(i for i, x in enumerate(body) if x.mnemonic == "s_cbranch_vccnz") + 1
    last = max(i for i, x in enumerate(body) if x.mnemonic == "v_ashr_pk_u8_i32")
    between = {x.mnemonic for x in body[first:last] if not x.mnemonic.startswith("ds_read")}
    assert between == {"v_fma_f32", "v_ashr_pk_u8_i32"}


@pytest.mark.parametrize("options", QUICK, ids=lambda o: o.name)
def test_a_rescale_multiplies_outputs_last_and_joins_before_the_barrier(options):
    lines = list(kernel(options).lines)
    paths = [i for i, x in enumerate(lines) if isinstance(x, Label) and "rescale" in x.name]
    assert len(paths) == 3  # the loop and the two diagonal blocks
    for first in paths:
        length = next(i for i, x in enumerate(lines[first:]) if str(x).startswith("  s_branch"))
        path = [x for x in lines[first : first + length] if isinstance(x, Instruction)]
        assert [x.mnemonic for x in path[-32:]] == ["v_pk_mul_f32"] * 32
        written = [unit for x in path[-32:] for unit in sorted(x.writes)]
        assert len(set(written)) == 64
        names = Counter(x.mnemonic for x in path[:-32])
        assert names["v_pk_mul_f32"] == 0
        assert names["v_ashr_pk_u8_i32"] == (32 if options.softmax == "lean_ashr" else 0)
        back = lines[first + length].operands[0]
        at = next(i for i, x in enumerate(lines) if isinstance(x, Label) and x.name == back)
        assert [lines[at + i].mnemonic for i in (1, 2)] == ["s_waitcnt", "s_barrier"]


def test_operands_are_read_three_matrix_instructions_ahead():
    body = loop_body(Options())
    read_at, index = {}, 0
    for x in body:
        if x.mnemonic.startswith("ds_read"):
            read_at |= dict.fromkeys(x.writes, index)
        elif x.is_mfma:
            a = x.operands[1].units()
            ages = [index - read_at[u] for u in a if u in read_at]
            if index >= 6 and x.operands[3] is not None and ages:
                assert min(ages) >= 3
            index += 1


@pytest.mark.parametrize("options", QUICK, ids=lambda o: o.name)
def test_hazards_are_resolved_and_nothing_spills(options):
    lines = list(kernel(options).lines)
    assert legalise(lines) == lines
    assert not any(x.mnemonic.startswith("scratch") for x in lines if isinstance(x, Instruction))


def test_text_is_deterministic_and_commented():
    assert emit(Options()) == emit(Options())
    assert sum(isinstance(x, Comment) for x in kernel(Options()).lines) >= 6


@pytest.mark.parametrize("name", ["exact-gap-packed-rowsum_a", "lean_u8", "markers-setprio"])
def test_variants_assemble(name):
    options = Options.parse(name)
    code = toolchain.build(emit(options))
    assert options.symbol.encode() in code
    assert (b"sqtt_funcmap" in code) == (options.markers == "on")


@pytest.mark.parametrize("options", [*QUICK, *SWITCHED], ids=lambda o: o.name)
def test_lint_finds_nothing_in_a_variant(options):
    code = load(toolchain.build(emit(options)))
    assert lint(Program(code, code.kernel())) == []


def test_setprio_brackets_the_matrix_phase():
    body = loop_body(Options(setprio="on"))
    values = [x.operands[0] for x in body if x.mnemonic == "s_setprio"]
    assert values == [1, 0]
