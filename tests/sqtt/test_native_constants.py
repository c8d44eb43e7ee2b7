"""Every number of the native core stands in ``native/layout.hpp`` and equals Python's."""

import re
from pathlib import Path

import pytest

from tracekit.gfx9 import (
    DROPPED,
    INST_CONTEXT,
    INST_IMMED,
    INST_UNTYPED,
    REPLAYS,
    SIMDS,
    SLOTS,
    TICK,
    Category,
    Inst,
)
from tracekit.sqtt import live_wave, stitch
from tracekit.sqtt.decode import native_core
from tracekit.sqtt.layout import HEADER_BYTES, MAX_LANES, TOKEN_BYTES, IssueState, Misc, Token
from tracekit.sqtt.raw import LAG_BINS, RecordFlag, WaveFlag
from tracekit.sqtt.stitch import Flow

NATIVE = Path(__file__).resolve().parents[2] / "native"
#: What only the machine's memory decides.
OF_THE_MACHINE = {"kPage", "kLargePage", "kChunk"}
#: Marks of the core's own table of special types, which are no types.
NOT_SPECIAL, MARK_DROPPED = 0xFF, 0xFE

needs_native = pytest.mark.skipif(native_core() is None, reason="the native core is switched off")


def special(kind: int) -> int:
    if kind in REPLAYS:
        return REPLAYS[Inst(kind)]
    return MARK_DROPPED if kind in DROPPED else NOT_SPECIAL


EXPECTED = {
    "kHeaderBytes": HEADER_BYTES, "kSlots": SLOTS, "kSimds": SIMDS, "kMaxLanes": MAX_LANES,
    "kTick": TICK, "kLagBins": LAG_BINS, "kNotSpecial": NOT_SPECIAL, "kDropped": MARK_DROPPED,
    "kEvidence": stitch.EVIDENCE, "kPatience": stitch.PATIENCE,
    "STALL": IssueState.STALL, "ISSUED": IssueState.INST, "IMMED": IssueState.IMMED,
    "TYPE_PC": Inst.PC, "TYPE_JUMP": Inst.JUMP, "TYPE_OTHER_MSG": Inst.OTHER_MSG,
    "TYPE_TRAP": Inst.GO_TO_TRAP, "UNTYPED": INST_UNTYPED, "TYPE_IMMED": INST_IMMED,
    "TYPE_CONTEXT": INST_CONTEXT, "REMOVED": live_wave.REMOVED,
    "CATEGORY_IMMED": Category.IMMED,
    "kTokenBytes": list(TOKEN_BYTES), "kSpecial": [special(kind) for kind in range(32)],
    **{name: Token[name] for name in ("MISC", "TIME", "REG", "WAVE_START", "WAVE_ALLOC", "REG_CS",
       "WAVE_END", "INST", "INST_PC", "USERDATA", "ISSUE", "PERF", "REG_CS_PRIV")},
    **{name: Misc[name] for name in ("TIME_RESET", "PACKET_LOST", "SURF_SYNC", "SAVE_CONTEXT")},
    **{flag.name: flag for flag in (*RecordFlag, *WaveFlag)},
    **{flow.name: flow for flow in Flow},
}  # fmt: skip


@needs_native
def test_the_core_exports_exactly_these_numbers():
    assert native_core().constants() == EXPECTED


def test_every_constant_of_the_core_is_among_them_and_stands_in_one_file():
    for path in sorted(NATIVE.glob("*.[hc]pp")):
        code = re.sub(r"//[^\n]*", "", path.read_text())
        found = re.findall(r"\bk[A-Z]\w*(?=(?:\[\d+\])? = )", code)
        for body in re.findall(r"enum \w+ : \w+ \{([^}]*)\}", code):
            found += re.findall(r"\b([A-Z_]+)\b(?= = )", body)
        found = [name for name in found if name not in OF_THE_MACHINE]
        if path.name == "layout.hpp":
            assert sorted(found) == sorted(EXPECTED)
        else:
            assert found == [], path.name
