"""What the kernels should compute, in torch: the numerics twin, fp64 attention, a baseline."""

from zyfa.reference.baseline import aiter_like
from zyfa.reference.exact import attention_fp64
from zyfa.reference.twin import twin

__all__ = ["aiter_like", "attention_fp64", "twin"]
