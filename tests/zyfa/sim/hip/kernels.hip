// Kernels of the compiler round trip. No HIP headers: the attributes are spelled out.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));
typedef int i16v __attribute__((ext_vector_type(16)));
typedef __bf16 bf8v __attribute__((ext_vector_type(8)));
#define TID __builtin_amdgcn_workitem_id_x()
#define BID __builtin_amdgcn_workgroup_id_x()
#define SYNC() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
  __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
  int i = BID * 256 + TID;
  if (i < n) c[i] = a[i] + b[i] * 0.5f;
}

// One wave: sum by DPP row operations, then permlane swaps across rows.
extern "C" __global__ void reduce_dpp(const float *x, float *out) {
  float v = x[BID * 64 + TID];
#define STEP(ctrl) v += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp( \
    0, __builtin_bit_cast(int, v), ctrl, 0xf, 0xf, true))
  STEP(0xb1);   // quad_perm [1,0,3,2]
  STEP(0x4e);   // quad_perm [2,3,0,1]
  STEP(0x141);  // row_half_mirror
  STEP(0x140);  // row_mirror
  // As assembly, because clang 22's builtin returns its first result twice. The s_nop fills the two
  // slots that the compiler does not know to be needed inside an asm statement.
#define SWAP(width) do { float w = v; \
    __asm__("s_nop 1\n\tv_permlane" width "_swap_b32 %0, %1" : "+v"(v), "+v"(w)); \
    v += w; } while (0)
  SWAP("16");
  SWAP("32");
  out[BID * 64 + TID] = v;
}

extern "C" __global__ void reduce_shared(const float *x, float *out, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = TID; i < n; i += 256) s += x[BID * n + i];
  part[TID] = s;
  SYNC();
  for (int step = 128; step; step >>= 1) {
    if (TID < step) part[TID] += part[TID + step];
    SYNC();
  }
  if (TID == 0) out[BID] = part[0];
}

extern "C" __global__ void transpose(const float *in, float *out, int n) {
  __shared__ float tile[32][33];
  int x = TID % 32, y = TID / 32;
  int bx = BID % (n / 32), by = BID / (n / 32);
  for (int r = y; r < 32; r += 8) tile[r][x] = in[(by * 32 + r) * n + bx * 32 + x];
  SYNC();
  for (int r = y; r < 32; r += 8) out[(bx * 32 + r) * n + by * 32 + x] = tile[x][r];
}

extern "C" __global__ void softmax(const float *x, float *y, int n) {
  __shared__ float part[64];
  const float *row = x + BID * n;
  float m = -__builtin_inff();
  for (int i = TID; i < n; i += 64) m = __builtin_fmaxf(m, row[i]);
  part[TID] = m;
  SYNC();
  for (int s = 32; s; s >>= 1) {
    if (TID < s) part[TID] = __builtin_fmaxf(part[TID], part[TID + s]);
    SYNC();
  }
  m = part[0];
  SYNC();
  float sum = 0;
  for (int i = TID; i < n; i += 64) sum += __builtin_amdgcn_exp2f((row[i] - m) * 1.44269504f);
  part[TID] = sum;
  SYNC();
  for (int s = 32; s; s >>= 1) {
    if (TID < s) part[TID] += part[TID + s];
    SYNC();
  }
  float total = part[0];
  for (int i = TID; i < n; i += 64)
    y[BID * n + i] = __builtin_amdgcn_exp2f((row[i] - m) * 1.44269504f) / total;
}

// One wave computes a 32 x 32 tile: C = A B^T, A and B row-major [32][k].
extern "C" __global__ void gemm_bf16(const __bf16 *a, const __bf16 *b, float *c, int k) {
  int row = TID % 32, half = TID / 32;
  f16v acc = {};
  for (int i = 0; i < k; i += 16) {
    bf8v x = *(const bf8v *)(a + row * k + i + 8 * half);
    bf8v y = *(const bf8v *)(b + row * k + i + 8 * half);
    acc = __builtin_amdgcn_mfma_f32_32x32x16_bf16(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 16; r++) c[(8 * (r / 4) + 4 * half + r % 4) * 32 + row] = acc[r];
}

extern "C" __global__ void gemm_i8(const signed char *a, const signed char *b, int *c, int k) {
  int row = TID % 32, half = TID / 32;
  i16v acc = {};
  for (int i = 0; i < k; i += 32) {
    i4 x = *(const i4 *)(a + row * k + i + 16 * half);
    i4 y = *(const i4 *)(b + row * k + i + 16 * half);
    acc = __builtin_amdgcn_mfma_i32_32x32x32_i8(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 16; r++) c[(8 * (r / 4) + 4 * half + r % 4) * 32 + row] = acc[r];
}

// Scales: one E8M0 byte per row and 32 k, [32][k / 32]; zero-extended to a dword by the load.
extern "C" __global__ void gemm_fp8(const unsigned char *a, const unsigned char *b,
                                    const unsigned char *sa, const unsigned char *sb, float *c,
                                    int k) {
  int row = TID % 32, half = TID / 32;
  f16v acc = {};
  for (int i = 0; i < k; i += 64) {
    i8v x, y;
    for (int j = 0; j < 2; j++) {
      i4 p = *(const i4 *)(a + row * k + i + 32 * j + 16 * half);
      i4 q = *(const i4 *)(b + row * k + i + 32 * j + 16 * half);
      for (int n = 0; n < 4; n++) { x[4 * j + n] = p[n]; y[4 * j + n] = q[n]; }
    }
    acc = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
        x, y, acc, 0, 0, 0, sa[row * (k / 32) + i / 32 + half], 0,
        sb[row * (k / 32) + i / 32 + half]);
  }
  for (int r = 0; r < 16; r++) c[(8 * (r / 4) + 4 * half + r % 4) * 32 + row] = acc[r];
}

extern "C" __global__ void histogram(const int *x, int *bins, int *largest, int n) {
  __shared__ int local[64];
  if (TID < 64) local[TID] = 0;
  SYNC();
  for (int i = BID * 256 + TID; i < n; i += 1024) {
    __hip_atomic_fetch_add(&local[x[i] & 63], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_max(largest, x[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  SYNC();
  if (TID < 64)
    __hip_atomic_fetch_add(&bins[TID], local[TID], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void collatz(const unsigned *x, int *steps, int n) {
  int i = BID * 64 + TID;
  if (i >= n) return;
  unsigned v = x[i];
  int s = 0;
  while (v != 1) {
    if (v & 1) v = 3 * v + 1; else v >>= 1;
    s++;
    if (s > 500) break;
  }
  steps[i] = s;
}

// Uniform control flow and 64-bit scalar arithmetic.
extern "C" __global__ void scalar_walk(const int *table, long long *out, int n) {
  long long sum = 0;
  unsigned state = 12345u + BID;
  for (int i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    int v = table[state % 61u];
    if (v < 0) sum -= (long long)v * v;
    else if (v & 1) sum = (sum << 1) ^ v;
    else sum += __builtin_popcount(v) + (sum >> 3);
  }
  out[BID * 64 + TID] = sum + TID;
}

extern "C" __global__ void integer_mix(const int *a, const unsigned *b, int *c, int n) {
  int i = BID * 64 + TID;
  if (i >= n) return;
  int x = a[i];
  unsigned y = b[i] | 1u;
  int r = x / (int)(y % 1000u + 1u) + (int)((unsigned)x % y) - __builtin_clz(y);
  r ^= (x << (y & 31)) | ((unsigned)x >> (32 - (y & 31)) % 32);
  short s = (short)x;
  r += (s * (short)y) >> 3;
  long long wide = (long long)x * y;
  c[i] = r + (int)(wide >> 32) + __builtin_bitreverse32(y);
}

extern "C" __global__ void float_mix(const float *a, const float *b, float *c, int n) {
  int i = BID * 64 + TID;
  if (i >= n) return;
  float x = a[i], y = b[i];
  double d = (double)x * y + 0.25;
  float r = x / y + __builtin_sqrtf(__builtin_fabsf(x)) + __builtin_floorf(y);
  r = __builtin_fmaf(r, x, -y) + (float)(d / (y * y + 1.0));
  int e = (int)(x * 100.0f);
  _Float16 h = (_Float16)x * (_Float16)2.0f + (_Float16)y;
  c[i] = r + (float)e * 0.5f + (float)h + __builtin_ldexpf(x, 3);
}

extern "C" __global__ void bf16_scale(const __bf16 *x, __bf16 *y, float s) {
  int i = (BID * 64 + TID) * 8;
  bf8v v = *(const bf8v *)(x + i);
  for (int n = 0; n < 8; n++) v[n] = (__bf16)((float)v[n] * s);
  *(bf8v *)(y + i) = v;
}
