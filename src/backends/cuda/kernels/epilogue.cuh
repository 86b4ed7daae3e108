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

__device__ inline float logistic(float x) { return __fdividef(1.f, 1.f + __expf(-x)); }

// 0.5 x (1 + erf(x / sqrt 2)). With z = |x| / sqrt 2, erfc(z) = exp(-z^2) p(t), t = 1 / (1 + 0.425 z); p was fitted to
// 1.1e-7 of the value up to z = 9.3.
__device__ inline float gelu(float x) {
  const float size = fminf(fabsf(x), 13.f), z = size * 0.70710678f, t = __fdividef(1.f, fmaf(0.425f, z, 1.f));
  float p = 0.072473243f;
  p = fmaf(p, t, -0.3173064f);
  p = fmaf(p, t, 0.41477644f);
  p = fmaf(p, t, -0.10985127f);
  p = fmaf(p, t, 0.25858659f);
  p = fmaf(p, t, 0.19964212f);
  p = fmaf(p, t, 0.24201178f);
  p = fmaf(p, t, 0.23966742f);
  const float tail = 0.5f * size * p * t * __expf(-z * z);
  return x < 0.f ? -tail : x - tail;
}

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
    case Act::gelu: return gelu(x);
    case Act::gelu_tanh: return x * logistic(1.5957691f * fmaf(0.044715f * x * x, x, x));  // (1 + tanh(u)) / 2
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
