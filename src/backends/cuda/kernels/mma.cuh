// Tensor-core steps of 32 bytes of depth, for each type of operands, from rows of 128 bytes in shared memory whose
// 16-byte pieces are exchanged by row so that eight rows' same piece lies in eight banks' worth of different places.
#pragma once

namespace trine::contraction {

__device__ inline unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }
__device__ inline unsigned piece_offset(int row, int piece) { return unsigned(row * 128 + ((piece ^ (row & 7)) << 4)); }

__device__ inline void load_matrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
// `bytes` of 16 are read, the rest is 0.
__device__ inline void copy_async(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

#define TRINE_MMA(shape_and_types, constraint)                                                     \
  asm("mma.sync.aligned." shape_and_types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
      : constraint(c[0]), constraint(c[1]), constraint(c[2]), constraint(c[3])                     \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

struct F16 {
  using Sum = float;
  static constexpr int kBytes = 2;
  __device__ static void prepare(unsigned (&)[4]) {}
  __device__ static void multiply(Sum (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    TRINE_MMA("m16n8k16.row.col.f32.f16.f16.f32", "+f");
  }
};
struct Bf16 : F16 {
  __device__ static void multiply(Sum (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    TRINE_MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "+f");
  }
};
struct Tf32 {
  using Sum = float;
  static constexpr int kBytes = 4;
  __device__ static void prepare(unsigned (&r)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[i]) : "f"(__uint_as_float(r[i])));
  }
  __device__ static void multiply(Sum (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    TRINE_MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "+f");
  }
};
struct I8 {
  using Sum = int;
  static constexpr int kBytes = 1;
  __device__ static void prepare(unsigned (&)[4]) {}
  __device__ static void multiply(Sum (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    TRINE_MMA("m16n8k32.row.col.s32.s8.s8.s32", "+r");
  }
};
struct U8 : I8 {
  __device__ static void multiply(Sum (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    TRINE_MMA("m16n8k32.row.col.s32.u8.s8.s32", "+r");
  }
};
#undef TRINE_MMA

}  // namespace trine::contraction
