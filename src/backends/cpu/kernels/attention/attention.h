// Row functions of softmax, vectorised per CPU level.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

struct AttentionIsa {
  // Largest of s[0, n); NaNs are passed over (exp_row keeps them).
  float (*row_max)(const float* s, int64_t n);
  // s = exp(s - max) on [0, n); returns the sum.
  float (*exp_row)(float* s, int64_t n, float max);
  // to = from * factor
  void (*scale_row)(const float* from, int64_t n, float factor, float* to);
  // s += mask
  void (*add_row)(float* s, int64_t n, const float* mask);
  // s = cap * tanh(s / cap)
  void (*cap_row)(float* s, int64_t n, float cap);
};
extern const AttentionIsa kAttentionBaseline;
#if defined(__x86_64__)
extern const AttentionIsa kAttentionAvx2;
extern const AttentionIsa kAttentionAvx512;
#endif

}  // namespace trine::cpu
