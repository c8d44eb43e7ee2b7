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
from dataclasses import dataclass
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


def _table(*rows: tuple) -> dict[str, Parameter]:
    return {row[0]: Parameter(*row) for row in rows}


M, X, A = "measured", "extrapolated", "assumed"
TABLE: dict[str, Parameter] = _table(
    # Blocking after an MFMA
    ("mfma_valu_block_base", 4, "cycles", M, f"{RULES}: 4 + 4 per 16 B of the widest A/B operand"),
    ("mfma_valu_block_per_16_bytes", 4, "cycles", M, f"{RULES}; 32x32x64 f8f6f4 extrapolated", 6),
    ("mfma_memory_block", 8, "cycles", M, f"{RULES}: LDS and VMEM, A/B of 16 B and more"),
    ("mfma_memory_block_8_bytes", 4, "cycles", M, f"{RULES}: A/B of 8 B"),
    ("mfma_packed_block", 8, "cycles", M, f"{RULES}: packed f32 until MFMA cycles + this"),
    ("mfma_packed_block_16_bytes", 4, "cycles", M, f"{RULES}: more when A has 16 B"),
    ("scaled_mfma_port_lead", 4, "cycles", M, "the ld_scale half takes the port one tick before"),
    # VALU port
    ("valu_port", 4, "cycles", M, RULES),
    ("transcendental_port", 8, "cycles", M, f"{RULES}; gfx942: 16"),
    ("permlane_swap_port", 8, "cycles", M, RULES),
    ("cvt_pk_fp8_port", 8, "cycles", M, "31 pairs of one capture"),
    ("cvt_pk_u8_port", 4, "cycles", A, "no trace holds it", 8),
    ("ashr_pk_port", 4, "cycles", A, "no trace holds it", 8),
    ("ashr_pk_refused", 0, "0/1", A, "1: v_ashr_pk refused in MFMA shadows as packed f32 is", 1),
    ("bitop3_b16_port", 8, "cycles", M, RULES),
    ("f64_port", 8, "cycles", A, "half the f32 rate; no trace", 16),
    ("dual_issue", 1, "0/1", M, f"{RULES}: 107,951 ticks"),
    ("dual_issue_both_scalar", 0, "0/1", M, f"{RULES}: 12 of 14,445"),
    # Distances inside one wave
    ("issue", 4, "cycles", M, "any instruction to the next of its wave"),
    ("valu_to_memory", 12, "cycles", M, RULES),
    ("transcendental_to_memory", 16, "cycles", M, RULES),
    ("valu_sgpr_to_salu", 20, "cycles", M, RULES),
    ("compare_to_branch", 24, "cycles", M, RULES),
    ("salu_to_branch", 8, "cycles", M, RULES),
    ("salu_to_memory", 8, "cycles", M, RULES),
    ("branch_taken", 20, "cycles", M, RULES),
    ("branch_taken_to_nop", 16, "cycles", M, RULES),
    ("branch_not_taken", 4, "cycles", M, f"{RULES}; 20 in 10 %"),
    ("ds_write_b32_issue", 8, "cycles", M, RULES),
    ("ds_write_b64_issue", 12, "cycles", M, RULES),
    ("ds_write_b128_issue", 20, "cycles", M, RULES),
    ("ds_bpermute_issue", 8, "cycles", M, RULES),
    ("workgroup_launch", 100, "cycles", A, "end of a workgroup to the start of the next", 1000),
    # Internal instructions
    ("internal", 4, "cycles", M, "s_waitcnt without waiting, s_setprio"),
    ("barrier_release", 4, "cycles", M, "last arrival to release; the next issue is 4 later"),
    # LDS
    ("lds_queue", 8, "entries", M, "saturated bursts of FP4 and bf16 GEMMs: two per SIMD"),
    ("lds_issues_per_tick", 2, "issues", M, "bursts of four SIMDs: each issues every 8 cycles"),
    ("vmem_issues_per_tick", 2, "issues", M, f"{RULES}: at most 17 in 64 cycles", 1),
    ("vmem_queue", 11, "entries", M, RULES),
    ("ds_read_b32_service", 4, "cycles", M, "bursts of ds_read_u8: one per tick and CU"),
    ("ds_read_b64_service", 2, "cycles", M, f"{RULES}; 2 preferred to 4", 4),
    ("ds_read_b64_tr_service", 2, "cycles", X, "b16 measured, b8 not", 4),
    ("ds_read_b128_service", 4, "cycles", M, "260 in 1,024 cycles"),
    ("ds_permute_service", 4, "cycles", M, RULES),
    ("ds_write_b32_service", 4, "cycles", M, RULES),
    ("ds_write_b64_service", 8, "cycles", M, RULES),
    ("ds_write_b128_service", 16, "cycles", M, RULES),
    ("ds_atomic_service", 16, "cycles", A, "no trace", 64),
    ("ds_read_b32_latency", 44, "cycles", M, f"{RULES}: issue to s_waitcnt done, unloaded"),
    ("ds_read_b64_latency", 48, "cycles", M, RULES),
    ("ds_read_b128_latency", 52, "cycles", M, f"{RULES}: 48 to 52"),
    ("ds_permute_latency", 52, "cycles", M, RULES),
    ("ds_write_b32_latency", 52, "cycles", M, RULES),
    ("ds_write_b64_latency", 56, "cycles", M, RULES),
    ("ds_write_b128_latency", 68, "cycles", M, RULES),
    ("ds_atomic_latency", 64, "cycles", A, "no trace", 128),
    ("lds_banks", 64, "banks", M, "four bytes each; Modular, HipKittens"),
    ("lds_phase_lanes_b32", 64, "lanes", A, "lanes served together by a 4-byte access", 64),
    ("lds_phase_lanes_b64", 32, "lanes", A, "64 banks x 4 B serve 32 lanes of 8 B", 32),
    ("lds_phase_lanes_b64_tr", 16, "lanes", A, "a transpose group", 32),
    ("lds_phase_lanes_b128", 16, "lanes", A, "64 banks x 4 B serve 16 lanes of 16 B", 16),
    ("lds_conflict_cycles", 2, "cycles", A, "service per extra pass of a phase", 4),
    # Memory
    ("smem_latency", 40, "cycles", M, "scalar cache hit; a miss takes about 540", 540),
    ("vmem_latency", 700, "cycles", A, "typical 460 to 2,400 under load, at least 176", 2400),
    ("vmem_dword_latency", 600, "cycles", A, "typical; at least 92 on a hit", 2400),
    ("vmem_store_latency", 500, "cycles", A, "no figure", 2400),
    ("vmem_x4_service", 16, "cycles", M, "64 B per clock: 67 in 1,024"),
    ("vmem_x2_service", 8, "cycles", X, "64 B per clock"),
    ("vmem_dword_service", 4, "cycles", M, "4 to 8", 8),
    # Switches of the ablation
    ("block_after_mfma", 1, "0/1", M, "use the VALU, LDS and VMEM blocks"),
    ("war_interlock", 1, "0/1", M, f"{RULES}: a VALU waits for queued readers of its target"),
    ("queues", 1, "0/1", M, "use the CU queues"),
    ("ports", 1, "0/1", M, "0: the naive model, every instruction takes 4 cycles"),
)  # fmt: skip

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


class Parameters:
    """The values in use, as attributes.

    overrides: name -> int, applied over the architecture's values. Raises SimError for an unknown
    name or a value that is not an integer of 0 or more.
    """

    def __init__(self, arch: str = "gfx950", overrides: Mapping[str, int] | None = None):
        self.arch = arch
        self.values = {name: item.value for name, item in TABLE.items()}
        if arch == "gfx942":
            self.values.update(GFX942)
        for name, value in (overrides or {}).items():
            if name not in TABLE:
                raise SimError(f"unknown parameter {name!r}; `zyfa sim --parameters` lists them")
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise SimError(f"parameter {name} must be an integer of 0 or more, not {value!r}")
            self.values[name] = value
        self.__dict__.update(self.values)

    @classmethod
    def from_toml(cls, path: str | Path, arch: str = "gfx950") -> Parameters:
        """Overrides from the top level of a TOML file."""
        try:
            return cls(arch, tomllib.loads(Path(path).read_text()))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise SimError(f"{path}: {error}") from error

    @property
    def digest(self) -> str:
        """16 hex digits that name this set of values."""
        raw = json.dumps([self.arch, sorted(self.values.items())]).encode()
        return hashlib.sha256(raw).hexdigest()[:16]
