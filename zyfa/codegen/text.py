"""Assembly file: code, kernel descriptor, metadata, marker names."""

from __future__ import annotations

from collections.abc import Sequence

from zyfa.codegen import kernargs, markers
from zyfa.codegen.instruction import Line
from zyfa.codegen.options import Options
from zyfa.shape import SIDE

DENORMALS_ON = 3
"""float_denorm_mode: lean_ashr computes in float32's denormal range."""


def render(
    options: Options, lines: Sequence[Line], registers: tuple[int, int], lds_bytes: int
) -> str:
    """`registers`: vector and scalar registers that a wave takes."""
    name, shape = options.symbol, options.shape
    vgprs, sgprs = registers
    code = "\n".join(str(line) for line in lines)
    accumulators = -(-vgprs // 4) * 4
    chosen = ", ".join(f"{field}={value}" for field, value in options.chosen.items())
    names = markers.funcmap(name) if options.on("markers") else ""
    block = f"block: {shape.keys} keys"
    dimension = f"{shape.d_qk}" if shape.d_qk == shape.d_v else f"{shape.d_qk}, {shape.d_v}"
    return f"""; zyfa FP8 causal attention forward, head dimension {dimension}, gfx950
; {chosen}
; Workgroup: {shape.waves} waves x {SIDE} query rows; {block}. Generated: do not edit.
  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
  .text
  .globl {name}
  .p2align 8
  .type {name},@function
{name}:
{code}
.L_{name}_end:
  .size {name}, .L_{name}_end-{name}

  .rodata
  .p2align 6
  .amdhsa_kernel {name}
    .amdhsa_group_segment_fixed_size {lds_bytes}
    .amdhsa_kernarg_size {kernargs.SIZE}
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_system_vgpr_workitem_id 0
    .amdhsa_next_free_vgpr {vgprs}
    .amdhsa_next_free_sgpr {sgprs}
    .amdhsa_accum_offset {accumulators}
    .amdhsa_float_denorm_mode_32 {DENORMALS_ON}
    .amdhsa_float_denorm_mode_16_64 {DENORMALS_ON}
  .end_amdhsa_kernel
{names}
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernargs.SIZE}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds_bytes}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: {sgprs}
    .vgpr_count: {vgprs}
    .agpr_count: 0
    .max_flat_workgroup_size: {shape.threads}
    .args:
{kernargs.metadata()}
...
  .end_amdgpu_metadata
"""
