"""Generator of gfx950 attention kernels: options in, assembly text out. Needs no torch."""

from zyfa.codegen.kernel import Kernel, emit, kernel
from zyfa.codegen.options import Options, all_options

__all__ = ["Kernel", "Options", "all_options", "emit", "kernel"]
