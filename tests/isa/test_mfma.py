import pytest

from tracekit.isa.mfma import CYCLES_PER_PASS, PEAK, TABLE, cost, faster, row

ARCHS = ("gfx90a", "gfx942", "gfx950")


@pytest.mark.parametrize(
    ("arch", "text", "cycles"),
    [
        ("gfx942", "v_mfma_f32_16x16x16_bf16 a[0:3], v[0:1], v[2:3], a[0:3]", 16),
        ("gfx90a", "v_mfma_f32_16x16x16bf16_1k a[0:3], v[0:1], v[2:3], a[0:3]", 32),
        ("gfx90a", "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", 64),
        ("gfx942", "v_mfma_f32_32x32x8_f16", 32),
        ("gfx950", "v_mfma_f32_32x32x16_bf16", 32),
        ("gfx950", "v_mfma_f32_16x16x32_fp8_bf8", 16),
        ("gfx950", "v_mfma_f64_16x16x4_f64", 64),
        ("gfx942", "v_mfma_f64_16x16x4_f64", 32),
        ("gfx942", "v_mfma_f32_16x16x8_xf32", 16),
        ("gfx950", "v_smfmac_i32_32x32x64_i8", 32),
        ("gfx950", "v_mfma_i32_16x16x64_i8", 16),
        ("gfx90a", "v_mfma_f32_32x32x4bf16", 64),
        ("gfx90a", "v_mfma_f32_4x4x2bf16", 8),
    ],
)
def test_cycles(arch, text, cycles):
    assert cost(arch, text).cycles == cycles


@pytest.mark.parametrize(
    ("modifiers", "narrow"),
    [
        ("", False),
        (" cbsz:4 blgp:4", True),
        (" op_sel_hi:[0,0,0] cbsz:2 blgp:3", True),
        (" cbsz:4", False),
        (" blgp:4", False),
        (" cbsz:1 blgp:4", False),
        (" cbsz:4 blgp:1", False),
    ],
)
def test_one_fp8_operand_doubles_f8f6f4(modifiers, narrow):
    for opcode, cycles in (("16x16x128", 16), ("32x32x64", 32)):
        for form in ("v_mfma_f32", "v_mfma_scale_f32"):
            text = f"{form}_{opcode}_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]{modifiers}"
            assert cost("gfx950", text).cycles == cycles * (1 if narrow else 2)


def test_formats_that_do_not_exist_are_not_guessed():
    assert cost("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3] cbsz:5 blgp:4").cycles is None


def test_modifiers_of_older_opcodes_do_not_matter():
    text = "v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], v[0:15] cbsz:1 abid:2 blgp:4"
    assert cost("gfx942", text).cycles == 32


@pytest.mark.parametrize(
    ("arch", "spellings"),
    [
        ("gfx942", ("v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16")),
        ("gfx942", ("v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_32x32x4_2b_bf16")),
        ("gfx942", ("v_mfma_f32_16x16x4f16", "v_mfma_f32_16x16x4_4b_f16")),
        ("gfx90a", ("v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_32x32x4_2b_bf16")),
        ("gfx950", ("V_MFMA_F32_32X32X8F16_vgprcd_e64", "v_mfma_f32_32x32x8_f16")),
        ("gfx950", ("v_mfma_f32_16x16x32_f16_mac_e64", "v_mfma_f32_16x16x32f16")),
        ("gfx942", ("v_mfma_f64_4x4x4f64", "v_mfma_f64_4x4x4_4b_f64")),
    ],
)
def test_spellings_name_one_row(arch, spellings):
    rows = {row(arch, spelling) for spelling in spellings}
    assert len(rows) == 1
    assert None not in rows


def test_blocks_tell_the_two_32x32x4_of_gfx90a_apart():
    assert row("gfx90a", "v_mfma_f32_32x32x4bf16").blocks == 1
    assert row("gfx90a", "v_mfma_f32_32x32x4bf16_1k").blocks == 2


@pytest.mark.parametrize(
    ("arch", "text"),
    [
        ("gfx942", "v_mfma_f32_32x32x16_bf16"),
        ("gfx950", "v_mfma_f32_16x16x8_xf32"),
        ("gfx942", "v_mfma_f32_16x16x4_2b_f16"),
        ("gfx950", "v_mfma_f32_64x64x8_f16"),
        ("gfx942", "v_mfma_ld_scale_b32 v0, v1"),
    ],
)
def test_unknown_opcodes_are_not_guessed(arch, text):
    unknown = cost(arch, text)
    assert unknown.cycles is None
    assert unknown.confidence == "low"


def test_the_disputed_f64_shape_says_so():
    disputed = cost("gfx950", "v_mfma_f64_4x4x4_4b_f64")
    assert (disputed.cycles, disputed.confidence) == (32, "low")
    assert "LLVM 4" in disputed.source


def rate(entry, passes):
    """Operations per CU and clock, four pipes; sparse ones do twice the dense work."""
    sparse = entry.kind.startswith("sparse_")
    return 4 * entry.flop / (passes * CYCLES_PER_PASS) / (2 if sparse else 1)


@pytest.mark.parametrize("arch", ARCHS)
def test_fastest_opcode_of_each_type_reaches_the_published_peak(arch):
    fastest = {}
    for entry in TABLE:
        passes = entry.passes[ARCHS.index(arch)]
        if passes is not None:
            kind = entry.kind.removeprefix("sparse_")
            fastest[kind] = max(fastest.get(kind, 0), rate(entry, passes))
    if arch == "gfx90a":  # two opcode families of one data type
        fastest["bf16"] = max(fastest["bf16"], fastest["bf16_1k"])
    assert fastest == PEAK[arch]


@pytest.mark.parametrize(
    ("arch", "text", "expected"),
    [
        ("gfx90a", "v_mfma_f32_32x32x4bf16", ("v_mfma_f32_32x32x8bf16_1k", 2)),
        ("gfx90a", "v_mfma_f32_16x16x8bf16", ("v_mfma_f32_16x16x16bf16_1k", 2)),
        ("gfx90a", "v_mfma_f32_32x32x8bf16_1k", None),
        ("gfx90a", "v_mfma_f64_16x16x4f64", None),
        ("gfx942", "v_mfma_f32_16x16x16_bf16", None),
        ("gfx950", "v_mfma_f32_16x16x16_bf16", ("v_mfma_f32_16x16x32_bf16", 2)),
        ("gfx950", "v_mfma_i32_32x32x16_i8", ("v_mfma_i32_32x32x32_i8", 2)),
        ("gfx950", "v_mfma_f32_16x16x32_fp8_bf8", ("v_mfma_f32_16x16x128_f8f6f4", 2)),
        # Half the peak of F64, and no other opcode of that tile.
        ("gfx950", "v_mfma_f64_4x4x4_4b_f64", None),
        ("gfx950", "v_mfma_f32_99x99x9_new", None),
    ],
)
def test_a_faster_opcode_is_of_the_same_type_and_tile(arch, text, expected):
    assert faster(arch, text) == expected


@pytest.mark.parametrize("arch", ARCHS)
def test_every_opcode_runs_at_a_simple_fraction_of_the_peak(arch):
    for entry in TABLE:
        passes = entry.passes[ARCHS.index(arch)]
        if passes is not None:
            peak = PEAK[arch][entry.kind.removeprefix("sparse_")]
            assert peak / rate(entry, passes) in (1, 2, 4, 8), entry


def test_legacy_shapes_have_half_rate_on_gfx950():
    for text in ("v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x8_bf16", "v_mfma_i32_16x16x32_i8"):
        entry = row("gfx950", text)
        assert rate(entry, entry.passes[2]) * 2 == PEAK["gfx950"][entry.kind]


@pytest.mark.parametrize(("arch", "count"), [("gfx90a", 27), ("gfx942", 46), ("gfx950", 66)])
def test_every_opcode_of_llvm_has_an_entry(opcodes, arch, count):
    texts = [text for name, (_, text) in opcodes(arch).items() if "mfma" in name]
    assert len([text for text in texts if "ld_scale" not in text]) == count
    assert [text for text in texts if cost(arch, text).cycles is None] == []
