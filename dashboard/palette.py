"""Colours of pipes and causes: distinct to colour-blind eyes, and never the only sign.

The hues are those of Okabe and Ito ("Color universal design", 2008).  Every kind also has
a short label, and causes have a pattern, so that no view rests on colour alone.
"""

from __future__ import annotations

from tracekit.analysis.causes import CAUSES, MEANINGS

#: Kinds of intervals on the timeline: the first seven are ``tracekit.isa.listing.Pipe``.
KINDS = (
    ("internal", "#8d99a6", "solid"), ("matrix", "#e69f00", "solid"),
    ("vector", "#56b4e9", "solid"), ("LDS", "#009e73", "solid"),
    ("vector memory", "#d55e00", "solid"), ("scalar", "#a0a7b4", "solid"),
    ("branch", "#cc79a7", "solid"), ("refused (stall)", "#f0e442", "hatch"),
    ("s_waitcnt", "#7b8794", "dots"), ("s_barrier", "#0072b2", "cross"),
    ("s_nop", "#b79f6d", "hatch"), ("unknown", "#666a73", "cross"), ("scope", "#7f6fd1", "solid"),
    ("clock", "#4c9f9f", "solid"), ("wave resident", "#8884", "solid"),
    ("counter", "#b07aa1", "solid"),
)  # fmt: skip
#: Colours that need light letters.
DARK = ("#0072b2", "#4a4f5a", "#666a73", "#2b7bba")
STALL, WAIT, BARRIER, NOP, UNKNOWN, SCOPE, CLOCK, RESIDENT, COUNTER = range(7, 16)
#: Kind of the first cause; the others follow in the order of CAUSES.
FIRST_CAUSE = 16
#: colour, pattern, two letters; in the order of CAUSES.
_CAUSE_LOOKS = (
    ("#56b4e9", "solid", "VA"), ("#2b7bba", "dots", "VR"), ("#009e73", "solid", "LR"),
    ("#d55e00", "solid", "MR"), ("#e69f00", "solid", "XR"), ("#e69f00", "hatch", "XE"),
    ("#d55e00", "hatch", "VW"), ("#009e73", "hatch", "LW"), ("#b79f6d", "hatch", "NP"),
    ("#a0a7b4", "dots", "SV"), ("#a0a7b4", "solid", "SC"), ("#cc79a7", "solid", "NA"),
    ("#cc79a7", "hatch", "DR"), ("#0072b2", "cross", "BA"), ("#666a73", "cross", "DL"),
    ("#4a4f5a", "solid", "NW"), ("#8d99a6", "hatch", "AL"),
)  # fmt: skip
CAUSE_COLOUR = {name: look[0] for name, look in zip(CAUSES, _CAUSE_LOOKS, strict=True)}
CAUSE_PATTERN = {name: look[1] for name, look in zip(CAUSES, _CAUSE_LOOKS, strict=True)}
CAUSE_CODE = {name: look[2] for name, look in zip(CAUSES, _CAUSE_LOOKS, strict=True)}
#: Plotly's shape of each pattern.
PLOTLY_PATTERN = {"solid": "", "hatch": "/", "dots": ".", "cross": "x"}


def ink(colour: str) -> str:
    """Colour of letters on ``colour``."""
    return "#fff" if colour in DARK else "#10141a"


def looks() -> dict[int, dict[str, str]]:
    """Kind number -> name, colour, pattern, code and meaning, for the timeline."""
    found = {
        number: {
            "name": name,
            "colour": colour,
            "pattern": pattern,
            "code": "",
            "meaning": "",
            "ink": ink(colour),
        }
        for number, (name, colour, pattern) in enumerate(KINDS)
    }
    for number, name in enumerate(CAUSES, FIRST_CAUSE):
        colour, pattern, code = _CAUSE_LOOKS[number - FIRST_CAUSE]
        found[number] = {
            "name": name, "colour": colour, "pattern": pattern, "code": code,
            "meaning": MEANINGS[name], "ink": ink(colour),
        }  # fmt: skip
    return found
