#include "backends/cpu/kernels/gemm/tile.h"

namespace trine::cpu {

const GemmIsa& gemm_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kGemmAvx512;
  if (level == CpuLevel::avx2) return kGemmAvx2;
#endif
  return kGemmBaseline;
}

TileEpilogue TileEpilogue::from(const dnn::Epilogue& e, const void* bias, const void* residual, const void* c,
                                DType out) {
  TileEpilogue t;
  t.out = out;
  t.bias = e.bias ? static_cast<const float*>(bias) : nullptr;
  t.residual = e.residual;
  if (e.residual != dnn::Residual::none) {
    t.residual_offset =
        (static_cast<const char*>(residual) - static_cast<const char*>(c)) / static_cast<int64_t>(byte_size(out));
  }
  if (e.residual == dnn::Residual::after_activation && e.activation == dnn::Activation::none)
    t.residual = dnn::Residual::before_activation;  // the same, and what kernels do best
  t.activation = e.activation;
  t.alpha = e.alpha;
  t.beta = e.beta;
  t.is_clamp = e.activation == dnn::Activation::none || e.activation == dnn::Activation::relu ||
               e.activation == dnn::Activation::clip;
  if (e.activation == dnn::Activation::relu) t.low = 0;
  if (e.activation == dnn::Activation::clip) t.low = e.alpha, t.high = e.beta;
  return t;
}

}  // namespace trine::cpu
