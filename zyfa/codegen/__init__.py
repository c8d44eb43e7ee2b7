"""Generator of gfx950 attention kernels: options in, assembly text out. Needs no torch."""

from zyfa.codegen.kernel import emit, program
from zyfa.codegen.options import Options, all_options

__all__ = ["Options", "all_options", "emit", "program"]
