"""FP8 causal prefill attention for gfx950, generated, simulated and traced.

The attention functions need torch (`pip install tracekit[zyfa]`) and are loaded on first use;
`zyfa.sim`, `zyfa.codegen`, `zyfa.jobs` and `zyfa.toolchain` work without it.
"""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "flash_attn_func": "zyfa.host.attention",
    "flash_attn_varlen_func": "zyfa.host.attention",
    "fp8_quantize": "zyfa.host.operators",
    "hadamard_rotate": "zyfa.host.operators",
    "merge_attention": "zyfa.host.operators",
}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'zyfa' has no attribute {name!r}")
    try:
        importlib.import_module("torch")
    except ModuleNotFoundError:
        raise ImportError(f"zyfa.{name} needs torch: pip install tracekit[zyfa]") from None
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
