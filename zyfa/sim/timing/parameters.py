"""Every number of the timing model, in one table.

`confidence`: measured = seen on real traces of the architecture; extrapolated = a measured rule
applied to an opcode or size that no trace holds; assumed = no evidence, with the bad-end value that
a cautious reader should also run.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from zyfa.sim.errors import SimError

RULES = "issue rules measured on public MI350X/MI355X thread traces"


@dataclass(frozen=True)
class Parameter:
    """One number; `bad` is the pessimistic value where nothing was measured."""

    name: str
    value: int
    unit: str
    confidence: str
    source: str
    bad: int | None = None


M, X, A = "measured", "extrapolated", "assumed"


def _number(value: int, unit: str, confidence: str, source: str, bad: int | None = None) -> int:
    """A row of the table: the default of a field, and what `TABLE` says of it."""
    about = {"unit": unit, "confidence": confidence, "source": source, "bad": bad}
    return field(default=value, metadata=about)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The values in use, gfx950's by default; `Parameters.of` for other ones."""

    arch: str = "gfx950"
    # Blocking after an MFMA
    mfma_valu_block_base: int = _number(
        4, "cycles", M, f"{RULES}: 4 + 4 per 16 B of the widest A/B operand"
    )
    mfma_valu_block_per_16_bytes: int = _number(
        4, "cycles", M, f"{RULES}; 32x32x64 f8f6f4 extrapolated", 6
    )
    mfma_memory_block: int = _number(8, "cycles", M, f"{RULES}: LDS and VMEM, A/B of 16 B and more")
    mfma_memory_block_8_bytes: int = _number(4, "cycles", M, f"{RULES}: A/B of 8 B")
    mfma_packed_block: int = _number(
        8, "cycles", M, f"{RULES}: packed f32 until MFMA cycles + this"
    )
    mfma_packed_block_16_bytes: int = _number(4, "cycles", M, f"{RULES}: more when A has 16 B")
    scaled_mfma_port_lead: int = _number(
        4, "cycles", M, "the ld_scale half takes the port one tick before"
    )
    # VALU port
    valu_port: int = _number(4, "cycles", M, RULES)
    transcendental_port: int = _number(8, "cycles", M, f"{RULES}; gfx942: 16")
    permlane_swap_port: int = _number(8, "cycles", M, RULES)
    cvt_pk_fp8_port: int = _number(8, "cycles", M, "31 pairs of one capture")
    cvt_pk_u8_port: int = _number(4, "cycles", A, "no trace holds it", 8)
    ashr_pk_port: int = _number(4, "cycles", A, "no trace holds it", 8)
    ashr_pk_refused: int = _number(
        0, "0/1", A, "1: v_ashr_pk refused in MFMA shadows as packed f32 is", 1
    )
    bitop3_b16_port: int = _number(8, "cycles", M, RULES)
    f64_port: int = _number(8, "cycles", A, "half the f32 rate; no trace", 16)
    dual_issue: int = _number(1, "0/1", M, f"{RULES}: 107,951 ticks")
    dual_issue_both_scalar: int = _number(0, "0/1", M, f"{RULES}: 12 of 14,445")
    # Distances inside one wave
    issue: int = _number(4, "cycles", M, "any instruction to the next of its wave")
    valu_to_memory: int = _number(12, "cycles", M, RULES)
    transcendental_to_memory: int = _number(16, "cycles", M, RULES)
    valu_sgpr_to_salu: int = _number(20, "cycles", M, RULES)
    compare_to_branch: int = _number(24, "cycles", M, RULES)
    salu_to_branch: int = _number(8, "cycles", M, RULES)
    salu_to_memory: int = _number(8, "cycles", M, RULES)
    branch_taken: int = _number(20, "cycles", M, RULES)
    branch_taken_to_nop: int = _number(16, "cycles", M, RULES)
    branch_not_taken: int = _number(4, "cycles", M, f"{RULES}; 20 in 10 %")
    ds_write_b32_issue: int = _number(8, "cycles", M, RULES)
    ds_write_b64_issue: int = _number(12, "cycles", M, RULES)
    ds_write_b128_issue: int = _number(20, "cycles", M, RULES)
    ds_bpermute_issue: int = _number(8, "cycles", M, RULES)
    workgroup_launch: int = _number(
        100, "cycles", A, "end of a workgroup to the start of the next", 1000
    )
    # Internal instructions
    internal: int = _number(4, "cycles", M, "s_waitcnt without waiting, s_setprio")
    barrier_release: int = _number(
        4, "cycles", M, "last arrival to release; the next issue is 4 later"
    )
    # LDS
    lds_queue: int = _number(
        8, "entries", M, "saturated bursts of FP4 and bf16 GEMMs: two per SIMD"
    )
    lds_issues_per_tick: int = _number(
        2, "issues", M, "bursts of four SIMDs: each issues every 8 cycles"
    )
    vmem_issues_per_tick: int = _number(2, "issues", M, f"{RULES}: at most 17 in 64 cycles", 1)
    vmem_queue: int = _number(11, "entries", M, RULES)
    ds_read_b32_service: int = _number(4, "cycles", M, "bursts of ds_read_u8: one per tick and CU")
    ds_read_b64_service: int = _number(2, "cycles", M, f"{RULES}; 2 preferred to 4", 4)
    ds_read_b64_tr_service: int = _number(2, "cycles", X, "b16 measured, b8 not", 4)
    ds_read_b128_service: int = _number(4, "cycles", M, "260 in 1,024 cycles")
    ds_permute_service: int = _number(4, "cycles", M, RULES)
    ds_write_b32_service: int = _number(4, "cycles", M, RULES)
    ds_write_b64_service: int = _number(8, "cycles", M, RULES)
    ds_write_b128_service: int = _number(16, "cycles", M, RULES)
    ds_atomic_service: int = _number(16, "cycles", A, "no trace", 64)
    ds_read_b32_latency: int = _number(
        44, "cycles", M, f"{RULES}: issue to s_waitcnt done, unloaded"
    )
    ds_read_b64_latency: int = _number(48, "cycles", M, RULES)
    ds_read_b128_latency: int = _number(52, "cycles", M, f"{RULES}: 48 to 52")
    ds_permute_latency: int = _number(52, "cycles", M, RULES)
    ds_write_b32_latency: int = _number(52, "cycles", M, RULES)
    ds_write_b64_latency: int = _number(56, "cycles", M, RULES)
    ds_write_b128_latency: int = _number(68, "cycles", M, RULES)
    ds_atomic_latency: int = _number(64, "cycles", A, "no trace", 128)
    lds_banks: int = _number(64, "banks", M, "four bytes each; Modular, HipKittens")
    lds_phase_lanes_b32: int = _number(
        64, "lanes", A, "lanes served together by a 4-byte access", 64
    )
    lds_phase_lanes_b64: int = _number(32, "lanes", A, "64 banks x 4 B serve 32 lanes of 8 B", 32)
    lds_phase_lanes_b64_tr: int = _number(16, "lanes", A, "a transpose group", 32)
    lds_phase_lanes_b128: int = _number(16, "lanes", A, "64 banks x 4 B serve 16 lanes of 16 B", 16)
    lds_conflict_cycles: int = _number(2, "cycles", A, "service per extra pass of a phase", 4)
    # Memory
    smem_latency: int = _number(40, "cycles", M, "scalar cache hit; a miss takes about 540", 540)
    vmem_latency: int = _number(
        700, "cycles", A, "typical 460 to 2,400 under load, at least 176", 2400
    )
    vmem_dword_latency: int = _number(600, "cycles", A, "typical; at least 92 on a hit", 2400)
    vmem_store_latency: int = _number(500, "cycles", A, "no figure", 2400)
    vmem_x4_service: int = _number(16, "cycles", M, "64 B per clock: 67 in 1,024")
    vmem_x2_service: int = _number(8, "cycles", X, "64 B per clock")
    vmem_dword_service: int = _number(4, "cycles", M, "4 to 8", 8)
    # Switches of the ablation
    block_after_mfma: int = _number(1, "0/1", M, "use the VALU, LDS and VMEM blocks")
    war_interlock: int = _number(
        1, "0/1", M, f"{RULES}: a VALU waits for queued readers of its target"
    )
    queues: int = _number(1, "0/1", M, "use the CU queues")
    ports: int = _number(1, "0/1", M, "0: the naive model, every instruction takes 4 cycles")

    @classmethod
    def of(cls, arch: str = "gfx950", overrides: Mapping[str, int] | None = None) -> Parameters:
        """The architecture's values with `overrides` (name to int) applied.

        Raises SimError for an unknown name or a value that is not an integer of 0 or more.
        """
        chosen = {**(GFX942 if arch == "gfx942" else {}), **(overrides or {})}
        for name, value in chosen.items():
            if name not in TABLE:
                raise SimError(f"unknown parameter {name!r}; `zyfa sim --parameters` lists them")
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise SimError(f"parameter {name} must be an integer of 0 or more, not {value!r}")
        return cls(arch, **chosen)

    @classmethod
    def from_toml(cls, path: str | Path, arch: str = "gfx950") -> Parameters:
        """Overrides from the top level of a TOML file."""
        try:
            return cls.of(arch, tomllib.loads(Path(path).read_text()))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise SimError(f"{path}: {error}") from error

    @property
    def values(self) -> dict[str, int]:
        """Every number by name."""
        return {name: getattr(self, name) for name in TABLE}

    @property
    def digest(self) -> str:
        """16 hex digits that name this set of values."""
        raw = json.dumps([self.arch, sorted(self.values.items())]).encode()
        return hashlib.sha256(raw).hexdigest()[:16]


_GFX950 = Parameters()
TABLE: dict[str, Parameter] = {
    item.name: Parameter(item.name, getattr(_GFX950, item.name), **item.metadata)
    for item in fields(Parameters)
    if item.metadata
}

GFX942 = {
    "mfma_valu_block_base": 4,
    "mfma_valu_block_per_16_bytes": 0,
    "mfma_memory_block": 0,
    "mfma_memory_block_8_bytes": 0,
    "transcendental_port": 16,
    "ds_read_b64_service": 4,
    "ds_read_b64_latency": 52,
    "ds_read_b128_service": 8,
}
"""Values that differ on gfx942 (measured on public MI325X traces; b128 by its 128 B per clock)."""

BAD_END = {name: item.bad for name, item in TABLE.items() if item.bad is not None}
