#include "backends/cpu/kernels/gemm/tile.h"

namespace trine::cpu {

const GemmIsa& gemm_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kGemmAvx512;
  if (level == CpuLevel::avx2) return kGemmAvx2;
#endif
  return kGemmBaseline;
}

TileEpilogue TileEpilogue::from(const dnn::Epilogue& e, const float* bias, const float* residual, const float* c) {
  TileEpilogue t;
  t.bias = e.bias ? bias : nullptr;
  t.residual = e.residual;
  if (e.residual != dnn::Residual::none) t.residual_offset = residual - c;
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
