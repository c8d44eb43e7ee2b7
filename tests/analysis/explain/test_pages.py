"""Pages of planted and real captures."""

import dataclasses

import pytest

import tracekit
from tests.analysis.explain.planted import LOAD, MFMA, MUL, READ, WAIT, looped, page
from tracekit.analysis.analysis import Analysis
from tracekit.analysis.explain.changes import changes
from tracekit.analysis.explain.evidence import kernels
from tracekit.analysis.explain.keys import Keys
from tracekit.analysis.explain.page import LABELS
from tracekit.analysis.explain.pages import pages
from tracekit.isa.listing import Listing

LATE = [(MFMA, 4), (LOAD, 40), (WAIT, 400), (MUL, 4)]


def real(captures, *parts):
    return Analysis(tracekit.open(captures.joinpath(*parts)).timeline())


def test_the_shares_of_the_causes_are_the_idle_time(tmp_path):
    found = page(looped(tmp_path, *LATE, simds=(0, 1)))
    assert sum(cause.cycles for cause in found.causes) == found.scope.idle_cycles
    assert sum(cause.share for cause in found.causes) == pytest.approx(1)
    assert found.causes[0].key == "vmcnt_wait"
    assert all(cause.low <= cause.share <= cause.high for cause in found.causes)
    assert all(cause.removable_cycles >= cause.cycles for cause in found.causes)
    assert found.matrix_cycles + found.scope.idle_cycles == found.scope.window_cycles


def test_a_chain_goes_from_the_load_to_the_mfma(tmp_path):
    chain = page(looped(tmp_path, *LATE)).causes[0].chains[0]
    names = [ref.instruction for ref in (chain.load, chain.wait, chain.consumer, chain.mfma)]
    assert names == [LOAD, WAIT, MUL, MFMA]
    assert (chain.counter, chain.value, chain.lead_median) == ("vmcnt", 0, 4)


def test_every_number_has_a_label(tmp_path):
    def numbers(value, name=""):
        if isinstance(value, dict):
            for key, each in value.items():
                if key not in ("labels", "numbers"):
                    yield from numbers(each, key)
        elif isinstance(value, list | tuple):
            for each in value:
                yield from numbers(each, name)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name

    named = set(numbers(page(looped(tmp_path, *LATE)).json()))
    named -= {"dispatches", "ses", "cus", "simds"}  # which, not how many
    assert named <= set(LABELS)
    assert set(LABELS.values()) == {"observed", "inferred", "simulated"}
    assert {LABELS[name] for name in ("gain_cycles", "after_cycles", "error")} == {"simulated"}


def test_without_a_replay_there_are_no_gains(tmp_path):
    result = page(looped(tmp_path, *LATE)).json()
    assert result["replay"] is None
    assert result["gain_note"] == "not replayed"
    assert {cause["gain"] for cause in result["causes"]} == {None}


def listing(texts, base):
    return Listing.build(1, [base + 8 * i for i in range(len(texts))], texts)


def test_keys_do_not_depend_on_addresses():
    texts = [MFMA, LOAD, WAIT, MUL, MFMA, READ]
    old, new = Keys(listing(texts, 0x100)), Keys(listing([MUL] * 4 + texts, 0x900))
    assert [old.of(i) for i in range(3, 6)] == [new.of(i) for i in range(7, 10)]
    assert old.of(-1) == ""
    assert old.pair(-1, 4).startswith("start -> ")


def test_equal_sequences_are_counted():
    keys = Keys(listing([MUL] * 12, 0))
    assert len({keys.of(i) for i in range(12)}) == 12


def test_a_longer_wait_grew_and_the_same_capture_is_unchanged(tmp_path):
    (old,), (new,) = (
        kernels(looped(tmp_path / name, *LATE[:2], (WAIT, wait), LATE[3], turns=9))
        for name, wait in (("old", 200), ("new", 400))
    )
    found = {change.key: change for change in changes(old, new).rows}
    assert found["vmcnt_wait"].verdict == found["iteration"].verdict == "grew"
    assert found["vmcnt_wait"].difference == pytest.approx(200)
    assert {change.verdict for change in changes(old, old).rows} == {"unchanged"}
    assert next(iter(found)) == "iteration"


def test_the_hash_is_of_what_was_traced(tmp_path):
    one, same, other = (
        page(looped(tmp_path / name, *LATE[:2], (WAIT, wait), LATE[3])).scope.capture_hash
        for name, wait in (("one", 200), ("same", 200), ("other", 204))
    )
    assert one == same != other


def test_flash_attention_names_its_late_loads(captures):
    found = pages(real(captures, "flash_attn_bf16_gfx950", "ui_output_agent_55287_dispatch_44"))
    causes = {cause.key: cause for cause in found[0].causes}
    chains = causes["vmcnt_wait"].chains[:2]
    assert [(c.wait.vaddr, c.load.vaddr) for c in chains] == [(0x3C84, 0x3C7C), (0x2CB8, 0x2CB0)]
    assert all(chain.mfma.vaddr > 0 for chain in chains)
    first = found[0].advice[0]
    assert first.rule == "prefetch_distance"
    assert [ref.vaddr for ref in first.places[:2]] == [0x3C84, 0x2CB8]
    assert {each.waves: round(each.share, 2) for each in found[0].resident} == {1: 0.61, 2: 0.39}
    assert found[0].limiter is None
    assert {each.se for each in found[0].tail} == {0, 1, 2, 3}


def test_a_capture_without_an_mfma_gets_wave_time_and_no_advice(captures):
    found = pages(real(captures, "fp8_mla_no_mfma_gfx950"))
    assert not any(each.causes or each.advice for each in found)
    assert sum(each.share for each in found[0].wave_time) == pytest.approx(1)


def test_without_addresses_instructions_are_lines(captures):
    (found,) = pages(real(captures, "legacy_rocprofv2_ui"))
    assert (found.conclude, found.advice) == (False, ())
    charged = [each.at for cause in found.causes for each in cause.instructions]
    assert charged
    assert all(ref.vaddr < 0 and ref.place == f"line {ref.line}" for ref in charged)
    chain = next(cause for cause in found.causes if cause.key == "lgkmcnt_wait").chains[0]
    assert chain.load.instruction.startswith("ds_read")


@pytest.mark.slow
def test_the_fp4_gemm_is_refused_by_the_lds_first_then_by_memory(captures):
    new = real(captures, "aiter_fp4_gemm_gfx950_after", "att")
    (found,) = pages(new)
    assert [c.key for c in found.causes[:2]] == ["lds_refused_or_issue", "vmem_refused_or_issue"]
    assert round(found.bytes.memory_bytes_per_cycle, 1) == 19.3
    assert [each.rule for each in found.advice] == ["lds_bursts", "vmem_pressure"]
    old = real(captures, "aiter_fp4_gemm_gfx950_before", "att")
    changed = {c.key: c for c in changes(*(kernels(each)[0] for each in (old, new))).rows}
    assert changed["lds_refused_or_issue"].verdict == "grew"
    assert changed["vmem_refused_or_issue"].verdict == "shrank"
    assert dataclasses.asdict(changed["iteration"])["verdict"] == "shrank"
