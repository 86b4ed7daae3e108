#include "backends/cpu/kernels/conv_pack.h"

#include <algorithm>

#include "backends/cpu/kernels/gemm/gemm.h"

namespace trine::cpu {

int64_t conv_group_floats(const dnn::ConvProblem& p) {
  return panels_floats(volume(p.kernel) * p.in_per_group(), p.out_per_group());
}

void pack_conv(const dnn::ConvProblem& p, const float* weights, float* packed) {
  int64_t channels = p.in_per_group(), outs = p.out_per_group(), taps = volume(p.kernel), k = taps * channels;
  std::fill_n(packed, p.groups * conv_group_floats(p), 0.f);
  for (int64_t g = 0; g < p.groups; ++g, packed += conv_group_floats(p)) {
    for (int64_t m = 0; m < outs; ++m) {
      const float* from = weights + (g * outs + m) * k;
      float* to = packed + m / kPanel * kPanel * k + m % kPanel;
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t t = 0; t < taps; ++t) to[(t * channels + c) * kPanel] = from[c * taps + t];
    }
  }
}

}  // namespace trine::cpu
