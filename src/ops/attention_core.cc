#include "ops/attention_core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/node_error.h"

namespace trine {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Softmax in place; all zeros when every key is hidden.
void normalise(std::vector<double>& s, const double* sink) {
  double top = sink ? *sink : kHidden;
  for (double v : s) top = std::isnan(v) || v > top ? v : top;
  if (top == kHidden) return std::fill(s.begin(), s.end(), 0.0);
  double sum = sink ? std::exp(*sink - top) : 0;
  for (double& v : s) sum += v = std::exp(v - top);
  for (double& v : s) v /= sum;
}

// out += sum_j weight[j] * v[row kv + j]
void add_weighted(const AttentionProblem& p, const double* weight, int64_t kv, double* out) {
  for (int64_t j = 0; j < p.kv_len; ++j) {
    if (weight[j] == 0) continue;  // a hidden value may be anything, NaN too
    const double* v = p.v.data() + (kv + j) * p.v_head;
    for (int64_t d = 0; d < p.v_head; ++d) out[d] += weight[j] * v[d];
  }
}

}  // namespace

void AttentionProblem::check(const Node& node) const {
  require(node, q_heads >= 1 && kv_heads >= 1 && q_heads % kv_heads == 0,
          fmt::format("{} query heads, {} key/value heads; want a multiple", q_heads, kv_heads));
  const auto size = [](int64_t a, int64_t b, int64_t c, int64_t d) { return value_count(Dims{a, b, c, d}); };
  require(node,
          q.size() == size(batch, q_heads, q_len, head) && k.size() == size(batch, kv_heads, kv_len, head) &&
              v.size() == size(batch, kv_heads, kv_len, v_head),
          "query, key and value differ in batch, length or head size");
}

std::vector<double> attend(const AttentionProblem& p, ScoreStage stage, std::vector<double>* scores) {
  std::vector<double> y(value_count({p.batch, p.q_heads, p.q_len, p.v_head}), 0.0);
  std::vector<double> s(value_count({p.kv_len}));
  const auto keep = [&](ScoreStage now) {
    if (scores && stage == now) scores->insert(scores->end(), s.begin(), s.end());
  };
  double* out = y.data();
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.q_heads; ++h) {
      const int64_t kv = (b * p.kv_heads + h / (p.q_heads / p.kv_heads)) * p.kv_len;
      for (int64_t i = 0; i < p.q_len; ++i, out += p.v_head) {
        const double* q = p.q.data() + ((b * p.q_heads + h) * p.q_len + i) * p.head;
        for (int64_t j = 0; j < p.kv_len; ++j)
          s[static_cast<size_t>(j)] = p.scale * dot(q, p.k.data() + (kv + j) * p.head, p.head);
        keep(ScoreStage::raw);
        if (p.softcap > 0)
          for (double& v : s) v = p.softcap * std::tanh(v / p.softcap);
        keep(ScoreStage::capped);
        for (int64_t j = 0; p.bias && j < p.kv_len; ++j) {
          const double bias = p.bias(b, h, i, j);
          double& v = s[static_cast<size_t>(j)];
          v = bias == kHidden ? kHidden : v + bias;  // also where the score is NaN or infinite
        }
        keep(ScoreStage::biased);
        normalise(s, p.sinks.empty() ? nullptr : &p.sinks[static_cast<size_t>(h)]);
        keep(ScoreStage::probabilities);
        add_weighted(p, s.data(), kv, out);
      }
    }
  return y;
}

void softmax_rows(const std::vector<double>& scores, int64_t row, std::vector<double>& probabilities) {
  probabilities.clear();
  for (auto at = scores.begin(); at != scores.end(); at += row) {
    std::vector<double> s(at, at + row);
    normalise(s, nullptr);
    probabilities.insert(probabilities.end(), s.begin(), s.end());
  }
}

std::vector<double> weigh_values(const AttentionProblem& p, const std::vector<double>& probabilities) {
  const int64_t rows = p.batch * p.q_heads * p.q_len;
  std::vector<double> y(value_count({rows, p.v_head}), 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t b = r / (p.q_heads * p.q_len), h = r / p.q_len % p.q_heads;
    const int64_t kv = (b * p.kv_heads + h / (p.q_heads / p.kv_heads)) * p.kv_len;
    add_weighted(p, probabilities.data() + r * p.kv_len, kv, y.data() + r * p.v_head);
  }
  return y;
}

namespace {

// [outer, a, b, inner] -> [outer, b, a, inner]
std::vector<double> swap_middle(const std::vector<double>& x, int64_t outer, int64_t a, int64_t b, int64_t inner) {
  std::vector<double> y(x.size());
  if (y.empty()) return y;  // a size of 0 does not bound the others
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < a; ++i)
      for (int64_t j = 0; j < b; ++j)
        std::copy_n(x.begin() + ((o * a + i) * b + j) * inner, inner, y.begin() + ((o * b + j) * a + i) * inner);
  return y;
}

}  // namespace

std::vector<double> split_heads(const std::vector<double>& x, int64_t batch, int64_t length, int64_t heads,
                                int64_t head) {
  return swap_middle(x, batch, length, heads, head);
}

std::vector<double> merge_heads(const std::vector<double>& x, int64_t batch, int64_t length, int64_t heads,
                                int64_t head) {
  return swap_middle(x, batch, heads, length, head);
}

std::vector<double> append_cache(const std::vector<double>& past, const std::vector<double>& next, int64_t rows,
                                 int64_t past_len, int64_t length, int64_t head) {
  std::vector<double> all;
  if (past.empty() && next.empty()) return all;
  all.reserve(past.size() + next.size());
  for (int64_t r = 0; r < rows; ++r) {
    all.insert(all.end(), past.begin() + r * past_len * head, past.begin() + (r + 1) * past_len * head);
    all.insert(all.end(), next.begin() + r * length * head, next.begin() + (r + 1) * length * head);
  }
  return all;
}

AttentionMask::AttentionMask(const Node& node, const Tensor& mask, const Dims& scores, bool repeat_last) {
  const int rank = mask.rank();
  require(node, rank <= 4, fmt::format("mask is {}; want at most 4 dimensions", mask.type_text()));
  int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const size_t to = static_cast<size_t>(4 - rank + d);
    const int64_t n = mask.dim(d);
    const bool fits = n == scores[to] || n == 1 || (to == 3 && !repeat_last && n <= scores[3]);
    require(node, fits, fmt::format("mask is {}; it must broadcast to [{}]", mask.type_text(), to_string(scores)));
    step_[to] = n == 1 ? 0 : step;
    step *= n;
  }
  last_ = rank == 0 || (repeat_last && mask.dim(rank - 1) == 1) ? scores[3] : mask.dim(rank - 1);
  values_ = mask.f64_values();
  if (mask.dtype() != DType::boolean) return;
  for (double& v : values_) v = v != 0 ? 0 : kHidden;
}

double AttentionMask::operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
  if (j >= last_) return kHidden;
  return values_[static_cast<size_t>(b * step_[0] + h * step_[1] + i * step_[2] + j * step_[3])];
}

}  // namespace trine
