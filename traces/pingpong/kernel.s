; pingpong: synthetic sample kernel, gfx950; written by traces/generate.py
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.p2align 8
.globl pingpong
.type pingpong,@function
pingpong:
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  v_lshrrev_b32_e32 v1, 6, v0
  v_readfirstlane_b32 s3, v1
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s4, 8
  s_cmp_lt_u32 s3, 4
  s_cbranch_scc1 loop
  s_barrier
loop:
  v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]
  v_mfma_f32_32x32x16_bf16 v[16:31], v[64:67], v[68:71], v[16:31]
  v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]
  v_mfma_f32_32x32x16_bf16 v[16:31], v[64:67], v[68:71], v[16:31]
  v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]
  v_mfma_f32_32x32x16_bf16 v[16:31], v[64:67], v[68:71], v[16:31]
  v_mfma_f32_32x32x16_bf16 v[0:15], v[64:67], v[68:71], v[0:15]
  v_mfma_f32_32x32x16_bf16 v[16:31], v[64:67], v[68:71], v[16:31]
  s_barrier
  v_fma_f32 v80, v80, v72, v73
  v_fma_f32 v81, v81, v72, v73
  v_fma_f32 v82, v82, v72, v73
  v_fma_f32 v83, v83, v72, v73
  v_fma_f32 v84, v84, v72, v73
  v_fma_f32 v85, v85, v72, v73
  v_fma_f32 v86, v86, v72, v73
  v_fma_f32 v87, v87, v72, v73
  v_fma_f32 v88, v88, v72, v73
  v_fma_f32 v89, v89, v72, v73
  v_fma_f32 v90, v90, v72, v73
  v_fma_f32 v91, v91, v72, v73
  v_fma_f32 v92, v92, v72, v73
  v_fma_f32 v93, v93, v72, v73
  v_fma_f32 v94, v94, v72, v73
  v_fma_f32 v95, v95, v72, v73
  v_fma_f32 v96, v96, v72, v73
  v_fma_f32 v97, v97, v72, v73
  v_fma_f32 v98, v98, v72, v73
  v_fma_f32 v99, v99, v72, v73
  v_fma_f32 v100, v100, v72, v73
  v_fma_f32 v101, v101, v72, v73
  v_fma_f32 v102, v102, v72, v73
  v_fma_f32 v103, v103, v72, v73
  v_exp_f32_e32 v80, v80
  v_exp_f32_e32 v81, v81
  v_exp_f32_e32 v82, v82
  v_exp_f32_e32 v83, v83
  v_exp_f32_e32 v84, v84
  v_exp_f32_e32 v85, v85
  v_exp_f32_e32 v86, v86
  v_exp_f32_e32 v87, v87
  s_nop 0
  s_barrier
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 loop
  s_cmp_lt_u32 s3, 4
  s_cbranch_scc0 end
  s_barrier
end:
  s_endpgm
