"""Token level: what pack writes is what layout reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.gfx9 import Inst
from tracekit.sqtt.encode import header_bytes, issue_states, pack, token_word
from tracekit.sqtt.header import parse
from tracekit.sqtt.layout import DELTA, FIELDS, TOKEN_BYTES, IssueState, Misc, Token


@st.composite
def tokens(draw):
    """(type, its fields) with any values that fit."""
    token = draw(st.sampled_from(Token))
    values = {
        name: draw(st.integers(0, (1 << place.width) - 1)) for name, place in FIELDS[token].items()
    }
    if token not in (Token.MISC, Token.TIME):
        values["delta"] = draw(st.integers(0, 1))
    return token, values


@given(tokens())
def test_every_field_of_every_token_reads_back(packed):
    token, values = packed
    data = pack(token, **values)
    assert len(data) == TOKEN_BYTES[token]
    word = int.from_bytes(data, "little")
    assert word & 15 == token
    layout = {"delta": DELTA, **FIELDS[token]}
    assert {name: layout[name].read(word) for name in values} == values


def test_no_two_fields_of_a_token_share_a_bit():
    for token, fields in FIELDS.items():
        used = 15 | (0 if token in (Token.MISC, Token.TIME) else 1 << 4)
        for name, place in fields.items():
            mask = ((1 << place.width) - 1) << place.shift
            assert not used & mask, f"{token.name}.{name}"
            assert mask < 1 << 8 * TOKEN_BYTES[token], f"{token.name}.{name}"
            used |= mask


@pytest.mark.parametrize(
    ("expected", "token", "fields"),
    [
        ("f02f", Token.MISC, {"delta": 255, "misc_type": Misc.TIME_RESET}),
        ("0060", Token.MISC, {"misc_type": Misc.SURF_SYNC}),
        ("1000", Token.MISC, {"delta": 1}),
        ("0100537df8ad4502", Token.TIME, {"timestamp": 2498294742355}),
        ("85fe07000000", Token.REG_CS, {"me_raw": 1, "register": 0x7F, "data": 7}),
        ("03000004", Token.WAVE_START, {"count": 16}),
        ("0d020000", Token.ISSUE, {"states": issue_states({0: IssueState.INST})}),
        ("0a00", Token.INST, {"inst_type": Inst.SMEM_RD}),
        ("0a08", Token.INST, {"inst_type": Inst.SALU_32}),
        ("0a90", Token.INST, {"inst_type": Inst.VALU_64}),
    ],
)
def test_bytes_of_a_real_capture(expected, token, fields):
    """Tokens of tinygrad_gemm_gfx950, SE 0."""
    assert pack(token, **fields).hex() == expected


def test_issue_states_are_two_bits_a_slot():
    states = {1: IssueState.STALL, 9: IssueState.IMMED, 0: IssueState.NULL}
    assert issue_states(states) == 1 << 2 | 3 << 18


@pytest.mark.parametrize(
    ("token", "fields", "message"),
    [
        (Token.INST, {"cu": 1}, "INST has no field 'cu'"),
        (Token.TIME, {"delta": 1}, "TIME has no field 'delta'"),
        (Token.INST, {"slot": 16}, "INST.slot: 16 does not fit in 4 bits"),
        (Token.ISSUE, {"delta": 2}, "ISSUE.delta: 2 does not fit in 1 bits"),
        (Token.PERF, {"c3": -1}, "PERF.c3: -1 does not fit in 13 bits"),
    ],
)
def test_what_does_not_fit_is_refused(token, fields, message):
    with pytest.raises(ValueError, match=message):
        token_word(token, **fields)


@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 63))
def test_header_reads_back(simd_mask, target_cu, se):
    data = header_bytes(target_cu=target_cu, se=se, simd_mask=simd_mask)
    header = parse(data + bytes(32))
    assert (header.simd_mask, header.target_cu, header.se) == (simd_mask, target_cu, se)
    assert not header.suspicious


def test_header_of_a_real_capture():
    """wave_gemm_bf16_gfx950, SE 3."""
    assert header_bytes(target_cu=0, se=3) == (0xC0F8011).to_bytes(8, "little")


def test_header_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"header\.se: 64 does not fit in 6 bits"):
        header_bytes(target_cu=0, se=64)
