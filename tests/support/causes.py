"""Pairs of small kernels for the simulator: with a cause of idle cycles, and without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

ITERATIONS = 20
#: 32 cycles of the matrix pipe; accumulators apart, so that none waits for another.
MFMA = "v_mfma_f32_32x32x16_bf16 v[{c}:{d}], v[0:3], v[8:11], v[{c}:{d}]"


class Pair(NamedTuple):
    """``cause`` as ``explain`` calls it; bodies of one iteration; waves of the workgroup."""

    name: str
    cause: str
    with_cause: str
    without: str
    waves: int


@dataclass(frozen=True)
class Loop:
    """What an iteration is made of: ``mfmas``, then the cause, then ``hidden`` vector work."""

    waves: int
    mfmas: int
    hidden: int

    def pair(self, name: str, cause: str, lines: str, before: str = "", instead: str = "") -> Pair:
        """``before``: what both sides do before the cause; ``instead`` of it, the other side."""
        matrix = "\n".join(
            MFMA.format(c=32 + 16 * (n % 4), d=47 + 16 * (n % 4)) for n in range(self.mfmas)
        )
        rest = vector(self.hidden)
        return Pair(
            f"{name} {self.waves} waves, {self.mfmas} MFMAs, {self.hidden} hidden",
            cause,
            f"{matrix}\n{before}\n{lines}\n{rest}",
            f"{matrix}\n{before}\n{instead}\n{rest}",
            self.waves,
        )


def vector(count: int, opcode: str = "v_add_f32_e32 v{n}, v20, v21") -> str:
    """Independent vector instructions."""
    return "\n".join(opcode.format(n=100 + n % 16) for n in range(count))


def loads(count: int) -> str:
    """Loads of 16 bytes a lane, one after the other."""
    return "\n".join(f"global_load_dwordx4 v[{128 + 4 * n}:{131 + 4 * n}], v22, s[8:9]"
                     for n in range(count))  # fmt: skip


def reads(count: int) -> str:
    """LDS reads of 16 bytes a lane, one after the other."""
    return "\n".join(f"ds_read_b128 v[{160 + 4 * n}:{163 + 4 * n}], v22" for n in range(count))


def pairs() -> list[Pair]:
    """Every cause in loops of one and two waves a SIMD, short and long."""
    found = []
    for waves in (4, 8):
        for mfmas, hidden in ((2, 2), (6, 6)):
            loop = Loop(waves, mfmas, hidden)
            found += [
                loop.pair("vector 20", "vector_work", vector(20)),
                loop.pair("vector 60", "vector_work", vector(60)),
                loop.pair("exp", "vector_work", vector(16, "v_exp_f32_e32 v{n}, v20")),
                loop.pair("load", "vmcnt_wait", "s_waitcnt vmcnt(0)", loads(1)),
                loop.pair("loads", "vmcnt_wait", "s_waitcnt vmcnt(0)", loads(4)),
                loop.pair("read", "lgkmcnt_wait", "s_waitcnt lgkmcnt(0)", reads(1)),
                loop.pair("reads", "lgkmcnt_wait", "s_waitcnt lgkmcnt(0)", reads(4)),
                loop.pair("burst", "lds_refused_or_issue", reads(20)),
                loop.pair("s_nop", "nop", "s_nop 15\n" * 4),
                loop.pair("scalar", "scalar_or_branch", "s_add_u32 s21, s21, 1\n" * 24),
                loop.pair("back-pressure", "vmem_refused_or_issue", loads(8)),
                loop.pair("readlane", "scalar_waits_for_vector",
                          "v_readfirstlane_b32 s22, v20\ns_add_u32 s23, s22, 1\n" * 6,
                          instead="v_readfirstlane_b32 s22, v20\n" * 6),
                # The wait ends under the MFMAs; what follows it is in the bubble.
                loop.pair("serial", "vmcnt_wait", "s_waitcnt vmcnt(0)", f"{loads(1)}\n{vector(8)}"),
            ]  # fmt: skip
    return found


def kernel(body: str) -> str:
    """The loop around one iteration's body; takes one buffer."""
    zero = "\n".join(f"v_mov_b32_e32 v{n}, 0" for n in range(256))
    return f"""
s_load_dwordx2 s[8:9], s[0:1], 0x0
{zero}
v_lshlrev_b32_e32 v22, 4, v0
s_mov_b32 s20, 0
s_mov_b32 s21, 0
s_waitcnt lgkmcnt(0)
loop:
{body}
s_add_u32 s20, s20, 1
s_cmp_lt_u32 s20, {ITERATIONS}
s_cbranch_scc1 loop
s_waitcnt vmcnt(0) lgkmcnt(0)
"""
