import pytest

from tracekit.isa.costs import Pipe
from tracekit.isa.memory import cost


@pytest.mark.parametrize(
    ("text", "pipe", "klass", "cycles"),
    [
        ("ds_read_b128 v[0:3], v4", Pipe.LDS, "read", 4),
        ("ds_read_b64_tr_b16 v[0:1], v4", Pipe.LDS, "read", 4),
        ("ds_read2_b64 v[0:3], v4", Pipe.LDS, "read", 8),
        ("ds_bpermute_b32 v0, v1, v2", Pipe.LDS, "permute", 8),
        ("ds_swizzle_b32 v0, v1", Pipe.LDS, "permute", 4),
        ("ds_write_b32 v0, v1", Pipe.LDS, "write", 8),
        ("ds_write_b64 v0, v[2:3]", Pipe.LDS, "write", 12),
        ("ds_write2_b32 v0, v1, v2", Pipe.LDS, "write", 12),
        ("ds_write_b128 v0, v[4:7]", Pipe.LDS, "write", 20),
        ("ds_write2_b64 v0, v[2:3], v[4:5]", Pipe.LDS, "write", 20),
        ("ds_add_u32 v0, v1", Pipe.LDS, "atomic", 8),
        ("global_load_dwordx4 v[0:3], v[4:5], off", Pipe.VMEM, "load", 4),
        ("buffer_load_dwordx4 v1, s[4:7], 0 offen lds", Pipe.VMEM, "load_lds", 4),
        ("global_load_lds_dwordx4 v[0:1], off", Pipe.VMEM, "load_lds", 4),
        ("flat_store_dword v[0:1], v2", Pipe.VMEM, "store", 4),
        ("buffer_atomic_add v0, s[0:3], 0", Pipe.VMEM, "atomic", 4),
        ("buffer_wbl2 sc1", Pipe.VMEM, "cache", 4),
        ("s_load_dword s0, s[0:1], 0x0", Pipe.SCALAR, "smem", 4),
        ("s_mov_b32 s0, 0", Pipe.SCALAR, "salu", 4),
        ("s_swappc_b64 s[0:1], s[2:3]", Pipe.SCALAR, "call", 4),
        ("s_cbranch_scc0 12", Pipe.BRANCH, "branch", 4),
        ("s_nop 3", Pipe.NONE, "nop", 0),
        ("s_waitcnt vmcnt(0)", Pipe.NONE, "wait", 0),
        ("s_barrier", Pipe.NONE, "barrier", 0),
        ("s_endpgm", Pipe.NONE, "end", 0),
    ],
)
def test_pipe_class_cycles(text, pipe, klass, cycles):
    found = cost("gfx950", text)
    assert (found.pipe, found.klass, found.cycles) == (pipe, klass, cycles)


def test_vector_and_unknown_text_is_not_of_this_table():
    assert cost("gfx950", "v_mov_b32_e32 v0, v1") is None
    assert cost("gfx950", ".long 0x0") is None


def test_confidence_follows_what_was_seen():
    assert cost("gfx950", "ds_write_b128 v0, v[4:7]").confidence == "high"
    assert cost("gfx942", "ds_write_b128 v0, v[4:7]").confidence == "medium"
    assert cost("gfx942", "ds_write_b64 v0, v[4:5]").confidence == "high"
    assert cost("gfx90a", "ds_write_b128 v0, v[4:7]").confidence == "low"
