"""Assemble small kernels for the simulator's tests."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

HEAD = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl k
.p2align 8
.type k,@function
k:
"""
TAIL = """
  s_endpgm
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_kernarg_size {kernarg}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 128
  .amdhsa_float_denorm_mode_32 {denorm}
  .amdhsa_fp16_overflow {overflow}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: {kernarg}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 96
    .vgpr_count: 256
    .max_flat_workgroup_size: 1024
    .args:
{args}
...
.end_amdgpu_metadata
"""


@lru_cache(maxsize=512)
def assemble(
    body: str,
    buffers: int = 0,
    lds: int = 0,
    denorm: int = 3,
    overflow: int = 0,
    arch: str = "gfx950",
) -> bytes:
    """A linked code object with one kernel `k` that takes `buffers` pointers; ends itself."""
    args = "\n".join(
        f"      - {{.offset: {8 * n}, .size: 8, .value_kind: global_buffer, "
        ".address_space: global}"
        for n in range(buffers)
    )
    tail = TAIL.format(
        lds=lds, kernarg=8 * buffers, denorm=denorm, overflow=overflow, args=args or "      []"
    )
    with tempfile.TemporaryDirectory() as folder:
        text, obj, linked = (Path(folder) / f"k.{end}" for end in ("s", "o", "co"))
        text.write_text(HEAD.format(arch=arch) + body + tail)
        run = [sys.executable, "-m", "ziglang"]
        subprocess.run(
            [*run, "clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", str(text), "-o",
             str(obj)], check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run(
            [*run, "ld.lld", "-shared", str(obj), "-o", str(linked)], check=True,
            capture_output=True,
        )  # fmt: skip
        return linked.read_bytes()
