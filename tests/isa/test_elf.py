import json

import pytest

from tracekit.errors import FormatError
from tracekit.isa import codejson, disassembler, elf
from tracekit.isa.classify import Expect

if disassembler.available() is None:
    pytest.skip("no LLVM library: install the extra 'isa'", allow_module_level=True)

KERNEL = """
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_mov_b32 s7, 0x27000
loop:
  v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13 op_sel_hi:[0,0,0] cbsz:4 blgp:4
  v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]
  v_accvgpr_read_b32 v1, a0
  s_cbranch_scc1 skip
  s_call_b64 s[4:5], leaf
  s_swappc_b64 s[30:31], s[4:5]
skip:
  s_cbranch_scc0 loop
  s_endpgm
leaf:
  s_setpc_b64 s[4:5]
"""  # noqa: E501


def test_listing(assemble):
    listing = elf.read(assemble(KERNEL), 7)
    base = int(listing.vaddr[0])
    assert set(listing.code_object.tolist()) == {7}
    assert listing.arch == "gfx950"
    assert [text.split()[0] for text in listing.text] == [
        "s_load_dwordx2", "s_mov_b32", "v_mfma_scale_f32_16x16x128_f8f6f4",
        "v_mfma_f32_32x32x16_bf16", "v_accvgpr_read_b32", "s_cbranch_scc1", "s_call_b64",
        "s_swappc_b64", "s_cbranch_scc0", "s_endpgm", "s_setpc_b64",
    ]  # fmt: skip
    assert listing.size.tolist() == [8, 8, 16, 8, 8, 4, 4, 4, 4, 4, 4]
    assert (listing.vaddr - base).tolist() == [0, 8, 16, 32, 40, 48, 52, 56, 60, 64, 68]
    assert listing.next.tolist() == [*range(1, 11), -1]
    assert listing.target.tolist() == [-1, -1, -1, -1, -1, 8, 10, -1, 2, -1, -1]
    assert listing.expect[[2, 6, 10]].tolist() == [Expect.MFMA_SCALE, Expect.PC, Expect.PC]
    assert [(s.code_object, s.vaddr, s.name) for s in listing.symbols] == [(7, base, "kernel")]


def test_text_is_the_printers(assemble):
    listing = elf.read(assemble(KERNEL))
    assert listing.text[2] == (
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13 "
        "op_sel_hi:[0,0,0] cbsz:4 blgp:4"
    )
    assert listing.text[8] == "s_cbranch_scc0 65524"


def test_sizes_from_text_equal_the_encoding(assemble):
    listing = elf.read(assemble(KERNEL))
    again = codejson.read(
        {
            "code": [
                [text, 0, row, "", 1, int(vaddr), 0, 0]
                for row, (text, vaddr) in enumerate(zip(listing.text, listing.vaddr, strict=True))
            ]
        }
    )
    assert again.size.tolist() == listing.size.tolist()
    assert again.target.tolist() == listing.target.tolist()


def test_data_in_the_code(assemble):
    listing = elf.read(assemble("s_branch 2\n.long 0xffffffff\n.long 0x12345\ns_endpgm"))
    assert listing.text[1] == ".long 0xffffffff"
    assert (listing.size[1], listing.expect[1], listing.accept[1]) == (4, Expect.UNKNOWN, 0)
    assert listing.target[0] == listing.row_of(1, int(listing.vaddr[0]) + 12)


def test_functions_start_rows_and_can_be_picked(assemble):
    """The word before the second function would swallow its first instruction."""
    source = assemble.function("first", "s_endpgm\n.long 0xbeff00ff") + assemble.function(
        "second", "s_nop 5\ns_endpgm"
    ).replace(".p2align 8\n", "")
    code = elf.CodeObject(assemble(source))
    starts = {name: start for start, _, name in code.functions}
    whole = code.listing(2)
    row = whole.row_of(2, starts["second"])
    assert whole.text[row] == "s_nop 5"
    assert whole.text[row - 1].startswith(".long")
    picked = code.listing(2, vaddrs=[starts["second"] + 4])
    assert picked.text[:2] == ["s_nop 5", "s_endpgm"]
    assert picked.row_of(2, starts["first"]) == -1


@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942", "gfx950"])
def test_arch_by_the_header(assemble, cpu):
    code = elf.CodeObject(assemble("v_mfma_f32_32x32x8f16 v[0:15], v[0:1], v[2:3], v[0:15]", cpu))
    assert code.arch.name == cpu
    text = code.listing().text[0]
    assert text.startswith("v_mfma_f32_32x32x8" + ("f16" if cpu == "gfx90a" else "_f16"))


def test_a_generic_target_leaves_the_arch_open(assemble):
    listing = elf.read(assemble("s_endpgm", "gfx9-4-generic"))
    assert listing.arch is None
    assert listing.text == ["s_endpgm"]


METADATA = """
.section .rodata,"a",@progbits
.p2align 6, 0x0
.amdhsa_kernel kernel
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.section .sqtt_funcmap,"",@progbits
.ascii "F:1:main@a.py:3\\nW:64\\n"
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: 280
    .group_segment_fixed_size: 65536
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
"""


def test_kernels_metadata_funcmap(assemble):
    code = elf.CodeObject(assemble(assemble.function("kernel", "s_endpgm") + METADATA))
    assert code.kernels == {"kernel": code.functions[0][0]}
    (kernel,) = code.metadata()["amdhsa.kernels"]
    assert kernel[".symbol"] == "kernel.kd"
    assert kernel[".kernarg_segment_size"] == 280
    assert [(a[".offset"], a[".size"], a[".value_kind"]) for a in kernel[".args"]] == [
        (0, 8, "global_buffer"),
        (8, 4, "by_value"),
    ]
    assert code.funcmap() == "F:1:main@a.py:3\nW:64\n"


def test_without_metadata_and_funcmap(assemble):
    code = elf.CodeObject(assemble("s_endpgm"))
    assert (code.metadata(), code.funcmap(), code.kernels) == ({}, None, {})


def test_stripped_of_section_headers(assemble):
    path = assemble(KERNEL)
    data = bytearray(path.read_bytes())
    data[0x28:0x30] = bytes(8)  # e_shoff
    data[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
    texts = elf.read(path).text
    path.write_bytes(data)
    assert elf.read(path).text[: len(texts)] == texts


@pytest.mark.parametrize("cpu", ["gfx1100", "gfx908"])
def test_other_chips_are_refused_by_name(assemble, cpu):
    with pytest.raises(FormatError, match=f"code object for {cpu}; supported are gfx90a"):
        elf.read(assemble("s_endpgm", cpu))


def test_other_machines_are_refused():
    with pytest.raises(FormatError, match="not an AMDGPU code object"):
        elf.read("/proc/self/exe")


def test_no_elf(tmp_path):
    path = tmp_path / "a.out"
    with pytest.raises(FormatError, match="No such file"):
        elf.read(path)
    path.write_text("{}")
    with pytest.raises(FormatError, match="not an ELF code object"):
        elf.read(path)


def test_damaged_files_are_one_clear_line(assemble):
    path = assemble(assemble.function("kernel", KERNEL) + METADATA)
    data = path.read_bytes()
    refused = 0
    for end in range(4, len(data), 97):
        path.write_bytes(data[:end])
        try:
            elf.CodeObject(path).metadata()
        except FormatError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017
    assert refused > 20
    for at in range(4, len(data), 31):
        path.write_bytes(data[:at] + b"\xff\xff" + data[at + 2 :])
        try:
            elf.read(path)
        except FormatError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017
    assert refused > 30


#: Branch operands assemble as numbers, so a listing can be assembled as it stands.
@pytest.mark.parametrize(
    ("folder", "cpu"),
    [
        ("tinygrad_gemm_gfx950", "gfx950"),
        ("wave_gemm_bf16_gfx950/ui_*", "gfx950"),
        ("aiter_fp4_gemm_gfx950_after/ui_*", "gfx950"),
        ("flash_attn_bf16_gfx950/ui_*58550*", "gfx950"),
        ("fp8_paged_attention_gfx950/ui_*", "gfx950"),
        ("fp8_mla_no_mfma_gfx950/ui_*", "gfx950"),
        ("gemm_bf16_gfx942/ui_*", "gfx942"),
    ],
)
def test_text_equals_amds_on_captures(captures, assemble, folder, cpu):
    (path,) = captures.glob(folder)
    theirs = codejson.read(path)
    ours = elf.read(assemble("\n".join(theirs.text), cpu))
    rows = slice(0, len(theirs))  # the linker may append padding
    assert ours.text[rows] == theirs.text
    assert ours.size[rows].tolist() == theirs.size.tolist()
    assert ours.target[rows].tolist() == theirs.target.tolist()
    assert json.dumps(ours.text)
