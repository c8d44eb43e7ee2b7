"""The generated streams are worth testing with: they reach every token and every trouble."""

import random

from hypothesis import given

from tests.support.framing import Seen, read
from tests.support.strategies import synthesize, token_streams
from tracekit.gfx9 import REPLAYS, SLOTS, Inst
from tracekit.sqtt.header import parse
from tracekit.sqtt.layout import FIELDS, HEADER_BYTES, MAX_LANES, Misc, Token


def synthetic(seed: int) -> list[Seen]:
    return read(bytes(HEADER_BYTES) + synthesize(random.Random(seed).randbytes(2000), 1))


def test_synthetic_streams_cover_the_format():
    seen = [s for seed in range(60) for s in synthetic(seed)]
    assert {s.token for s in seen} == set(Token)
    assert {s.kind for s in seen if s.token == Token.MISC} == set(Misc)
    types = {s.field("inst_type") for s in seen if s.token == Token.INST}
    assert types >= {*REPLAYS, Inst.PC, Inst.GO_TO_TRAP, Inst.OTHER_MSG, Inst.FATAL_HALT}
    starts = [s for s in seen if s.token == Token.WAVE_START]
    assert any(s.field("count") > MAX_LANES for s in starts)
    slots = {s.field("slot") for s in seen if "slot" in FIELDS[s.token]}
    assert slots >= set(range(SLOTS))
    assert max(slots) >= SLOTS
    paired = sum(s.token == Token.INST for s in seen)
    issued = sum(list(s.states().values()).count(2) for s in seen if s.token == Token.ISSUE)
    assert 0.5 < paired / issued < 2


@given(token_streams())
def test_streams_have_a_valid_header_and_a_payload(data):
    header = parse(data)
    assert header.target_cu in (0, 1)
    assert HEADER_BYTES < len(data) < 8192
