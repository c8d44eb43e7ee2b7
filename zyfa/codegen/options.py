"""What a kernel can be: every choice of the generator, with its reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from zyfa.codegen.multiply_adds import MULTIPLY_ADDS
from zyfa.codegen.rowsums import ROWSUMS
from zyfa.codegen.schedules import SCHEDULES
from zyfa.codegen.softmaxes import SOFTMAXES
from zyfa.shape import D128, Shape

SWITCHES = ("markers", "setprio")
CHOICES: dict[str, tuple[str, ...]] = {
    "softmax": tuple(SOFTMAXES),
    "schedule": tuple(SCHEDULES),
    "fma": tuple(MULTIPLY_ADDS),
    "rowsum": tuple(ROWSUMS),
    **dict.fromkeys(SWITCHES, ("off", "on")),
}
"""Allowed values, the default first: the fastest in simulation that is also correct."""


@dataclass(frozen=True, slots=True)
class Options:
    """One kernel variant.

    softmax: how P is made (`zyfa.codegen.softmaxes`). exact = v_exp and v_cvt_pk_fp8; lean_ashr =
        one FMA in float32's linear low range and v_ashr_pk; lean_u8 = one FMA and v_cvt_pk_u8.
    schedule: how two waves share a SIMD (`zyfa.codegen.schedules`). pingpong = two barriers a
        block; gap = six, with a cluster for packed FMAs between PV and QK; early_gap = the same
        early in the matrix phase, which exact softmax fills better; serial = both waves of a SIMD
        in the same phase.
    fma: scalar v_fma_f32 (runs beside matrix instructions) or packed v_pk_fma_f32 (does not).
    rowsum: b = unscaled 16x16x128 (32 cycles), a = scaled 32x32x64 (64 cycles) per 64 keys.
    markers: s_ttracedata at phase starts.  setprio: s_setprio 1 around matrix phases.
    shape: head dimensions and tile sizes; no part of the name.
    """

    softmax: str = "lean_ashr"
    schedule: str = "pingpong"
    fma: str = "scalar"
    rowsum: str = "b"
    markers: str = "off"
    setprio: str = "off"
    shape: Shape = D128

    def __post_init__(self) -> None:
        for name, value in self.chosen.items():
            if value not in CHOICES[name]:
                raise ValueError(f"{name}={value!r}: choose one of {', '.join(CHOICES[name])}")

    @property
    def chosen(self) -> dict[str, str]:
        """Every choice by name."""
        return {name: getattr(self, name) for name in CHOICES}

    def on(self, switch: str) -> bool:
        """Whether one of SWITCHES is on."""
        return self.chosen[switch] == "on"

    @property
    def name(self) -> str:
        """Short unique name: every choice but the switches that are off."""
        parts = [self.softmax, self.schedule, self.fma, f"rowsum_{self.rowsum}"]
        return "-".join(parts + [switch for switch in SWITCHES if self.on(switch)])

    @property
    def symbol(self) -> str:
        """Kernel symbol in the code object."""
        return f"zyfa_fp8_{self.shape.name}_{self.name.replace('-', '_')}"

    @classmethod
    def parse(cls, text: str) -> Options:
        """From "softmax=exact,schedule=gap", or a name as `name` writes it."""
        values: dict[str, str] = {}
        for part in filter(None, text.replace("-", ",").split(",")):
            if "=" in part:
                key, value = part.split("=", 1)
            elif part in SWITCHES:
                key, value = part, "on"
            else:
                value = part.removeprefix("rowsum_")
                key = next((k for k, allowed in CHOICES.items() if value in allowed), part)
            if key not in CHOICES:
                raise ValueError(f"unknown option {part!r}: choose from {', '.join(CHOICES)}")
            values[key] = value
        return cls(shape=D128, **values)


def all_options() -> Iterator[Options]:
    """Every combination, in a fixed order."""
    for values in itertools.product(*CHOICES.values()):
        yield Options(shape=D128, **dict(zip(CHOICES, values, strict=True)))
