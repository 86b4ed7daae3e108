// The vector interpreter for AVX2 with FMA.
#include <immintrin.h>

namespace trine::codegen::interp {
namespace {

constexpr int kIsaBytes = 32;
inline __m256 isa_fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256 isa_rint(__m256 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline __m256d isa_rint(__m256d a) { return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline __m256 isa_floor(__m256 a) { return _mm256_floor_ps(a); }
inline __m256d isa_floor(__m256d a) { return _mm256_floor_pd(a); }
inline __m256 isa_trunc(__m256 a) { return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
inline __m256d isa_trunc(__m256d a) { return _mm256_round_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
inline __m256 isa_sqrt(__m256 a) { return _mm256_sqrt_ps(a); }
inline __m256d isa_sqrt(__m256d a) { return _mm256_sqrt_pd(a); }
typedef float IsaF32 __attribute__((vector_size(32)));
inline IsaF32 isa_scale(IsaF32 p, IsaF32 n);

}  // namespace
}  // namespace trine::codegen::interp

#include "codegen/interp_find.h"

namespace trine::codegen::interp {
namespace {

inline IsaF32 isa_scale(IsaF32 p, IsaF32 n) { return scale_in_steps(p, n); }

}  // namespace

Run find_avx2(const Query& query) { return find(query); }

}  // namespace trine::codegen::interp
