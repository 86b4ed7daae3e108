// The vector interpreter for AVX-512.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

namespace trine::codegen::interp {
namespace {

constexpr int kIsaBytes = 64;
inline __m512 isa_fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __m512 isa_rint(__m512 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline __m512d isa_rint(__m512d a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline __m512 isa_floor(__m512 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
inline __m512d isa_floor(__m512d a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
inline __m512 isa_trunc(__m512 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
inline __m512d isa_trunc(__m512d a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
inline __m512 isa_sqrt(__m512 a) { return _mm512_sqrt_ps(a); }
inline __m512d isa_sqrt(__m512d a) { return _mm512_sqrt_pd(a); }
inline __m512 isa_scale(__m512 p, __m512 n) { return _mm512_scalef_ps(p, n); }

}  // namespace
}  // namespace trine::codegen::interp

#include "codegen/interp_find.h"

namespace trine::codegen::interp {

Run find_avx512(const Query& query) { return find(query); }

}  // namespace trine::codegen::interp
