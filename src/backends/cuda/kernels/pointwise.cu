// One element a thread: activations, operations on two operands, conversions between strides and types.
#include "element.cuh"
#include "epilogue.cuh"
#include "overlap.cuh"

namespace trine {

// dnn::Unary; the first ones are those of Act, with the exact exponential.
__device__ inline float function_of(int function, float x, float alpha, float beta) {
  const auto logistic_of = [](float v) { return 1.f / (1.f + expf(-v)); };
  switch (function) {
    case 4: return logistic_of(x);
    case 6: return x * logistic_of(x);
    case 11: return x > 0.f ? x : alpha * expm1f(x);
    case 12: return x != x ? x : (fmaxf(beta * x, 0.f) + log1pf(expf(-fabsf(beta * x)))) / beta;
    case 13: return x < 0.f ? 0.f : x > alpha ? alpha : x;
    case 14: return x * logistic_of(beta * x);
    case 15: return sqrtf(x);
    case 16: return 1.f - x;
    case 17: return -x;
    case 18: return fabsf(x);
    case 19: return ceilf(x);
    case 20: return floorf(x);
    case 21: return expf(x);
    case 22: return logf(x);
    case 23: return 1.f / x;
    case 24: return 1.f / sqrtf(x);
    case 25: return sinf(x);
    case 26: return cosf(x);
    case 27: return tanf(x);
    case 28: return erff(x);
    default: return activated(static_cast<Act>(function), alpha, beta, x);
  }
}

template <class T, int N>
__global__ void __launch_bounds__(256)
    activation(int function, float alpha, float beta, unsigned elements, const T* x, T* y) {
  meet_neighbours();
  const unsigned first = (blockIdx.x * 256 + threadIdx.x) * N;
  if (first >= elements) return;
  auto v = loaded<T, N>(x + first, elements - first, aligned<T, N>(x));
  for (int i = 0; i < N; ++i) v.at[i] = narrowed<T>(function_of(function, widened(v.at[i]), alpha, beta));
  store<T, N>(y + first, v, elements - first, aligned<T, N>(y));
}

// dnn::Binary
__device__ inline float joined(int op, float a, float b, float c) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / b;
    case 4: return a != a || b != b ? a + b : fminf(a, b);
    case 5: return a != a || b != b ? a + b : fmaxf(a, b);
    case 6: return powf(a, b);
    case 7: return fmodf(a, b);
    case 8: return atan2f(a, b);
    case 9: return fmaf(b, b, a);
    case 10: return a == b;
    case 11: return a != b;
    case 12: return a > b;
    case 13: return a >= b;
    case 14: return a < b;
    case 15: return a <= b;
    case 16: return a != 0.f && b != 0.f;
    case 17: return a != 0.f || b != 0.f;
    default: return c != 0.f ? a : b;
  }
}

// `p`: the axes of y, with b's strides as the input's.
template <class T, class B>
__global__ void __launch_bounds__(256)
    binary(CopySizes p, int op, float alpha1, float alpha2, float beta, const T* a, const B* b, const T* c, T* y) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  Wide at = 0;
  unsigned i = item;
  for (int axis = p.axes - 1; axis >= 0; --axis) at += taken(i, p.size[axis]) * p.in[axis];
  constexpr int kSelect = 18;
  const float third = op == kSelect || beta != 0.f ? widened(c[item]) : 0.f;
  float r = joined(op, alpha1 * widened(a[item]), alpha2 * widened(b[at]), third);
  if (op != kSelect && beta != 0.f) r += beta * third;
  y[item] = narrowed<T>(r);
}

template <class From, class To>
__global__ void __launch_bounds__(256) transform(CopySizes p, float alpha, float beta, const From* x, To* y) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  Wide from = 0, to = 0;
  unsigned i = item;
  for (int axis = p.axes - 1; axis >= 0; --axis) {
    const unsigned r = taken(i, p.size[axis]);
    from += r * p.in[axis], to += r * p.out[axis];
  }
  float r = alpha * widened(x[from]);
  if (beta != 0.f) r += beta * widened(y[to]);
  y[to] = narrowed<To>(r);
}

// Local response. A thread has one element and adds up its window.
template <class T>
__global__ void __launch_bounds__(256) lrn(LrnSizes p, const T* x, T* y) {
  meet_neighbours();
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= p.items) return;
  unsigned i = item, c = 0;
  if (p.channels_inner) c = taken(i, p.channel);
  const int w = static_cast<int>(taken(i, p.width)), h = static_cast<int>(taken(i, p.height));
  const Wide plane = static_cast<Wide>(p.image[0]) * p.image[1] * p.image[2];
  if (!p.channels_inner) taken(i, p.depth), c = taken(i, p.channel);
  const Wide channel = p.channels_inner ? 1 : plane, column = p.channels_inner ? p.channels : 1;
  const int before = (p.size - 1) / 2, after = p.size / 2;
  float sum = 0;
  const auto add = [&](Wide offset) {
    const float v = widened(x[static_cast<Wide>(item) + offset]);
    sum = fmaf(v, v, sum);
  };
  if (!p.within) {
    for (int d = -before; d <= after; ++d)
      if (static_cast<int>(c) + d >= 0 && static_cast<int>(c) + d < p.channels) add(d * channel);
  } else {
    for (int a = -before; a <= after; ++a)
      for (int b = -before; b <= after; ++b)
        if (h + a >= 0 && h + a < p.image[1] && w + b >= 0 && w + b < p.image[2])
          add((static_cast<Wide>(a) * p.image[2] + b) * column);
  }
  const float size = static_cast<float>(p.size), d = p.k + p.alpha / (p.within ? size * size : size) * sum;
  y[item] = narrowed<T>(widened(x[item]) * powf(d, -p.beta));
}

}  // namespace trine
