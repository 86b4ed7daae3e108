// What a contraction does to each sum before it is stored: dnn::Epilogue (include/trine/dnn/epilogue.h), in f32.
#pragma once

namespace trine {

enum class Act : int { none, relu, clip, leaky_relu, sigmoid, tanh, silu, hardsigmoid, hardswish, gelu, gelu_tanh };
enum class Residual : int { none, before, after };

struct Epilogue {
  Act act;
  Residual residual;
  float alpha, beta;
};

__device__ inline float logistic(float x) { return 1.f / (1.f + __expf(-x)); }

// A NaN stays one: comparisons are written so that it falls through.
__device__ inline float activated(Act act, float alpha, float beta, float x) {
  switch (act) {
    case Act::none: return x;
    case Act::relu: return x < 0.f ? 0.f : x;
    case Act::clip: x = x < alpha ? alpha : x; return x > beta ? beta : x;
    case Act::leaky_relu: return x < 0.f ? alpha * x : x;
    case Act::sigmoid: return logistic(x);
    case Act::tanh: return tanhf(x);
    case Act::silu: return x * logistic(x);
    case Act::hardsigmoid: {
      const float y = fmaf(alpha, x, beta), low = y < 0.f ? 0.f : y;
      return low > 1.f ? 1.f : low;
    }
    case Act::hardswish: {
      const float y = fmaf(x, 1.f / 6, 0.5f), low = y < 0.f ? 0.f : y;
      return x * (low > 1.f ? 1.f : low);
    }
    case Act::gelu: return 0.5f * x * (1.f + erff(x * 0.70710678f));
    case Act::gelu_tanh: return 0.5f * x * (1.f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
  return x;
}

// `sum` has its bias; `residual` is 0 where there is none.
__device__ inline float finished(const Epilogue& e, float sum, float residual) {
  if (e.residual == Residual::before) sum += residual;
  const float y = activated(e.act, e.alpha, e.beta, sum);
  return e.residual == Residual::after ? y + residual : y;
}

}  // namespace trine
