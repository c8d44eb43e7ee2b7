"""LDS races, bounds and alignment."""

from __future__ import annotations

import numpy as np
import pytest

from zyfa.sim import BoundsError, RaceError, UnknownInstruction, run

# v1 = 4 * thread: every wave writes its own dwords; v2 = the same in the neighbour wave's part.
OWN = "v_lshlrev_b32_e32 v1, 2, v0\nv_xor_b32_e32 v2, 0x100, v1\n"
WRITE = "ds_write_b32 v1, v0\n"
READ = "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n"
WAIT = "s_waitcnt lgkmcnt(0)\n"


def test_barrier_orders_waves(assemble):
    code = assemble(OWN + WRITE + WAIT + "s_barrier\n" + READ, lds=512)
    assert run(code, block=128).instructions == 2 * 8


@pytest.mark.parametrize("timing", [False, True])
def test_read_without_barrier_is_a_race(assemble, timing):
    with pytest.raises(RaceError, match=r"without a barrier|since the last barrier"):
        run(assemble(OWN + WRITE + WAIT + READ, lds=512), block=128, timing=timing)


def test_barrier_before_the_wait_is_a_race(assemble):
    with pytest.raises(RaceError):
        run(assemble(OWN + WRITE + "s_barrier\n" + READ, lds=512), block=128)


def test_write_after_read_is_a_race(assemble):
    body = OWN + WRITE + WAIT + "s_barrier\n" + READ + WRITE + WAIT
    with pytest.raises(RaceError):
        run(assemble(body, lds=512), block=128)


def test_own_write_then_read_is_ordered(assemble):
    code = assemble(OWN + WRITE + "ds_read_b32 v3, v1\n" + WAIT, lds=512)
    assert run(code, block=128).instructions > 0


def test_out_of_bounds(assemble):
    with pytest.raises(BoundsError, match="outside the 256 allocated"):
        run(assemble(OWN + WRITE + WAIT, lds=256), block=128)


def test_misaligned(assemble):
    with pytest.raises(BoundsError, match="not 4-byte aligned"):
        run(assemble("v_mov_b32_e32 v1, 2\nds_read_b32 v2, v1\n" + WAIT, lds=256))


def test_global_access_outside_every_buffer(assemble):
    body = (
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
        "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
    )
    code = assemble(body, buffers=1)
    assert run(code, args=[np.zeros(64, np.float32)]).instructions > 0
    with pytest.raises(BoundsError, match="argument 0"):
        run(code, args=[np.zeros(63, np.float32)])


def test_unknown_instruction_names_text_and_pc(assemble):
    with pytest.raises(UnknownInstruction, match=r"v_prng_b32.* at PC 0x"):
        run(assemble("v_prng_b32_e32 v1, v0\n"))
