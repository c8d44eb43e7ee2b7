"""How scores become FP8 probabilities, a module a variant."""

from importlib import import_module

from zyfa.codegen.softmaxes.base import Arithmetic, Softmax

_MODULES = (
    "lean_ashr",
    "lean_u8",
    "exact",
)
SOFTMAXES: dict[str, Softmax] = {
    name: import_module(f"{__name__}.{name}").SOFTMAX for name in _MODULES
}
"""By the name in `Options`, the default first."""

__all__ = ["SOFTMAXES", "Arithmetic", "Softmax"]
