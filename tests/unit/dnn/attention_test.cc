#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attention_rules.h"
#include "trine/base/error.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {

// In f64. The bound: scores are off by `score` at most, so each weight by exp(2 score) - 1 relatively; weighted sums
// add their own rounding.
Expected attention_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<AttentionProblem>(problem);
  constexpr double kEps = 0x1p-24;
  Expected e;
  float untouched;
  uint32_t pattern = 0xa5a5a5a5;
  __builtin_memcpy(&untouched, &pattern, 4);
  e.out[0].assign(static_cast<size_t>(operand_sizes(problem).out[0]), static_cast<double>(untouched));
  e.bound[0].assign(e.out[0].size(), 0);
  if (p.lse) e.out[1].resize(static_cast<size_t>(operand_sizes(problem).out[1]));
  e.bound[1].resize(e.out[1].size());
  auto at = [](const std::array<int64_t, 3>& s, int64_t b, int64_t h, int64_t i) {
    return static_cast<size_t>(b * s[0] + h * s[1] + i * s[2]);
  };
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.q_len; ++i) {
        int64_t kv = h / (p.heads / p.kv_heads);
        const float* q = data.in[0].data() + at(p.q_stride, b, h, i);
        std::vector<double> s(static_cast<size_t>(p.kv_len));
        double most = -INFINITY, score = 0;
        for (int64_t j = 0; j < p.kv_len; ++j) {
          const float* k = data.in[1].data() + at(p.k_stride, b, kv, j);
          double sum = 0, magnitude = 0;
          for (int64_t d = 0; d < p.head_dim; ++d) {
            sum += static_cast<double>(q[d]) * k[d];
            magnitude += std::abs(static_cast<double>(q[d]) * k[d]);
          }
          sum *= p.scale;
          if (p.softcap > 0) sum = p.softcap * std::tanh(sum / p.softcap);
          auto m = static_cast<size_t>(b * p.mask_stride[0] + h * p.mask_stride[1] + i * p.mask_stride[2] +
                                       j * p.mask_stride[3]);
          if (p.mask == MaskKind::additive) sum += data.in[3][m];
          if (p.mask == MaskKind::boolean && !data.mask[m]) sum = -INFINITY;
          if (p.alibi) sum += data.in[6][static_cast<size_t>(h)] * static_cast<double>(j - i - shift_of(p, data, b));
          if (!sees(p, data, b, i, j)) sum = -INFINITY;
          s[static_cast<size_t>(j)] = sum;
          most = std::max(most, sum);
          double cap_error = p.softcap > 0 ? 8 * kEps * p.softcap : 0;
          if (sum > -INFINITY)
            score = std::max(score,
                             cap_error + kEps * (static_cast<double>(p.head_dim + 8) * magnitude * std::abs(p.scale) +
                                                 8 * std::abs(sum)));
        }
        double total = 0;
        for (double& x : s) total += x = most == -INFINITY ? 0 : std::exp(x - most);
        if (p.lse) {
          const auto row = static_cast<size_t>((b * p.heads + h) * p.q_len + i);
          e.out[1][row] = total > 0 ? most + std::log(total) : -INFINITY;
          e.bound[1][row] = 2 * score + kEps * (static_cast<double>(p.kv_len + 20) + 4 * std::abs(e.out[1][row]));
        }
        double relative = std::expm1(2 * score) + static_cast<double>(p.kv_len + 20) * kEps;
        for (int64_t d = 0; d < p.v_head_dim; ++d) {
          double sum = 0, magnitude = 0;
          for (int64_t j = 0; j < p.kv_len; ++j) {
            if (s[static_cast<size_t>(j)] == 0) continue;  // hidden, and perhaps no number
            double term = dropout_factor(p, data, b, h, i, j) * s[static_cast<size_t>(j)] *
                          data.in[2][at(p.v_stride, b, kv, j) + static_cast<size_t>(d)];
            sum += term;
            magnitude += std::abs(term);
          }
          size_t o = at(p.out_stride, b, h, i) + static_cast<size_t>(d);
          e.out[0][o] = total > 0 ? sum / total : 0;
          e.bound[0][o] = total > 0 ? 2 * relative * magnitude / total : 0;
        }
      }
  return e;
}

namespace {

// q [B, S, H, D] and so on: the layout of a packed projection.
AttentionProblem attention(int64_t batch, int64_t heads, int64_t q_len, int64_t kv_len, int64_t dim, int64_t v_dim,
                           int64_t kv_heads = 0) {
  AttentionProblem p;
  p.batch = batch, p.heads = heads, p.kv_heads = kv_heads ? kv_heads : heads;
  p.q_len = q_len, p.kv_len = kv_len, p.head_dim = dim, p.v_head_dim = v_dim;
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
  p.q_stride = {q_len * heads * dim, dim, heads * dim};
  p.k_stride = {p.kv_heads * kv_len * dim, kv_len * dim, dim};  // [B, H, S, D]
  p.v_stride = {kv_len * p.kv_heads * v_dim, v_dim, p.kv_heads * v_dim};
  p.out_stride = {q_len * heads * v_dim, v_dim, heads * v_dim};
  return p;
}

void check(const AttentionProblem& p, std::function<void(Data&)> adjust = {}) {
  check_rows(p, attention_oracle, {.integers = false, .adjust = std::move(adjust)});
}

TEST(Attention, Sizes) {
  for (int64_t q : {1, 2, 14, 15, 31})
    for (int64_t kv : {1, 5, 16, 33})
      for (int64_t dim : {4, 16, 24}) check(attention(1, 2, q, kv, dim, dim));
  check(attention(2, 3, 50, 197, 64, 64));
  check(attention(1, 1, 7, 9, 8, 40));
}

TEST(Attention, LongSequencesInBlocks) {
  check(attention(1, 1, 20, 512, 8, 8));
  check(attention(1, 1, 20, 513, 8, 8));
  check(attention(1, 1, 5, 1600, 16, 16));
}

TEST(Attention, GroupedQueries) { check(attention(2, 6, 9, 21, 16, 16, 2)); }

TEST(Attention, Causal) {
  for (int64_t offset : {0, 5, -3}) {
    AttentionProblem p = attention(1, 2, 30, 35, 8, 8);
    p.causal = true;
    p.causal_offset = offset;  // -3: the first queries see nothing and give 0
    check(p);
  }
  AttentionProblem p = attention(1, 1, 600, 600, 8, 8);
  p.causal = true;
  check(p);
}

TEST(Attention, AdditiveMask) {
  for (std::array<int64_t, 4> stride :
       {std::array<int64_t, 4>{0, 0, 0, 1}, {21, 0, 0, 1}, {0, 189, 21, 1}, {0, 0, 1, 9}}) {
    AttentionProblem p = attention(2, 3, 9, 21, 16, 16);
    p.mask = MaskKind::additive;
    p.mask_stride = stride;
    check(p);
  }
}

TEST(Attention, MaskedThroughoutGivesZero) {
  AttentionProblem p = attention(1, 2, 9, 600, 16, 16);
  p.mask = MaskKind::additive;
  p.mask_stride = {0, 0, 600, 1};
  check(p, [](Data& d) {
    std::fill(d.in[3].begin(), d.in[3].begin() + 1200, -INFINITY);               // two queries see nothing
    std::fill(d.in[3].begin() + 1200, d.in[3].begin() + 1200 + 520, -INFINITY);  // one sees the second block only
  });
}

TEST(Attention, BooleanMask) {
  AttentionProblem p = attention(2, 2, 9, 21, 16, 16);
  p.mask = MaskKind::boolean;
  p.mask_stride = {189, 0, 21, 1};
  check(p, [](Data& d) {
    d.mask.resize(d.in[3].size());
    for (size_t i = 0; i < d.mask.size(); ++i) d.mask[i] = d.in[3][i] > 0 && i >= 21;
    d.in[3].clear();
  });
}

TEST(Attention, Softcap) {
  AttentionProblem p = attention(1, 2, 9, 21, 16, 16);
  p.softcap = 2;
  check(p);
}

TEST(Attention, Windows) {
  for (int64_t left : {-1, 0, 3, 40})
    for (int64_t right : {-1, 0, 2})
      for (bool bottom_right : {false, true}) {
        AttentionProblem p = attention(1, 2, 30, 41, 8, 8);
        p.window_left = left, p.window_right = right, p.bottom_right = bottom_right, p.lse = true;
        check(p);
      }
  AttentionProblem p = attention(1, 1, 700, 1100, 8, 8);
  p.causal = true, p.bottom_right = true, p.window_left = 20;
  check(p);
}

// Lengths of entry b: 3 b queries and 11 b keys fewer than there are.
void shorten(const AttentionProblem& p, Data& d) {
  for (int64_t b = 0; p.lengths && b < p.batch; ++b) {
    d.integers[4][static_cast<size_t>(b)] = static_cast<int32_t>(std::max<int64_t>(p.q_len - 3 * b, 0));
    d.integers[5][static_cast<size_t>(b)] = static_cast<int32_t>(std::max<int64_t>(p.kv_len - 11 * b, 0));
  }
}

TEST(Attention, LengthsOfAPaddedBatch) {
  for (bool bottom_right : {false, true})
    for (bool causal : {false, true}) {
      AttentionProblem p = attention(4, 2, 9, 25, 8, 8);  // the last entry has no keys
      p.lengths = true, p.lse = true, p.causal = causal, p.bottom_right = bottom_right;
      check(p, [&](Data& d) {
        shorten(p, d);
        for (int i : {1, 2}) std::fill(d.in[i].end() - 8, d.in[i].end(), NAN);  // padding is not read
      });
    }
}

TEST(Attention, LengthsOutOfRangeThrow) {
  AttentionProblem p = attention(1, 1, 2, 3, 4, 4);
  p.lengths = true;
  Floats q(8), k(12), v(12), out(8);
  for (int32_t bad : {-1, 4}) {
    const int32_t queries = 2;
    EXPECT_THROW(Primitive(p).run({.in = {q.data(), k.data(), v.data(), nullptr, &queries, &bad}, .out = {out.data()}}),
                 Error);
  }
}

TEST(Attention, Alibi) {
  AttentionProblem p = attention(2, 3, 9, 21, 16, 16);
  p.alibi = true, p.causal = true, p.causal_offset = 12, p.lse = true;
  check(p);
}

TEST(Attention, DropoutIsTheSameForAnyTiles) {
  AttentionProblem p = attention(2, 2, 33, 530, 8, 8);
  p.dropout = 0.3f, p.lse = true;
  check(p, [](Data& d) { d.integers[7] = {5, 1, 11, 0}; });
}

TEST(Attention, NoKeysOrQueries) { check(attention(1, 2, 0, 5, 8, 8)); }

TEST(Attention, LargeScoresDoNotOverflow) {
  AttentionProblem p = attention(1, 1, 9, 40, 16, 16);
  p.scale = 100;
  check(p);
}

}  // namespace
}  // namespace trine::dnn::test
