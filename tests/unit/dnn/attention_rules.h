// Which keys a query sees, and what dropout does, element by element: for the oracles of attention.
#pragma once

#include "base/philox.h"
#include "check_rows.h"

namespace trine::dnn::test {

inline int64_t length_of(const AttentionProblem& p, const Data& data, int64_t b, int operand) {
  if (p.lengths) return data.integers[operand][static_cast<size_t>(b)];
  return operand == 4 ? p.q_len : p.kv_len;
}

inline int64_t shift_of(const AttentionProblem& p, const Data& data, int64_t b) {
  return p.causal_offset + (p.bottom_right ? length_of(p, data, b, 5) - length_of(p, data, b, 4) : 0);
}

inline bool sees(const AttentionProblem& p, const Data& data, int64_t b, int64_t i, int64_t j) {
  const int64_t past = j - i - shift_of(p, data, b);  // the diagonal
  if (i >= length_of(p, data, b, 4) || j >= length_of(p, data, b, 5)) return false;
  if (p.causal && past > 0) return false;
  if (p.window_right >= 0 && past > p.window_right) return false;
  return p.window_left < 0 || past >= -p.window_left;
}

inline double dropout_factor(double probability, const std::vector<int32_t>& words, int64_t element) {
  if (probability == 0) return 1;
  const auto word = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint32_t>(words[i])); };
  const auto e = static_cast<uint64_t>(element), offset = word(2) + (word(3) << 32);
  const double u = Philox(word(0) + (word(1) << 32))(offset + e / 4)[e % 4] * 0x1p-32;
  return u >= probability ? 1 / (1 - probability) : 0;
}

inline double dropout_factor(const AttentionProblem& p, const Data& data, int64_t b, int64_t h, int64_t i, int64_t j) {
  return dropout_factor(p.dropout, data.integers[7], ((b * p.heads + h) * p.q_len + i) * p.kv_len + j);
}

}  // namespace trine::dnn::test
