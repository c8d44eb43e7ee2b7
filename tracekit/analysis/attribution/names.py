"""The closed lists of the attribution: causes, splits, phases, and what others do."""

from __future__ import annotations

from enum import IntEnum


class Cause(IntEnum):
    """What the deciding wave does in an idle cycle; MFMA is a wave's state, never a cause."""

    VECTOR_WORK = 0
    VECTOR_REFUSED = 1
    LDS = 2
    VMEM = 3
    MFMA_REFUSED = 4
    MATRIX_ELSEWHERE = 5
    VMCNT_WAIT = 6
    LGKMCNT_WAIT = 7
    NOP = 8
    SCALAR_WAITS = 9
    SCALAR = 10
    NO_ATTEMPT = 11
    DRAIN = 12
    BARRIER = 13
    DATA_LOST = 14
    NO_WAVE = 15
    AFTER_LAST = 16
    MFMA = 17


CAUSES = (
    "vector_work", "vector_refused", "lds_refused_or_issue", "vmem_refused_or_issue",
    "mfma_refused", "matrix_elsewhere", "vmcnt_wait", "lgkmcnt_wait", "nop",
    "scalar_waits_for_vector", "scalar_or_branch", "no_attempt", "drain", "barrier", "data_lost",
    "no_wave", "after_last_mfma",
)  # fmt: skip
#: What each cause says, for help and documents.
MEANINGS = {
    "vector_work": "its vector work executes and no wave has an MFMA beside it",
    "vector_refused": "its vector instruction is ready and refused",
    "lds_refused_or_issue": "its LDS instruction is refused, or issues",
    "vmem_refused_or_issue": "its vector memory or FLAT instruction is refused, or issues",
    "mfma_refused": "its MFMA is ready and refused though the pipe is free: its operands are not",
    "matrix_elsewhere": "the wave that its barrier waits for runs MFMAs on another SIMD",
    "vmcnt_wait": "it waits for vector memory",
    "lgkmcnt_wait": "it waits for LDS or scalar memory",
    "nop": "s_nop or s_sleep: wait states against a hazard",
    "scalar_waits_for_vector": "a scalar instruction waits for what vector work writes",
    "scalar_or_branch": "scalar work, a branch, or the gap around them",
    "no_attempt": "it attempts nothing: fetch, arbitration, or its start",
    "drain": "it waits to end",
    "barrier": "it waits at s_barrier and no traced wave explains why",
    "data_lost": "tokens are missing there, so what it does is unknown",
    "no_wave": "no traced wave is resident on the SIMD",
    "after_last_mfma": "no MFMA follows on the SIMD",
}


class Split(IntEnum):
    """Why a vector instruction was refused; NONE for other causes."""

    NONE = 0
    PORT = 1
    PACKED = 2
    REST = 3


#: Keys of ``Split``.
SPLITS = ("", "port", "packed", "rest")


class Phase(IntEnum):
    """Where in its life the charged wave is, by its own MFMAs."""

    NONE = 0
    PROLOGUE = 1
    MAIN = 2
    EPILOGUE = 3


PHASES = ("", "prologue", "main", "epilogue")


class Others(IntEnum):
    """What the residents besides the decider do that have an MFMA to come."""

    NONE = 0
    WAITING = 1
    WORKING = 2


OTHERS = ("none", "waiting", "working")
#: A wave in one of these gets no nearer to its MFMA by itself.
WAITING = (Cause.VMCNT_WAIT, Cause.LGKMCNT_WAIT, Cause.BARRIER, Cause.NOP, Cause.DRAIN)
