"""A kernel of one's own on the gfx950 wave simulator: numbers, cycles, and what tracekit says.

    python examples/kernel.py

Needs an assembler (pip install 'tracekit[samples]'). Cycles are simulated.
"""

import tempfile
from pathlib import Path

import tracekit
from zyfa import sim, toolchain

#: One block of MFMAs and one of exponentials in turn, by every wave alike.
BODY = """
  s_mov_b32 s4, 8
loop:
{matrix}
{vector}
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 loop
  s_endpgm
"""
KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl turns
.p2align 8
.type turns,@function
turns:
{zero}
{body}
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel turns
  .amdhsa_next_free_vgpr 128
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 128
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: turns, .symbol: turns.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 16, .vgpr_count: 128, .max_flat_workgroup_size: 512, .args: []}}
...
.end_amdgpu_metadata
"""


def source() -> str:
    """The kernel: eight MFMAs with accumulators of their own, then 60 exponentials."""
    matrix = [
        f"  v_mfma_f32_32x32x16_bf16 v[{16 + 16 * (n % 4)}:{31 + 16 * (n % 4)}], v[0:3], v[4:7], "
        f"v[{16 + 16 * (n % 4)}:{31 + 16 * (n % 4)}]"
        for n in range(8)
    ]
    vector = [f"  v_exp_f32_e32 v{96 + n % 16}, v{112 + n % 8}" for n in range(60)]
    zero = "\n".join(f"  v_mov_b32_e32 v{n}, 0" for n in range(128))
    body = BODY.format(matrix="\n".join(matrix), vector="\n".join(vector))
    return KERNEL.format(zero=zero, body=body)


def main() -> None:
    code = toolchain.find().assemble(source())
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "turns"
        result = sim.run(code, None, [], block=512, capture=capture)
        print(f"{result.cycles:,} simulated cycles of one CU")
        print(tracekit.explain(capture, gain=True))


if __name__ == "__main__":
    main()
