// Kernels of local response normalisation. The window of element i of a run is x[i + tap] over some taps.
#pragma once

#include <cstdint>

#include "trine/base/cpu.h"

namespace trine::cpu {

struct LrnRun {
  const float* x;   // of each element itself
  const float* dy;  // of gradients
  float* out;
  int64_t count;
  const float* window;  // what the taps are added to: of x its squares are summed, of terms the terms
  const int64_t* taps;
  int taps_count;
  float scale, beta, k;  // d = k + scale * sum
  const float* d;        // of gradients: d of each element
};

struct LrnIsa {
  void (*forward)(const LrnRun&);   // x * d^-beta
  void (*terms)(const LrnRun&);     // dy * x * d^(-beta - 1)
  void (*gradient)(const LrnRun&);  // dy * d^-beta - 2 beta scale x * sum of terms
  void (*denominators)(const LrnRun&);
};
extern const LrnIsa kLrnBaseline;
#if defined(__x86_64__)
extern const LrnIsa kLrnAvx2;
extern const LrnIsa kLrnAvx512;
#endif

}  // namespace trine::cpu
