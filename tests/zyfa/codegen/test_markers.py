import pytest

from zyfa.codegen import kernel, markers
from zyfa.codegen.instruction import Instruction
from zyfa.codegen.options import CHOICES, Options


def instructions(**options):
    return [x for x in kernel(Options(**options)).lines if isinstance(x, Instruction)]


def test_values_follow_the_device_marker_format():
    on, off = markers.Markers(True), markers.Markers(False)
    enter = on.enter("softmax")
    assert enter[0].operands[1] == markers.scope_id("softmax") << 2 | 2
    assert on.leave()[0].operands[1] == 1
    assert off.enter("softmax") == off.leave() == []


def test_every_scope_has_a_name_row():
    text = markers.funcmap("kernel")
    assert "K:kernel" in text
    assert all(f"U:{markers.scope_id(name)}:{name}" in text for name in markers.SCOPES)


@pytest.mark.parametrize("schedule", CHOICES["schedule"])
def test_no_marker_between_a_load_and_its_m0(schedule):
    owner = None
    for x in instructions(markers="on", schedule=schedule):
        if "m0" in x.writes:
            owner = "marker" if x.mnemonic == "s_mov_b32" else "load"
        elif x.mnemonic == "s_ttracedata":
            assert owner == "marker"
        elif x.modifiers.endswith("lds"):
            assert owner == "load"


def test_markers_are_balanced_in_straight_code():
    values = [x.operands[1] for x in instructions(markers="on") if x.operands[:1] == ("m0",)
              and x.mnemonic == "s_mov_b32"]  # fmt: skip
    assert sum(v & 2 == 2 for v in values) == sum(v == 1 for v in values)
    assert not any(x.mnemonic == "s_ttracedata" for x in instructions())
