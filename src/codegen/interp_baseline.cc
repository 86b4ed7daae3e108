// The vector interpreter for any CPU: 16-byte registers through the compiler's vector types, no fma.
namespace trine::codegen::interp {
namespace {

constexpr int kIsaBytes = 16;
typedef float IsaF32 __attribute__((vector_size(16)));
typedef double IsaF64 __attribute__((vector_size(16)));
inline IsaF32 isa_fma(IsaF32 a, IsaF32 b, IsaF32 c) { return a * b + c; }
inline IsaF32 isa_rint(IsaF32 a);
inline IsaF64 isa_rint(IsaF64 a);
inline IsaF32 isa_floor(IsaF32 a);
inline IsaF64 isa_floor(IsaF64 a);
inline IsaF32 isa_trunc(IsaF32 a);
inline IsaF64 isa_trunc(IsaF64 a);
inline IsaF32 isa_sqrt(IsaF32 a);
inline IsaF64 isa_sqrt(IsaF64 a);
inline IsaF32 isa_scale(IsaF32 p, IsaF32 n);

}  // namespace
}  // namespace trine::codegen::interp

#include "codegen/interp_find.h"

namespace trine::codegen::interp {
namespace {

// Adding and subtracting 2^23 (2^52) rounds |a| below it to an integer, half to even; the sign is put back for -0.
template <class T>
inline Vec<T> rint_by_magic(Vec<T> a, T magic) {
  using M = typename MaskOf<T>::type;
  const Vec<T> m = magnitude<T>(a), big = splat<T>(magic);
  const Vec<T> r = (m + big) - big;
  const auto sign_bit = same_bits<Vec<M>>(a) & splat<M>(static_cast<M>(uint64_t{1} << (8 * sizeof(M) - 1)));
  return m < big ? same_bits<Vec<T>>(same_bits<Vec<M>>(r) | sign_bit) : a;
}
inline IsaF32 isa_rint(IsaF32 a) { return rint_by_magic<float>(a, 0x1p23f); }
inline IsaF64 isa_rint(IsaF64 a) { return rint_by_magic<double>(a, 0x1p52); }

// Keeps a's sign on a zero result.
template <class T>
inline Vec<T> with_sign(Vec<T> r, Vec<T> a) {
  using M = typename MaskOf<T>::type;
  const Vec<M> bit = splat<M>(static_cast<M>(uint64_t{1} << (8 * sizeof(M) - 1)));
  return same_bits<Vec<T>>(same_bits<Vec<M>>(magnitude<T>(r)) | (same_bits<Vec<M>>(a) & bit));
}
template <class T>
inline Vec<T> floor_of(Vec<T> a) {
  const Vec<T> r = isa_rint(a), one = splat<T>(1);
  return a < r ? r - one : r;
}
template <class T>
inline Vec<T> trunc_of(Vec<T> a) {
  return with_sign<T>(floor_of<T>(magnitude<T>(a)), a);
}
inline IsaF32 isa_floor(IsaF32 a) { return floor_of<float>(a); }
inline IsaF64 isa_floor(IsaF64 a) { return floor_of<double>(a); }
inline IsaF32 isa_trunc(IsaF32 a) { return trunc_of<float>(a); }
inline IsaF64 isa_trunc(IsaF64 a) { return trunc_of<double>(a); }
inline IsaF32 isa_sqrt(IsaF32 a) {
  for (int i = 0; i < kLanes<float>; ++i) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
inline IsaF64 isa_sqrt(IsaF64 a) {
  for (int i = 0; i < kLanes<double>; ++i) a[i] = __builtin_sqrt(a[i]);
  return a;
}
inline IsaF32 isa_scale(IsaF32 p, IsaF32 n) { return scale_in_steps(p, n); }

}  // namespace

Run find_baseline(const Query& query) { return find(query); }

}  // namespace trine::codegen::interp
