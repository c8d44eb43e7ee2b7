import pytest

from tracekit.gfx9 import ARCHS
from tracekit.isa.pipes import Pipe, cost


@pytest.mark.parametrize(
    ("text", "pipe"),
    [
        ("v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", Pipe.MATRIX),
        ("v_smfmac_f32_32x32x32_f16 a[0:15], v[0:3], v[4:11], v12", Pipe.MATRIX),
        ("v_accvgpr_read_b32 v0, a0", Pipe.VECTOR),
        ("v_mov_b32_e32 v0, v1", Pipe.VECTOR),
        ("ds_read_b32 v0, v1", Pipe.LDS),
        ("flat_load_dword v0, v[0:1]", Pipe.VMEM),
        ("s_add_u32 s0, s0, 1", Pipe.SCALAR),
        ("s_branch 3", Pipe.BRANCH),
        ("s_nop 0", Pipe.NONE),
        (".long 0xdeadbeef", Pipe.NONE),
        ("", Pipe.NONE),
    ],
)
def test_pipe(text, pipe):
    assert cost("gfx950", text).pipe is pipe


def test_formats_count_although_costs_are_shared_by_opcode():
    text = "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13"
    assert cost("gfx950", text + " cbsz:4 blgp:4").cycles == 16
    assert cost("gfx950", text).cycles == 32
    assert cost("gfx950", text + " cbsz:4 blgp:4").cycles == 16


def test_unknown_matrix_opcode_has_no_cycles():
    unknown = cost("gfx950", "v_mfma_f32_64x64x64_fp2 a[0:63], v[0:3]")
    assert (unknown.pipe, unknown.cycles) == (Pipe.MATRIX, None)


def test_unknown_architecture_is_refused():
    with pytest.raises(ValueError, match="gfx1100"):
        cost("gfx1100", "v_mov_b32_e32 v0, v1")


@pytest.mark.parametrize("arch", ARCHS)
def test_every_opcode_has_a_pipe_cycles_and_a_source(opcodes, arch):
    for name, (_, text) in opcodes(arch).items():
        found = cost(arch, text)
        assert found.cycles is not None, name
        assert found.source, name
        assert found.klass, name
