"""The queues of vmcnt and lgkmcnt: against AMD's own lists, and on planted streams."""

import json

import pytest

import tracekit
from tests.support import planned
from tests.support.planned import Plan, lines
from tracekit.analysis.model.rows import rows_of
from tracekit.analysis.waits.queues import Counter, queues
from tracekit.gfx9 import Inst
from traces.sample_model import OPCODES, Kind, Opcode

OPCODES.setdefault("flat_load_dword", Opcode(8, Inst.FLAT_RD, Kind.VMEM))
OPCODES.setdefault("s_load_dword", Opcode(8, Inst.SMEM_RD, Kind.SMEM))
OPCODES.setdefault("buffer_inv", Opcode(8, Inst.VMEM_RD, Kind.VMEM))

DECODED = (
    "aiter_fp4_gemm_gfx950_after/ui_output_agent_22109_dispatch_20",
    "aiter_fp4_gemm_gfx950_before/ui_output_agent_1026_dispatch_20",
    "flash_attn_bf16_gfx950/ui_output_agent_55287_dispatch_44",
    "flash_attn_bf16_gfx950/ui_output_agent_58550_dispatch_44",
    "fp8_mla_no_mfma_gfx950/ui_output_agent_41578_dispatch_58",
    "fp8_paged_attention_gfx950/ui_output_agent_10886_dispatch_209",
    "fp8_preshuffle_gemm_gfx950/ui_output_agent_58177_dispatch_135",
    "gemm_bf16_gfx942/ui_output_agent_6426_dispatch_608",
    "wave_gemm_bf16_gfx950/ui_output_agent_32617_dispatch_3",
)


@pytest.mark.parametrize("name", DECODED)
def test_pairing_equals_the_lists_of_amd_in_every_wave(captures, name):
    """AMD lists one entry per counter of a wait that has something outstanding, lgkmcnt first,
    by code.json line."""
    folder = captures / name
    timeline = tracekit.open(folder).timeline()
    listing, rows = timeline.listing, rows_of(timeline)
    mine = [[] for _ in range(len(rows.waves))]
    for queue in queues(rows, listing):
        for wait, first, last in zip(queue.wait, queue.first, queue.last, strict=True):
            if last > first:
                operations = listing.line[rows.row[queue.operations[first:last]]].tolist()
                entry = int(listing.line[rows.row[wait]]), operations
                mine[rows.wave[wait]].append((int(wait), -queue.counter, *entry))
    waves = rows.waves
    for i, found in enumerate(mine):
        file = f"se{waves.se[i]}_sm{waves.simd[i]}_sl{waves.slot[i]}_wv{waves.number[i]}.json"
        lists = json.loads((folder / file).read_text())["wave"]["waitcnt"]
        wanted = [(line, sorted(one[0] for one in those)) for line, those in lists if those]
        assert [(line, sorted(those)) for _, _, line, those in sorted(found)] == wanted, file


def test_pairing_equals_the_lists_of_rocprofv2(captures):
    """The old schema names rows by an index of its own; the number of operations must agree."""
    timeline = tracekit.open(captures / "legacy_rocprofv2_ui").timeline()
    vm, lgkm = queues(rows_of(timeline), timeline.listing)
    lists = [
        json.loads(file.read_text())["wave"]["waitcnt"]
        for file in (captures / "legacy_rocprofv2_ui").rglob("se*_wv*.json")
    ]
    listed = sum(len(those) for one in lists for _, those in one)
    assert listed == sum(int((queue.last - queue.first).sum()) for queue in (vm, lgkm)) > 9000


LOAD = "global_load_dwordx4 v[4:7], v[8:9], off"
FLAT = "flat_load_dword v3, v[8:9]"
LDS = "ds_read_b128 v[4:7], v8"
SMEM = "s_load_dword s4, s[0:1], 0x0"


def paired(folder, *texts):
    """Per wait: {counter: positions of the operations that it needs, or "unknown"}."""
    kernel = lines(*texts, "s_endpgm")
    plan = Plan(kernel, 0, 0, 6000)
    for i in range(len(kernel)):
        plan.at(6500 + 40 * i, i)
    timeline = planned.timeline(planned.write(folder, kernel, [plan]))
    found = {}
    for queue in queues(rows_of(timeline), timeline.listing):
        for i, wait in enumerate(queue.wait.tolist()):
            needed = queue.operations[queue.first[i] : queue.last[i]].tolist()
            assert queue.producer[i] == (needed[-1] if needed else -1)
            what = "unknown" if queue.unknown[i] else needed
            found.setdefault(wait, {})[queue.counter] = what
    return found


VM, LGKM = Counter.VM, Counter.LGKM


def test_a_count_leaves_the_youngest_outstanding(tmp_path):
    found = paired(tmp_path, LOAD, LOAD, LOAD, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)")
    assert found == {3: {VM: [0, 1]}, 4: {VM: [2]}}


def test_what_was_waited_for_has_left_the_queue(tmp_path):
    found = paired(tmp_path, LDS, "s_waitcnt lgkmcnt(0)", LDS, LDS, "s_waitcnt lgkmcnt(1)")
    assert found == {1: {LGKM: [0]}, 4: {LGKM: [2]}}


def test_a_wait_with_fewer_outstanding_than_its_count_needs_nothing(tmp_path):
    assert paired(tmp_path, LOAD, "s_waitcnt vmcnt(1)") == {1: {VM: []}}


def test_stores_and_loads_to_lds_are_counted_with_loads(tmp_path):
    store = "global_store_dwordx2 v[8:9], v[4:5], off"
    to_lds = "buffer_load_dwordx4 v1, s[8:11], 0 offen lds"
    OPCODES.setdefault("global_store_dwordx2", Opcode(8, Inst.FLAT_WR, Kind.VMEM))
    OPCODES.setdefault("buffer_load_dwordx4", Opcode(8, Inst.VMEM_RD, Kind.VMEM))
    assert paired(tmp_path, store, to_lds, LOAD, "s_waitcnt vmcnt(1)") == {3: {VM: [0, 1]}}


def test_cache_control_is_not_counted(tmp_path):
    assert paired(tmp_path, LOAD, "buffer_inv sc1", "s_waitcnt vmcnt(0)") == {2: {VM: [0]}}


def test_flat_is_in_both_queues_and_a_count_above_zero_cannot_tell(tmp_path):
    both = "s_waitcnt vmcnt(0) lgkmcnt(0)"
    found = paired(tmp_path, LOAD, FLAT, "s_waitcnt vmcnt(1)", both)
    assert found == {2: {VM: "unknown"}, 3: {VM: [0, 1], LGKM: [1]}}


def test_scalar_loads_make_lds_unknown_until_a_wait_for_zero(tmp_path):
    found = paired(
        tmp_path, SMEM, LDS, "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)", LDS, LDS,
        "s_waitcnt lgkmcnt(1)",
    )  # fmt: skip
    assert found == {2: {LGKM: "unknown"}, 3: {LGKM: [0, 1]}, 6: {LGKM: [4]}}


def test_unordered_operations_below_the_count_need_nothing(tmp_path):
    assert paired(tmp_path, SMEM, "s_waitcnt lgkmcnt(3)") == {1: {LGKM: []}}
