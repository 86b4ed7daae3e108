// Bodies of the cells; included by rnn_baseline.cc, rnn_avx2.cc and rnn_avx512.cc.
#pragma once

#include "backends/cpu/kernels/rnn/rnn.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

// Calls body(i, left) for each vector; left is the number of lanes that exist.
template <class Body>
[[gnu::always_inline]] inline void for_vectors(int64_t n, Body body) {
  for (int64_t i = 0; i < n; i += kWidth) body(i, n - i >= kWidth ? kWidth : static_cast<int>(n - i));
}

void lstm(const float* gates, int64_t n, const float* c, float* c_next, float* h_next) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    V in = sigmoid(load_part(gates + i, left)), out = sigmoid(load_part(gates + n + i, left));
    V forget = sigmoid(load_part(gates + 2 * n + i, left)), fresh = tanh(load_part(gates + 3 * n + i, left));
    V cell = fma(forget, load_part(c + i, left), mul(in, fresh));
    store_part(c_next + i, cell, left);
    store_part(h_next + i, mul(out, tanh(cell)), left);
  });
}

void lstm_fitted(float* gates, int64_t n, const float* peephole, const LstmBounds& bounds, const float* c,
                 float* c_next, float* h_next) {
  constexpr int kIn = 0, kOut = 1, kForget = 2, kNone = -1;  // parts of `peephole`, which may be null
  const float clip = bounds.clip, low = bounds.cell_min, high = bounds.cell_max;
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    const auto fitted = [=](int64_t gate, int part, V memory) __attribute__((always_inline)) {
      V sum = load_part(gates + gate * n + i, left);
      if (peephole && part != kNone) sum = fma(load_part(peephole + part * n + i, left), memory, sum);
      sum = clamp(sum, -clip, clip);
      store_part(gates + gate * n + i, sum, left);
      return sum;
    };
    V memory = load_part(c + i, left);
    V in = sigmoid(fitted(0, kIn, memory)), forget = sigmoid(fitted(2, kForget, memory));
    V cell = clamp(fma(forget, memory, mul(in, tanh(fitted(3, kNone, memory)))), low, high);
    V out = sigmoid(fitted(1, kOut, cell));
    store_part(c_next + i, cell, left);
    store_part(h_next + i, mul(out, tanh(cell)), left);
  });
}

void sigmoid_row(const float* from, int64_t n, float* to) {
  for_vectors(n, [=](int64_t i, int left)
                     __attribute__((always_inline)) { store_part(to + i, sigmoid(load_part(from + i, left)), left); });
}

void clip_row(float* x, int64_t n, float bound) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    store_part(x + i, clamp(load_part(x + i, left), -bound, bound), left);
  });
}

void gru_reset(float* gates, int64_t n, const float* h, float* reset) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    V r = sigmoid(load_part(gates + n + i, left));
    store_part(gates + i, sigmoid(load_part(gates + i, left)), left);
    store_part(gates + n + i, r, left);
    store_part(reset + i, mul(r, load_part(h + i, left)), left);
  });
}

void gru_linear(float* gates, int64_t n, const float* recurrent) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    V r = load_part(gates + n + i, left);
    store_part(gates + 2 * n + i, fma(r, load_part(recurrent + i, left), load_part(gates + 2 * n + i, left)), left);
  });
}

void gru_output(const float* gates, int64_t n, const float* h, float* h_next) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    V z = load_part(gates + i, left), fresh = tanh(load_part(gates + 2 * n + i, left));
    store_part(h_next + i, fma(z, load_part(h + i, left), mul(sub(set1(1), z), fresh)), left);
  });
}

void tanh_cell(const float* gates, int64_t n, float* h_next) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    store_part(h_next + i, tanh(load_part(gates + i, left)), left);
  });
}

void relu_cell(const float* gates, int64_t n, float* h_next) {
  for_vectors(n, [=](int64_t i, int left) __attribute__((always_inline)) {
    store_part(h_next + i, vmax(zero(), load_part(gates + i, left)), left);
  });
}

}  // namespace
}  // namespace trine::cpu
