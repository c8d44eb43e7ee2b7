"""v_cmp and v_cmpx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyfa.sim.isa.access import scalar_putter
from zyfa.sim.isa.builders import handles, source
from zyfa.sim.isa.instruction import Execute, Instruction
from zyfa.sim.state.wave import Wave, mask_bits

UNORDERED = np.isnan
RELATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "f": lambda a, b: np.zeros(64, bool), "t": lambda a, b: np.ones(64, bool),
    "tru": lambda a, b: np.ones(64, bool),
    "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "ne": lambda a, b: a != b,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(UNORDERED(a) | UNORDERED(b)), "u": lambda a, b: UNORDERED(a) | UNORDERED(b),
    "nge": lambda a, b: ~(a >= b), "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b), "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b), "nlt": lambda a, b: ~(a < b),
}  # fmt: skip
INTEGER = ("f", "t", "lt", "eq", "le", "gt", "ge", "ne")
KINDS = {
    "f32": "f", "f64": "d", "f16": "h", "u32": "u", "i32": "i", "u64": "U", "i64": "I",
    "u16": "H", "i16": "S",
}  # fmt: skip


def classify(value: np.ndarray) -> np.ndarray:
    """Bit of v_cmp_class that each float belongs to, as uint32."""
    info = np.finfo(value.dtype)
    negative = np.signbit(value)
    magnitude = np.abs(value)
    if value.dtype == np.float16:
        bits, quiet = value.view(np.uint16).astype(np.uint64), 1 << 9
    elif value.dtype == np.float32:
        bits, quiet = value.view(np.uint32).astype(np.uint64), 1 << 22
    else:
        bits, quiet = value.view(np.uint64), 1 << 51
    signalling = (bits & np.uint64(quiet)) == 0
    return np.select(
        [np.isnan(value) & signalling, np.isnan(value), np.isinf(value) & negative,
         np.isinf(value), (magnitude == 0) & negative, magnitude == 0,
         (magnitude < info.tiny) & negative, magnitude < info.tiny, negative],
        [np.uint32(1 << n) for n in (0, 1, 2, 9, 5, 6, 4, 7, 3)], np.uint32(1 << 8),
    )  # fmt: skip


def _builder(
    relation: Callable[..., Any], kinds: tuple[str, str], to_exec: bool
) -> Callable[..., Any]:
    def build(inst: Instruction) -> Execute:
        put = scalar_putter(inst.operands[0], True)
        a, b = source(inst, 1, kinds[0]), source(inst, 2, kinds[1])

        def run(w: Wave) -> None:
            found = relation(a(w), b(w))
            if w.mask is not None:
                found = found & w.mask
            bits = mask_bits(found) if found.shape else int(found) * w.exec
            put(w, bits)
            if to_exec:
                w.set_exec(bits)

        return run

    return build


for _type, _kind in KINDS.items():
    for _name in RELATIONS if _type.startswith("f") else INTEGER:
        for _x in ("", "x"):
            handles(f"v_cmp{_x}_{_name}_{_type}")(
                _builder(RELATIONS[_name], (_kind, _kind), bool(_x))
            )
    if _type.startswith("f"):
        for _x in ("", "x"):
            handles(f"v_cmp{_x}_class_{_type}")(
                _builder(lambda a, b: (classify(a) & b) != 0, (_kind, "u"), bool(_x))
            )
