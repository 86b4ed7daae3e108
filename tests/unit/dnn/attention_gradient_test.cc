// Gradients of attention against f64: the formulas with whole matrices of scores, which small cases hold to central
// differences of the forward pass.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "attention_rules.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

using Doubles = std::vector<double>;

// The operands in f64.
struct Inputs {
  Doubles q, k, v, mask, dout;
  Doubles out = {};  // what the forward pass gave; empty: what it should have given
};

struct Attention {
  const AttentionProblem& p;
  const Data& data;

  size_t at(const std::array<int64_t, 3>& s, int64_t b, int64_t h, int64_t i) const {
    return static_cast<size_t>(b * s[0] + h * s[1] + i * s[2]);
  }
  size_t mask_at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const auto& s = p.mask_stride;
    return static_cast<size_t>(b * s[0] + h * s[1] + i * s[2] + j * s[3]);
  }
  int64_t kv(int64_t h) const { return h / (p.heads / p.kv_heads); }

  // Scores of one query; `slopes` of the cap.
  Doubles scores(const Inputs& x, int64_t b, int64_t h, int64_t i, Doubles* slopes = nullptr) const {
    Doubles s(static_cast<size_t>(p.kv_len), -INFINITY);
    for (int64_t j = 0; j < p.kv_len; ++j) {
      const auto to = static_cast<size_t>(j);
      if (slopes) slopes->push_back(1);
      if (!sees(p, data, b, i, j) || (p.mask == MaskKind::boolean && !data.mask[mask_at(b, h, i, j)])) continue;
      double sum = 0;
      for (int64_t d = 0; d < p.head_dim; ++d)
        sum += x.q[at(p.q_stride, b, h, i) + static_cast<size_t>(d)] *
               x.k[at(p.k_stride, b, kv(h), j) + static_cast<size_t>(d)];
      sum *= p.scale;
      if (p.softcap > 0) {
        const double part = std::tanh(sum / p.softcap);
        if (slopes) (*slopes)[to] = 1 - part * part;
        sum = p.softcap * part;
      }
      if (p.mask == MaskKind::additive) sum += x.mask[mask_at(b, h, i, j)];
      if (p.alibi) sum += data.in[6][static_cast<size_t>(h)] * static_cast<double>(j - i - shift_of(p, data, b));
      s[to] = sum;
    }
    return s;
  }

  double log_sum(const Doubles& s) const {
    double sum = 0;
    for (double v : s) sum += std::exp(v);
    return std::log(sum);
  }

  // Calls use(b, h, i) for every query.
  template <class Use>
  void each_query(Use use) const {
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t h = 0; h < p.heads; ++h)
        for (int64_t i = 0; i < p.q_len; ++i) use(b, h, i);
  }

  void out_row(const Inputs& x, int64_t b, int64_t h, int64_t i, double* out, double* lse) const {
    const Doubles s = scores(x, b, h, i);
    *lse = log_sum(s);
    for (int64_t d = 0; d < p.v_head_dim; ++d) {
      out[d] = 0;
      for (int64_t j = 0; j < p.kv_len && std::isfinite(*lse); ++j)
        out[d] += std::exp(s[static_cast<size_t>(j)] - *lse) * dropout_factor(p, data, b, h, i, j) *
                  x.v[at(p.v_stride, b, kv(h), j) + static_cast<size_t>(d)];
    }
  }

  double loss(const Inputs& x) const {
    double sum = 0, lse;
    Doubles out(static_cast<size_t>(p.v_head_dim));
    each_query([&](int64_t b, int64_t h, int64_t i) {
      out_row(x, b, h, i, out.data(), &lse);
      for (size_t d = 0; d < out.size(); ++d) sum += out[d] * x.dout[at(p.out_stride, b, h, i) + d];
    });
    return sum;
  }

  // Gradients of the loss, each added with the sum of the magnitudes of its terms.
  struct Gradients {
    Doubles value[4], magnitude[4];
    void add(int i, size_t to, double term, double size) {
      value[i][to] += term;
      magnitude[i][to] += std::abs(size);
    }
  };
  Gradients gradients(const Inputs& x) const {
    Gradients g;
    const Doubles* like[4] = {&x.q, &x.k, &x.v, &x.mask};
    for (int i = 0; i < 4; ++i) g.value[i].assign(like[i]->size(), 0), g.magnitude[i] = g.value[i];
    each_query([&](int64_t b, int64_t h, int64_t i) { add_query(x, b, h, i, g); });
    return g;
  }
  void add_query(const Inputs& x, int64_t b, int64_t h, int64_t i, Gradients& g) const {
    Doubles slopes;
    const Doubles s = scores(x, b, h, i, &slopes);
    const double lse = log_sum(s);
    if (!std::isfinite(lse)) return;
    const size_t q = at(p.q_stride, b, h, i), o = at(p.out_stride, b, h, i);
    Doubles dp(s.size()), weight(s.size());
    double delta = 0, most = 0;
    for (int64_t j = 0; j < p.kv_len; ++j) {
      const auto k = static_cast<size_t>(j);
      const double factor = dropout_factor(p, data, b, h, i, j);
      weight[k] = std::exp(s[k] - lse);
      for (int64_t d = 0; d < p.v_head_dim; ++d) {
        const size_t v = at(p.v_stride, b, kv(h), j) + static_cast<size_t>(d);
        const double dy = x.dout[o + static_cast<size_t>(d)];
        if (weight[k] == 0) continue;
        dp[k] += factor * dy * x.v[v];
        most += weight[k] * std::abs(factor * dy * x.v[v]);
        g.add(2, v, weight[k] * factor * dy, weight[k] * factor * dy);
      }
      delta += weight[k] * dp[k];
    }
    if (!x.out.empty()) delta = 0;
    for (size_t d = 0; d < static_cast<size_t>(p.v_head_dim) && !x.out.empty(); ++d)
      delta += x.dout[o + d] * x.out[o + d];
    for (int64_t j = 0; j < p.kv_len; ++j) {
      const auto k = static_cast<size_t>(j);
      if (weight[k] == 0) continue;
      const double ds = weight[k] * (dp[k] - delta), size = weight[k] * (std::abs(dp[k]) + most + 1);
      if (p.mask == MaskKind::additive) g.add(3, mask_at(b, h, i, j), ds, size);
      for (int64_t d = 0; d < p.head_dim; ++d) {
        const size_t key = at(p.k_stride, b, kv(h), j) + static_cast<size_t>(d), query = q + static_cast<size_t>(d);
        g.add(0, query, p.scale * ds * slopes[k] * x.k[key], p.scale * size * x.k[key]);
        g.add(1, key, p.scale * ds * slopes[k] * x.q[query], p.scale * size * x.q[query]);
      }
    }
  }
};

Inputs inputs_of(const AttentionProblem& p, const Data& d) {
  const auto wide = [](const Floats& v) { return Doubles(v.begin(), v.end()); };
  return {wide(d.in[0]), wide(d.in[1]), wide(d.in[2]), p.mask == MaskKind::additive ? wide(d.in[3]) : Doubles(),
          wide(d.in[9]), wide(d.in[8])};
}

// Writes what the forward pass gave into the operands: out and the log-sum-exp.
void run_forward(const AttentionProblem& p, Data& d) {
  const Attention a{p, d};
  const Inputs x = inputs_of(p, d);
  Doubles out(static_cast<size_t>(p.v_head_dim));
  a.each_query([&](int64_t b, int64_t h, int64_t i) {
    double lse;
    a.out_row(x, b, h, i, out.data(), &lse);
    std::copy(out.begin(), out.end(), d.in[8].begin() + static_cast<int64_t>(a.at(p.out_stride, b, h, i)));
    d.in[10][static_cast<size_t>((b * p.heads + h) * p.q_len + i)] = static_cast<float>(lse);
  });
}

Expected gradient_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<AttentionProblem>(problem);
  const Attention::Gradients g = Attention{p, data}.gradients(inputs_of(p, data));
  Expected e;
  for (int i = 0; i < 4; ++i) {
    e.out[i] = g.value[i];
    e.bound[i] = g.magnitude[i];
    const double terms = static_cast<double>(p.head_dim + p.v_head_dim + 8 * (p.q_len + p.kv_len) + 200);
    for (double& b : e.bound[i]) b = 4 * 0x1p-24 * terms * (b + 1e-3);
  }
  return e;
}

AttentionProblem attention(int64_t batch, int64_t heads, int64_t kv_heads, int64_t q_len, int64_t kv_len, int64_t dim,
                           int64_t v_dim) {
  AttentionProblem p;
  p.pass = Pass::backward;
  p.batch = batch, p.heads = heads, p.kv_heads = kv_heads;
  p.q_len = q_len, p.kv_len = kv_len, p.head_dim = dim, p.v_head_dim = v_dim;
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
  p.q_stride = {q_len * heads * dim, dim, heads * dim};
  p.k_stride = {kv_heads * kv_len * dim, kv_len * dim, dim};
  p.v_stride = {kv_len * kv_heads * v_dim, v_dim, kv_heads * v_dim};
  p.out_stride = {q_len * heads * v_dim, v_dim, heads * v_dim};
  return p;
}

void adjust(const AttentionProblem& p, Data& d) {
  if (p.mask == MaskKind::boolean) {
    d.mask.resize(d.in[3].size());
    for (size_t i = 0; i < d.mask.size(); ++i) d.mask[i] = d.in[3][i] > -0.5f;
    d.in[3].clear();
  }
  for (int64_t b = 0; p.lengths && b < p.batch; ++b) {
    d.integers[4][static_cast<size_t>(b)] = static_cast<int32_t>(std::max<int64_t>(p.q_len - 3 * b, 0));
    d.integers[5][static_cast<size_t>(b)] = static_cast<int32_t>(std::max<int64_t>(p.kv_len - 11 * b, 0));
  }
  run_forward(p, d);
}

void check(const AttentionProblem& p) {
  check_rows(p, gradient_oracle, {.integers = false, .adjust = [&](Data& d) { adjust(p, d); }});
}

// Small problems with every option once.
std::vector<AttentionProblem> small_problems() {
  std::vector<AttentionProblem> list;
  const auto add = [&](auto change) {
    AttentionProblem p = attention(2, 4, 2, 5, 7, 3, 4);
    change(p);
    list.push_back(p);
  };
  add([](AttentionProblem&) {});
  add([](AttentionProblem& p) { p.causal = true, p.causal_offset = -2; });  // two queries see nothing
  add([](AttentionProblem& p) { p.causal = true, p.bottom_right = true, p.window_left = 2; });
  add([](AttentionProblem& p) { p.window_left = 1, p.window_right = 3; });
  add([](AttentionProblem& p) { p.softcap = 1.5f, p.dropout = 0.4f; });
  add([](AttentionProblem& p) { p.alibi = true, p.lengths = true, p.bottom_right = true; });
  add([](AttentionProblem& p) { p.mask = MaskKind::boolean, p.mask_stride = {0, 35, 7, 1}; });
  for (std::array<int64_t, 4> stride :
       {std::array<int64_t, 4>{140, 35, 7, 1}, {0, 35, 7, 1}, {0, 0, 7, 1}, {7, 0, 0, 1}, {0, 0, 0, 0}, {0, 0, 1, 0}})
    add([&](AttentionProblem& p) { p.mask = MaskKind::additive, p.mask_stride = stride, p.softcap = 3; });
  return list;
}

TEST(AttentionGradient, SmallWithEveryOption) {
  for (const AttentionProblem& p : small_problems()) check(p);
}

TEST(AttentionGradient, TilesAndSizes) {
  check(attention(1, 2, 1, 64, 128, 16, 16));
  check(attention(1, 1, 1, 65, 129, 24, 8));
  check(attention(2, 1, 1, 1, 300, 8, 40));
  check(attention(1, 1, 1, 140, 1, 8, 8));
  check(attention(1, 2, 2, 0, 5, 8, 8));
  check(attention(1, 2, 2, 5, 0, 8, 8));
  AttentionProblem p = attention(3, 2, 2, 150, 280, 16, 16);
  p.causal = true, p.bottom_right = true, p.window_left = 30, p.lengths = true, p.dropout = 0.2f;
  p.mask = MaskKind::additive, p.mask_stride = {0, 0, 280, 1};
  check(p);
}

// The formulas that everything above relies on.
TEST(AttentionGradient, FormulasAreDifferencesOfTheForwardPass) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  for (const AttentionProblem& p : small_problems()) {
    const OperandSizes sizes = operand_sizes(p);
    Data d;
    for (int i = 0; i < kMostOperands; ++i) {
      if (sizes.integers[i]) d.integers[i].assign(static_cast<size_t>(sizes.in[i]), *sizes.integers[i]);
      else d.in[i].resize(static_cast<size_t>(sizes.in[i]));
      for (float& x : d.in[i]) x = normal(random);
    }
    adjust(p, d);
    const Attention a{p, d};
    Inputs x = inputs_of(p, d);
    x.out.clear();
    const Attention::Gradients g = a.gradients(x);
    Doubles* of[4] = {&x.q, &x.k, &x.v, &x.mask};
    for (int i = 0; i < 4; ++i)
      for (size_t n = 0; n < of[i]->size(); n += 1 + of[i]->size() / 12) {
        constexpr double kStep = 1e-5;
        const double was = (*of[i])[n];
        (*of[i])[n] = was + kStep;
        const double above = a.loss(x);
        (*of[i])[n] = was - kStep;
        const double below = a.loss(x);
        (*of[i])[n] = was;
        EXPECT_NEAR((above - below) / (2 * kStep), g.value[i][n], 1e-6 * (1 + g.magnitude[i][n]))
            << text(p) << " operand " << i;
      }
  }
}

TEST(AttentionGradient, PaddingMayHoldNan) {
  AttentionProblem p = attention(2, 1, 1, 4, 12, 8, 8);
  p.lengths = true;
  check_rows(p, gradient_oracle, {.integers = false, .adjust = [&](Data& d) {
                                    adjust(p, d);
                                    for (int i : {0, 1, 2, 9}) std::fill(d.in[i].end() - 8, d.in[i].end(), NAN);
                                  }});
}

}  // namespace
}  // namespace trine::dnn::test
