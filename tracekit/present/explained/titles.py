"""What causes are called on a page."""

from __future__ import annotations

TITLES = {
    "vector_work": "vector work without an MFMA beside it",
    "vector_refused": "vector instruction refused",
    "lds_refused_or_issue": "LDS instruction refused or issuing",
    "vmem_refused_or_issue": "vector memory refused or issuing",
    "mfma_refused": "MFMA refused, operands not ready",
    "matrix_elsewhere": "MFMAs of another SIMD, through a barrier",
    "vmcnt_wait": "wait for vector memory",
    "lgkmcnt_wait": "wait for LDS or scalar memory",
    "nop": "s_nop, s_sleep",
    "scalar_waits_for_vector": "scalar work waits for a vector result",
    "scalar_or_branch": "scalar work or branch",
    "no_attempt": "no attempt: fetch, arbitration",
    "drain": "drain before the end",
    "barrier": "barrier that no traced wave explains",
    "data_lost": "lost tokens",
    "no_wave": "no wave resident",
    "after_last_mfma": "after the last MFMA",
    "iteration": "iteration",
}
