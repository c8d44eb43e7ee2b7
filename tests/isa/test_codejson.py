import json

import numpy as np
import pytest

from tracekit.errors import FormatError
from tracekit.isa import codejson
from tracekit.isa.classify import Expect

LABEL = ["; kernel", 0, 0, "kernel(int)", 3, 256, 0, 0, 0, 0]
ROWS = [
    ["s_mov_b32 s0, 0x100", 0, 1, "a.py:3", 3, 256, 8, 40, 8, 4],
    ["v_mov_b32_e32 v0, s0", 0, 2, "", 3, 264, 8, 32, 0, 0],
    ["s_cbranch_scc0 65534", 0, 3, "a.py:3 -> b.py:9", 3, 268, 8, 32, 0, 0],
    ["s_endpgm", 0, 4, "", 3, 272, 8, 32, 0, 0],
]
HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"


def content(rows=None, header=HEADER):
    rows = [LABEL, *ROWS] if rows is None else rows
    return {"code": rows, "version": "3.0.0"} | ({} if header is None else {"header": header})


def check(listing):
    assert listing.text == [row[0] for row in ROWS]
    assert listing.size.tolist() == [8, 4, 4, 4]
    assert listing.next.tolist() == [1, 2, 3, -1]
    assert listing.target.tolist() == [-1, -1, 1, -1]
    assert listing.line.tolist() == [1, 2, 3, 4]
    assert listing.hits.tolist() == [8, 8, 8, 8]
    assert listing.source[2] == "a.py:3 -> b.py:9"
    (symbol,) = listing.symbols
    assert (symbol.name, symbol.vaddr, symbol.line) == ("kernel", 256, 0)
    assert symbol.demangled == "kernel(int)"


def test_ten_columns():
    listing = codejson.read(content())
    check(listing)
    assert listing.stall.tolist() == [8, 0, 0, 0]
    assert listing.idle.tolist() == [4, 0, 0, 0]


def test_ten_columns_without_header():
    check(codejson.read(content(header=None)))


def test_eight_columns():
    label = [LABEL[0], 100, *LABEL[2:8]]
    listing = codejson.read(content([label, *(row[:8] for row in ROWS)], header=None))
    check(listing)
    assert listing.stall is None
    assert listing.idle is None
    assert listing.latency.tolist() == [40, 32, 32, 32]


def test_columns_are_found_by_name():
    """A newer SDK appends columns; another may insert some."""
    rows = [[*row, "x", 1, 2, 3] for row in (LABEL, *ROWS)]
    check(codejson.read(content(rows, HEADER + ", ServiceType, Issued, Stalled, NotIssued")))
    moved = HEADER.replace("Codeobj,", "ServiceType, Codeobj,")
    rows = [[*row[:4], "x", *row[4:]] for row in (LABEL, *ROWS)]
    check(codejson.read(content(rows, moved)))


def test_no_code():
    assert len(codejson.read({"code": None})) == 0
    assert len(codejson.read({"code": []})) == 0


def test_a_gap_is_no_instruction():
    rows = [row for row in ROWS if row[5] != 264]
    rows = [[*row[:5], row[5] + (4 if row[5] > 256 else 0), *row[6:]] for row in rows]
    listing = codejson.read(content(rows))
    assert listing.vaddr.tolist() == [256, 272, 276]
    assert listing.size.tolist() == [8, 4, 4]
    assert listing.next.tolist() == [-1, 2, -1]


def test_last_rows_have_a_size():
    scale = "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13"
    for text, size in ((scale, 16), ("s_endpgm", 4), ("ds_read_b32 v0, v1", 8)):
        listing = codejson.read(content([[text, 0, 1, "", 1, 0, 0, 0, 0, 0]]))
        assert listing.size.tolist() == [size]


V2 = [
    ["kernel:", 100, 0, None, 0, 6, 0, 0],
    ["s_mov_b32 s0, 0", 2, 0, None, 1, 10, 4, 16],
    [".LBB0_1:", 100, 0, None, 2, 12, 0, 0],
    ["v_exp_f32_e32 v0, v1", 6, 0, None, 3, 13, 8, 64],
    [".p2align 3", 9, 0, None, 4, 14, 0, 0],
    ["s_cbranch_scc1 .LBB0_1", 10, 3, None, 5, 15, 8, 32],
    ["s_endpgm", 9, 0, None, 6, 16, 4, 16],
]


def test_rocprofv2():
    listing = codejson.read({"code": V2, "top_n": []})
    assert listing.text == [V2[i][0] for i in (1, 3, 5, 6)]
    assert listing.vaddr.tolist() == [-1] * 4
    assert listing.next.tolist() == [1, 2, 3, -1]
    assert listing.target.tolist() == [-1, -1, 1, -1]
    assert listing.alt_index.tolist() == [1, 3, 5, 6]
    assert listing.row_of_line(5) == 2
    assert listing.row_of_line(2) == -1
    assert listing.hits.tolist() == [4, 8, 8, 4]
    assert [symbol.name for symbol in listing.symbols] == ["kernel"]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ([], "no list named 'code'"),
        ({"rows": []}, "no list named 'code'"),
        ({"code": {"a": 1}}, "not a list of rows"),
        ({"code": [["s_nop 0", 0, 1]]}, "row 0 is no list"),
        ({"code": [ROWS[0], None]}, "row 1 is no list"),
        ({"code": [[None, 0, 1, "", 1, 0, 0, 0]]}, "row 0 is no list"),
        ({"code": [["s_nop 0", 0, 1, "", 1, "0x10", 0, 0]]}, "row 0: column Vaddr is '0x10'"),
        ({"code": [["s_nop 0", 0, 1, "", None, 0, 0, 0]]}, "row 0: column Codeobj is None"),
        ({"code": [["s_nop 0", 0, -1, "", 1, 0, 0, 0]]}, "row 0: column LineNumber is -1"),
        ({"code": [["s_nop 0", 0, 1, "", 1, 2**70, 0, 0]]}, "row 0: column Vaddr"),
        ({"code": [["s_nop 0", 0, 1, "", 1, 0, 0.5, 0]]}, "row 0: column Hit is 0.5"),
        ({"code": [["s_nop 0", 9, 1, None, "x", 0, 0, 0]]}, "row 0: column index is 'x'"),
        ({"code": ROWS, "header": 3}, "'header' is not a text"),
        ({"code": ROWS, "header": "ISA, LineNumber, Codeobj"}, "header lacks column Vaddr"),
        ({"code": ROWS, "header": "_, ISA, LineNumber, Codeobj, Vaddr"}, "header lacks column ISA"),
        ({"code": ROWS, "header": HEADER.replace("Vaddr", "a,b,c,d,e,f,Vaddr")}, "Vaddr is None"),
    ],
)
def test_malformed_content_is_one_clear_line(tmp_path, broken, message):
    path = tmp_path / "code.json"
    path.write_text(json.dumps(broken))
    with pytest.raises(FormatError) as caught:
        codejson.read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_one_clear_line(tmp_path, data):
    path = tmp_path / "code.json"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="not JSON"):
        codejson.read(path)


def test_missing_file(tmp_path):
    with pytest.raises(FormatError, match="No such file"):
        codejson.read(tmp_path / "code.json")


#: (folder, rows, labels, branches, targets inside) of the captures.
CAPTURED = [
    ("tinygrad_gemm_gfx950", 58, 1, 1, 1),
    ("tinygrad_empty_gfx950", 1, 1, 0, 0),
    ("wave_gemm_bf16_gfx950/ui_*", 285, 1, 3, 3),
    ("aiter_fp4_gemm_gfx950_before/ui_*", 921, 1, 2, 2),
    ("aiter_fp4_gemm_gfx950_after/ui_*", 923, 1, 4, 4),
    ("flash_attn_bf16_gfx950/ui_*55287*", 2069, 1, 11, 11),
    ("flash_attn_bf16_gfx950/ui_*58550*", 2069, 1, 11, 11),
    ("fp8_paged_attention_gfx950/ui_*", 936, 1, 6, 6),
    ("fp8_mla_no_mfma_gfx950/ui_*", 4948, 1, 146, 146),
    ("gemm_bf16_gfx942/ui_*", 672, 1, 3, 3),
    ("legacy_rocprofv2_ui/*_ui", 2231, 1, 3, 3),
    ("ui_missing_waves/ui_*", 2990, 0, 55, 36),
]


@pytest.mark.parametrize(("folder", "rows", "labels", "branches", "targets"), CAPTURED)
def test_captures(captures, folder, rows, labels, branches, targets):
    (path,) = captures.glob(folder)
    listing = codejson.read(path)
    assert len(listing) == rows
    assert len(listing.symbols) == labels
    is_branch = listing.expect == Expect.BRANCH
    assert is_branch.sum() == branches
    assert (listing.target[is_branch] >= 0).sum() == targets
    assert (listing.target[~is_branch] == -1).all()
    assert (listing.expect != Expect.UNKNOWN).all()
    assert (listing.size > 0).all()


def test_every_row_of_a_complete_listing_is_followed_by_the_next(captures):
    for path in captures.glob("**/code.json"):
        listing = codejson.read(path)
        if "ui_missing_waves" not in str(path):
            assert listing.next.tolist() == [*range(1, len(listing)), -1], path


def test_rows_that_were_left_out_are_behind_branches(captures):
    (path,) = captures.glob("ui_missing_waves/ui_*")
    listing = codejson.read(path)
    before = np.flatnonzero(listing.next[:-1] < 0)
    assert len(before) == 27
    assert set(listing.expect[before].tolist()) <= {Expect.BRANCH, Expect.PC}
    assert listing.row_of(6, 12858880) == listing.row_of_line(1)
