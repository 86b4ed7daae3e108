// From products q k to scores: what the passes of attention share.
#pragma once

#include "backends/cpu/kernels/attention/attention.h"
#include "dnn/dropout.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {

const AttentionIsa& attention_isa(CpuLevel level);

// Throws Error when a length of the padded batch is out of range.
void check_lengths(const dnn::AttentionProblem& p, const dnn::Args& args);
// Null, or why no row of this pass can compute the problem.
const char* refusal(const dnn::AttentionProblem& p, dnn::Pass pass);

class Scores {
 public:
  Scores(const dnn::AttentionProblem& p, const dnn::Args& args, CpuLevel level);

  struct Range {
    int64_t begin, end;
  };
  // Keys that a query sees by lengths, causality and window; within [0, kv_len].
  Range seen(int64_t batch, int64_t query) const;

  int64_t queries(int64_t batch) const { return length(4, batch, p_.q_len); }
  int64_t keys(int64_t batch) const { return length(5, batch, p_.kv_len); }

  // In the order of the definition, on the scores s of keys [key, key + n).
  void cap(float* s, int64_t n) const {
    if (p_.softcap > 0) isa_.cap_row(s, n, p_.softcap);
  }
  void add_bias(int64_t batch, int64_t head, int64_t query, int64_t key, int64_t n, float* s) const;

  // use(i, factor) for keys key + i of [key, key + n).
  template <class Use>
  void for_dropout(int64_t batch, int64_t head, int64_t query, int64_t key, int64_t n, Use use) const {
    const int64_t row = (batch * p_.heads + head) * p_.q_len + query;
    dropout_.for_factors(static_cast<uint64_t>(row * p_.kv_len + key), n, use);
  }
  bool drops() const { return dropout_.any(); }

 private:
  int64_t length(int operand, int64_t batch, int64_t whole) const {
    return p_.lengths ? static_cast<const int32_t*>(args_.in[operand])[batch] : whole;
  }
  int64_t shift(int64_t batch) const;
  void add_mask(int64_t batch, int64_t head, int64_t query, int64_t key, int64_t n, float* s) const;

  const dnn::AttentionProblem& p_;
  const dnn::Args& args_;
  const AttentionIsa& isa_;
  dnn::Dropout dropout_;
};

}  // namespace trine::cpu
