"""What one instruction costs the pipes of a CU, from its text and the parameter table."""

from __future__ import annotations

import re
from typing import Any

from zyfa.sim.isa.syntax import Syntax, parse
from zyfa.sim.rules.effects import TRANSCENDENTAL
from zyfa.sim.rules.usage import Usage, registers, usage
from zyfa.sim.state.registers import SCC, SGPR, VCC
from zyfa.sim.timing.parameters import Parameters

MATRIX, VALU, LDS, VMEM, SCALAR, BRANCH, INTERNAL = range(7)
"""Ports. SCALAR holds SALU and SMEM."""

INTERNAL_NAMES = {
    "s_waitcnt": "wait", "s_nop": "nop", "s_barrier": "barrier", "s_endpgm": "end",
    "s_setprio": "other", "s_sleep": "nop64", "s_sethalt": "other", "s_ttracedata": "other",
    "s_icache_inv": "other", "s_inst_prefetch": "other", "s_sendmsg": "other",
    "s_code_end": "end", "s_wakeup": "other",
}  # fmt: skip
PACKED = re.compile(r"v_(pk_(fma|mul|add)_f32|pk_mov_b32|dot\d)")
PERMLANE = re.compile(r"v_permlane\d+_swap")
FP8 = re.compile(r"v_cvt_(scalef32_)?(pk|sr)_(fp8|bf8)_f32")
NEVER_PAIRS = re.compile(r"v_(cvt_pk|cvt_scalef32|accvgpr|permlane|bitop3_b16|pk_|dot|ashr_pk)")

DUAL = {
    "F": r"v_(mov_b32|(add|sub|subrev|mul|fma|fmac|fmamk|fmaak)_f32)$",
    "S": r"v_((add|sub|subrev)_u32|(and|or|xor|xnor|not)_b32|lshrrev_b32|ashrrev_i32|cndmask_b32"
         r"|bitop3_b32|(addc|subb|subbrev)_co_u32)$",
    "X": r"v_(\w+_(u|i|b|f)64|mul_(lo|hi)_\w+|mad_[ui]64_\w+|mov_b64|max_f32|min_f32)$",
    "R": r"v_read(first)?lane_b32$",
}  # fmt: skip
"""Classes of dual issue, first match wins; everything else that may pair is C."""

PAIRS = {"F": "FSCX", "S": "FS", "C": "FS", "X": "", "R": "FSX"}
"""Older wave's class -> classes of the younger wave that may join it."""


class Cost:
    """Static timing facts of one instruction. Cycles unless the name says otherwise.

    port: kind above. hold: cycles that the VALU port is taken. cycles: matrix pipe. service,
    latency: LDS and VMEM. writes, reads: VGPR bit masks for the WAR interlock.
    packed: waits for the end of an MFMA, as packed float32 does. was: port of an instruction
    that a replay takes out (internal "ghost").
    """

    __slots__ = (
        "block_memory",
        "block_packed",
        "block_valu",
        "count",
        "counts",
        "cycles",
        "dual",
        "flat",
        "hold",
        "internal",
        "is_compare",
        "latency",
        "lds_class",
        "next_distance",
        "packed",
        "port",
        "reads",
        "reads_scalar",
        "reads_scc",
        "scaled",
        "service",
        "smem",
        "store",
        "text",
        "to_lds",
        "transcendental",
        "was",
        "width",
        "writes",
        "writes_scalar",
        "writes_scc",
    )  # fmt: skip

    port: int
    was: int
    writes_scalar: bool

    def __init__(self, text: str, p: Parameters, mfma_cycles: int):
        syntax, use = parse(text), usage(text)
        stem = syntax.stem
        self.text = text
        self.hold = self.cycles = self.service = self.latency = self.count = 0
        self.block_valu = self.block_memory = self.block_packed = 0
        self.packed = self.scaled = self.transcendental = self.is_compare = False
        self.smem = self.store = self.flat = self.writes_scalar = self.to_lds = False
        self.dual, self.internal, self.lds_class, self.width = "", "", "", 0
        self.counts: dict[str, Any] = {}
        self.next_distance = p.issue
        self.reads_scc = SCC in use.reads
        self.writes_scc = SCC in use.writes
        self.reads_scalar = any(r >= SGPR for r in use.reads if r != SCC)
        self.writes = sum(1 << r for r in use.writes if r < SGPR)
        self.reads = sum(1 << r for r in use.reads if r < SGPR)
        if stem.startswith(("v_mfma", "v_smfmac")):
            self._matrix(syntax, p, mfma_cycles)
        elif stem.startswith("v_"):
            self._valu(stem, use, p)
        elif stem.startswith("ds_"):
            self._lds(stem, p)
        elif re.match(r"(global|flat|scratch|buffer)_", stem):
            self._vmem(stem, syntax, p)
        elif stem in INTERNAL_NAMES:
            self._internal(stem, syntax, p)
        elif stem.startswith(("s_cbranch", "s_branch", "s_setpc", "s_swappc", "s_call")):
            self.port = BRANCH
            self.reads_scc = self.reads_scc or VCC in use.reads or SCC in use.reads
        else:
            self.port = SCALAR
            self.smem = stem.startswith(("s_load", "s_buffer", "s_store", "s_memtime",
                                         "s_memrealtime", "s_dcache"))  # fmt: skip
            self.latency = p.smem_latency if self.smem else 0

    def _matrix(self, syntax: Syntax, p: Parameters, cycles: int) -> None:
        self.port, self.cycles = MATRIX, cycles
        self.scaled = "_scale_" in syntax.stem
        a, b = (4 * max(len(registers(item)), 1) for item in syntax.operands[1:3])
        if p.block_after_mfma:
            wide = p.mfma_valu_block_per_16_bytes * (max(a, b) // 16)
            self.block_valu = p.mfma_valu_block_base + wide
            self.block_memory = (
                p.mfma_memory_block if max(a, b) >= 16 else p.mfma_memory_block_8_bytes
            )
        extra = p.mfma_packed_block_16_bytes if a >= 16 else 0
        self.block_packed = cycles + p.mfma_packed_block + extra if p.mfma_packed_block else 0

    def _valu(self, stem: str, use: Usage, p: Parameters) -> None:
        self.port, self.hold = VALU, p.valu_port
        self.packed = bool(PACKED.match(stem))
        self.transcendental = bool(TRANSCENDENTAL.match(stem))
        self.writes_scalar = any(r >= SGPR for r in use.writes)
        self.is_compare = stem.startswith("v_cmp")
        if self.transcendental:
            self.hold = p.transcendental_port
        elif PERMLANE.match(stem):
            self.hold = p.permlane_swap_port
        elif FP8.match(stem):
            self.hold = p.cvt_pk_fp8_port
        elif stem == "v_cvt_pk_u8_f32":
            self.hold = p.cvt_pk_u8_port
        elif stem.startswith("v_ashr_pk"):
            self.hold = p.ashr_pk_port
            self.packed = bool(p.ashr_pk_refused)
        elif stem == "v_bitop3_b16":
            self.hold = p.bitop3_b16_port
        elif stem.endswith("_f64") and not stem.startswith("v_cmp"):
            self.hold = p.f64_port
        if p.dual_issue and self.hold == p.valu_port and not NEVER_PAIRS.match(stem):
            self.dual = next((k for k, rule in DUAL.items() if re.match(rule, stem)), "C")

    def _lds(self, stem: str, p: Parameters) -> None:
        self.port = LDS
        if stem.startswith("ds_write"):
            self.store = True
            double = "write2" in stem
            bits = int(re.sub(r".*?b(8|16|32|64|96|128).*", r"\1", stem))
            size = max(4, 1 << (bits // 8 - 1).bit_length()) * (2 if double else 1)
            name = {4: "b32", 8: "b64", 16: "b128"}[size]
            self.next_distance = getattr(p, f"ds_write_{name}_issue")
            self.width = size
            self.lds_class = f"ds_write_{name}"
        elif "permute" in stem or "swizzle" in stem:
            self.next_distance = p.ds_bpermute_issue if "bpermute" in stem else p.issue
            self.lds_class = "ds_permute"
        elif stem.startswith("ds_read"):
            if "b128" in stem or "b96" in stem or "read2_b64" in stem or "read2st64_b64" in stem:
                self.lds_class, self.width = "ds_read_b128", 16
            elif "b64" in stem or "read2" in stem:
                self.lds_class, self.width = "ds_read_b64", 8
            else:
                self.lds_class, self.width = "ds_read_b32", 4
        else:
            self.lds_class = "ds_atomic"
        service = "ds_read_b64_tr" if "_tr_" in stem else self.lds_class
        self.service = getattr(p, f"{service}_service")
        self.latency = getattr(p, f"{self.lds_class}_latency")
        if "_tr_" in stem:
            self.lds_class = "ds_read_b64_tr"

    def _vmem(self, stem: str, syntax: Syntax, p: Parameters) -> None:
        self.port = VMEM
        self.flat = stem.startswith("flat_")
        self.store = "_store_" in stem or "_atomic_" in stem
        self.to_lds = "lds" in syntax.modifiers or "_lds_" in stem
        wide = "x4" if "x4" in stem or "x3" in stem else "x2" if "x2" in stem else "dword"
        self.service = getattr(p, f"vmem_{wide}_service")
        self.latency = p.vmem_dword_latency if wide == "dword" else p.vmem_latency
        if self.store:
            self.latency = p.vmem_store_latency

    def _internal(self, stem: str, syntax: Syntax, p: Parameters) -> None:
        self.port, self.internal = INTERNAL, INTERNAL_NAMES[stem]
        self.counts = syntax.modifiers
        self.count = p.internal
        if self.internal.startswith("nop"):
            factor = 64 if self.internal == "nop64" else 4
            self.count = factor * syntax.operands[0].number + p.internal
            self.internal = "nop"
