// Scaled dot-product attention as every attention operator needs it, in f64:
//   s = softcap(scale * q k^T) + bias;  p = softmax(s) over the keys (plus a sink);  y = p v
// Query head h reads key/value head h / (q_heads / kv_heads). A row whose keys are all hidden (-infinity) gives 0.
#pragma once

#include <functional>

#include "graph/eval.h"

namespace trine {

struct AttentionProblem {
  int64_t batch = 0, q_heads = 0, kv_heads = 0, q_len = 0, kv_len = 0, head = 0, v_head = 0;
  std::vector<double> q, k, v;    // [B,H,S,D], dense
  double scale = 1, softcap = 0;  // softcap 0: none
  // Added to the score of (batch, query head, query, key); -infinity hides the key. Empty: nothing is added.
  std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)> bias;
  std::vector<double> sinks;  // per query head a logit that only enters the denominator; empty: none

  // Throws through the node: head counts that do not divide, operands of other sizes.
  void check(const Node& node) const;
};

// What to keep of the scores: nothing, scale * q k^T, after softcap, after bias, the probabilities.
enum class ScoreStage : uint8_t { none, raw, capped, biased, probabilities };

// y [B,Hq,Sq,Dv]; `scores` receives [B,Hq,Sq,Skv] at `stage`.
std::vector<double> attend(const AttentionProblem& p, ScoreStage stage = ScoreStage::none,
                           std::vector<double>* scores = nullptr);

// The two halves of attend(), for operators that change the scores in between.
void softmax_rows(const std::vector<double>& scores, int64_t row, std::vector<double>& probabilities);
std::vector<double> weigh_values(const AttentionProblem& p, const std::vector<double>& probabilities);

// [B,S,H,D] <-> [B,H,S,D]
std::vector<double> split_heads(const std::vector<double>& x, int64_t batch, int64_t length, int64_t heads,
                                int64_t head);
std::vector<double> merge_heads(const std::vector<double>& x, int64_t batch, int64_t length, int64_t heads,
                                int64_t head);

// [B,H,P,D] ++ [B,H,L,D] along the third dimension.
std::vector<double> append_cache(const std::vector<double>& past, const std::vector<double>& next, int64_t rows,
                                 int64_t past_len, int64_t length, int64_t head);

// A mask that broadcasts (aligned at the right) onto [B,H,Sq,Skv]; boolean: true keeps. A last dimension shorter than
// Skv hides the keys past its end, unless it is 1 and `repeat_last`.
class AttentionMask {
 public:
  AttentionMask() = default;
  AttentionMask(const Node& node, const Tensor& mask, const Dims& scores, bool repeat_last);
  double operator()(int64_t b, int64_t h, int64_t i, int64_t j) const;
  bool defined() const { return !values_.empty() || last_ == 0; }

 private:
  std::vector<double> values_;
  int64_t step_[4] = {0, 0, 0, 0};
  int64_t last_ = -1;  // keys the mask knows; -1: undefined
};

}  // namespace trine
