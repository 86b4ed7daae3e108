#include "backends/cpu/kernels/half/half.h"
#include "base/float_formats.h"

namespace trine::cpu {
namespace {

void widen(DType type, const void* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = static_cast<float>(small_float_value(type, static_cast<const uint16_t*>(from)[i]));
}

void narrow(DType type, const float* from, int64_t n, void* to) {
  for (int64_t i = 0; i < n; ++i) static_cast<uint16_t*>(to)[i] = small_float_bits(type, from[i]);
}

}  // namespace

constinit const HalfIsa kHalfBaseline = {widen, narrow};

}  // namespace trine::cpu
