#include "backends/cpu/kernels/half/half.h"
#include "backends/cpu/kernels/simd/narrow.h"

namespace trine::cpu {
namespace {

void widen(DType type, const void* from, int64_t n, float* to) {
  const auto* halves = static_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < n; i += kWidth) {
    int left = static_cast<int>(n - i < kWidth ? n - i : kWidth);
    store_part(to + i,
               type == DType::f16 ? _mm256_cvtph_ps(eight_halves(halves + i, left)) : load_bf16(halves + i, left),
               left);
  }
}

void narrow(DType type, const float* from, int64_t n, void* to) {
  auto* halves = static_cast<uint16_t*>(to);
  for (int64_t i = 0; i < n; i += kWidth) {
    int left = static_cast<int>(n - i < kWidth ? n - i : kWidth);
    V x = load_part(from + i, left);
    if (type == DType::bf16) {
      store_bf16(halves + i, x, left);
      continue;
    }
    __m128i packed = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(halves + i, &packed, static_cast<size_t>(left) * 2);
  }
}

}  // namespace

constinit const HalfIsa kHalfAvx2 = {widen, narrow};

}  // namespace trine::cpu
