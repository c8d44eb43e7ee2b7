"""Records -> listing rows, on code objects that the tests assemble themselves."""

import numpy as np
import pytest

from tracekit.gfx9 import INST_IMMED, Inst
from tracekit.isa import elf
from tracekit.sqtt.decode import decode, native_core
from tracekit.sqtt.layout import Misc
from tracekit.sqtt.stitch import StitchTable, stitch
from tracekit.sqtt.wave_writer import Executed, barrier, endpgm, immediate, write_wave
from tracekit.sqtt.writer import StreamWriter

IMPLEMENTATIONS = ["python"] + (["native"] if native_core() is not None else [])

KERNEL = """
  s_mov_b32 s4, 0
  v_mov_b32 v9, 0x3f8ccccd
  s_getpc_b64 s[30:31]
loop:
  v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[16:23], v[24:31], v[0:3], v8, v9
  v_fma_f32 v10, v11, v12, v13
  s_barrier
  s_call_b64 s[6:7], helper
  s_add_u32 s4, s4, 1
  s_cmp_lt_u32 s4, 3
  s_cbranch_scc1 loop
  s_swappc_b64 s[6:7], s[30:31]
  v_add_f32 v1, v2, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
helper:
  ds_read_b128 v[4:7], v8
  s_waitcnt lgkmcnt(0)
  s_setpc_b64 s[6:7]
"""

#: INST type of a line by its first word and its size.
TYPES = {
    ("s_getpc", 4): Inst.SALU_32, ("s_mov", 4): Inst.SALU_32, ("s_add", 4): Inst.SALU_32,
    ("s_cmp", 4): Inst.SALU_32, ("v_mov", 8): Inst.VALU_64, ("v_fma", 8): Inst.VALU_64,
    ("v_add", 4): Inst.VALU_32, ("v_mfma", 16): Inst.VALU_MAI, ("ds_read", 8): Inst.LDS,
    ("s_call", 4): Inst.PC, ("s_swappc", 4): Inst.PC, ("s_setpc", 4): Inst.PC,
}  # fmt: skip


@pytest.fixture
def listing(assemble):
    return elf.read(assemble(KERNEL), 1)


@pytest.fixture
def plain(assemble):
    """No call and no loop: only the instructions tell the place."""
    body = [
        "s_mov_b32 s4, 0", "v_add_f32 v1, v2, v3", "ds_read_b128 v[4:7], v8",
        "v_fma_f32 v10, v11, v12, v13", "s_waitcnt lgkmcnt(0)",
    ]  # fmt: skip
    order = [0, 1, 1, 2, 3, 0, 4, 1, 0, 2, 2, 3, 3, 0, 0, 4, 1, 2, 0, 1, 3, 4, 0, 2, 1, 0, 3, 3, 1]
    return elf.read(assemble("\n".join([body[i] for i in order] + ["s_endpgm"])), 1)


def row(listing, start, nth=0):
    """Row of the ``nth`` line that begins with ``start``."""
    return [i for i, text in enumerate(listing.text) if text.startswith(start)][nth]


def flow(listing):
    """Rows in the order of execution: three rounds of the loop, then a call by register."""
    at = {name: row(listing, name) for name in ("v_mfma", "s_call", "s_cbranch", "s_swappc")}
    helper = row(listing, "ds_read")
    rows = list(range(at["v_mfma"]))
    for _ in range(3):
        rows += range(at["v_mfma"], at["s_call"] + 1)
        rows += range(helper, helper + 3)
        rows += range(at["s_call"] + 1, at["s_cbranch"] + 1)
    rows += [at["s_swappc"], helper, helper + 1, helper + 2]
    return [*rows, at["s_swappc"] + 1, at["s_swappc"] + 2, at["s_swappc"] + 3]


def records(listing, rows, base=0):
    """What a wave leaves in the trace when it runs ``rows``."""
    result, now = [], 2000
    for here, following in zip(rows, [*rows[1:], None], strict=True):
        text = listing.text[here]
        if text.startswith("s_endpgm"):
            result.append(endpgm(now))
        elif text.startswith("s_barrier"):
            result.append(barrier(now, now + 8))
            now += 8
        elif text.startswith("s_waitcnt"):
            result.append(immediate(now))
        elif text.startswith("s_cbranch"):
            taken = following != here + 1
            result.append(Executed(Inst.JUMP if taken else Inst.NEXT, now))
        else:
            (kind,) = [
                kind
                for (name, size), kind in TYPES.items()
                if text.startswith(name) and size == listing.size[here]
            ]
            pc = base + int(listing.vaddr[following]) if kind == Inst.PC else None
            result.append(Executed(kind, now, next_pc=pc))
        now += 16
    return result


def decoded(executed, implementation, extra=()):
    writer = StreamWriter(target_cu=1)
    write_wave(writer, 0, 0, 1900, executed)
    for time in extra:
        writer.misc(time, Misc.PACKET_LOST)
    return decode(writer.finish(), 1, implementation)


def rows_of(raw, listing, start, implementation):
    """Row of each record, those of barrier releases taken out, and the wave's counts."""
    anchors = np.array(
        [listing.row_of(1, a) if a >= 0 else -1 for a in raw.anchors[:, 2].tolist()], np.int32
    )
    found = stitch(
        raw, StitchTable.of(listing), np.array([start], np.int32), anchors, implementation
    )
    released = [
        i > 0 and raw.type[i] == INST_IMMED and raw.type[i - 1] == Inst.OTHER_MSG
        for i in range(raw.records)
    ]
    return [r for r, gone in zip(found.row.tolist(), released, strict=True) if not gone], found


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
class TestStitch:
    def test_loops_calls_branches_and_indirect_jumps(self, listing, implementation):
        rows = flow(listing)
        raw = decoded(records(listing, rows), implementation)
        found, counts = rows_of(raw, listing, 0, implementation)
        assert found == rows
        assert counts.stitched.tolist() == [raw.records]
        assert counts.resynchronised.tolist() == [0]
        assert 16 in listing.size[found]

    def test_a_wave_without_a_start_is_found_by_its_instructions(self, plain, implementation):
        rows = list(range(len(plain)))
        raw = decoded(records(plain, rows), implementation)
        found, counts = rows_of(raw, plain, -1, implementation)
        assert found == rows
        assert counts.resynchronised.tolist() == [1]

    def test_a_wrong_start_is_left_and_the_place_found_again(self, plain, implementation):
        rows = list(range(len(plain)))
        raw = decoded(records(plain, rows), implementation)
        found, counts = rows_of(raw, plain, 3, implementation)
        assert counts.resynchronised.tolist() == [1]
        # What the wrong start happened to fit is all that may be wrong.
        assert found[-10:] == rows[-10:]

    def test_an_inst_pc_token_ends_the_search(self, listing, implementation):
        rows = flow(listing)
        raw = decoded(records(listing, rows), implementation)
        found, _ = rows_of(raw, listing, -1, implementation)
        known = found.index(next(r for r in found if r >= 0))
        assert found[known:] == rows[known:]
        assert listing.text[rows[known - 1]].startswith("s_call")

    def test_what_fits_nowhere_stays_unstitched(self, listing, implementation):
        strange = [Executed(Inst.SMEM_RD, 2000 + 16 * i) for i in range(20)]
        raw = decoded([*strange, endpgm(3000)], implementation)
        found, counts = rows_of(raw, listing, 0, implementation)
        assert found == [-1] * 21
        assert counts.stitched.tolist() == [0]


def test_both_walkers_agree_on_any_types(listing):
    if native_core() is None:
        pytest.skip("the native stitcher was not built or is switched off")
    rng = np.random.default_rng(7)
    table = StitchTable.of(listing)
    base = decoded(records(listing, flow(listing)), "python")
    for _ in range(300):
        raw = decoded(records(listing, flow(listing)), "python")
        hit = rng.integers(0, raw.records, rng.integers(1, 6))
        raw.type[hit] = rng.choice(
            [0, 1, 5, 6, 7, 12, 13, 15, 17, 18, 28, 29, 32, 33, 34], len(hit)
        )
        start = np.array([rng.integers(-1, len(listing))], np.int32)
        anchors = rng.integers(-1, len(listing), len(raw.anchors)).astype(np.int32)
        one = stitch(raw, table, start, anchors, "python")
        other = stitch(raw, table, start, anchors, "native")
        assert np.array_equal(one.row, other.row)
        assert one.resynchronised.tolist() == other.resynchronised.tolist()
        assert one.swapped.tolist() == other.swapped.tolist()
    assert base.records == raw.records
