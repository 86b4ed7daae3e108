// Primitive: a problem with the algorithm that find chose for it, ready to run. The way into trine::dnn without a
// model:
//
//   dnn::ConvProblem p;                        // sizes, strides, padding, epilogue
//   dnn::Primitive conv(p, {.threads = 2});    // throws when nothing can compute it, with every row's reason
//   std::vector<std::byte> packed(conv.packed_bytes());
//   conv.pack({w.data()}, packed.data());      // once for constant weights
//   conv.run({.in = {x.data()}, .packed = packed.data(), .out = {y.data()}}, pool);
//
// Immutable: threads may run one primitive at the same time, each with its own workspace and pool.
#pragma once

#include "trine/base/thread_pool.h"
#include "trine/dnn/find.h"

namespace trine::dnn {

// Pointers of one run. What in, weights and out hold is said at each kind of problem in problem.h:
//   conv           in x                                     weights w                  out y
//   conv_weights   in x, dy                                                            out dw, db
//   matmul         in a, b (b in weights when b_constant)   weights b                  out y
//   pool, resize, copy   in x                                                          out y
//   attention      as said at AttentionProblem
//   rnn            as said at RnnProblem
//   gather         in data, indices                                                    out y
//   ctc_loss       in x, labels, input_lens, label_lens                                out loss, dx
//   affine_grid    in theta | dgrid                                                    out grid | dtheta
//   grid_sample    in x, grid | x, grid, dy                                            out y | dx, dgrid
//   others: at the problem
struct Operands {
  const void* in[kMostOperands] = {};
  const void* weights[kMostWeights] = {};  // as models have them; packed for this run when `packed` is null
  const void* packed = nullptr;            // by Primitive::pack
  const void* bias = nullptr;              // of the problem's types
  const void* residual = nullptr;
  const Quantization* quantization = nullptr;  // of 8-bit integers; null: all scales 1, all zeros 0
  void* out[kMostOperands] = {};
  void* workspace = nullptr;  // workspace_bytes(), 64-byte aligned; null: allocated for this run
};

class Primitive {
 public:
  // Chooses within `limits`. Throws Error{unsupported} when no row fits, with the reason of each.
  explicit Primitive(Problem problem, const Limits& limits = {});

  const Problem& problem() const { return choice_.problem; }
  const Choice& choice() const { return choice_; }  // every candidate with its time, every refusal with its reason
  std::string_view algorithm() const { return choice_.candidates.front().name; }
  size_t workspace_bytes() const { return choice_.candidates.front().workspace_bytes; }
  size_t packed_bytes() const {
    return choice_.candidates.front().packed_bytes;
  }  // 0: takes no weights, or as they are

  // `packed` has packed_bytes(), 64-byte aligned for speed.
  void pack(std::span<const void* const> weights, void* packed) const;

  // Throws Error{invalid_argument} when an operand that the problem needs is null, or `pool` has more threads than the
  // limits named.
  void run(const Operands& operands, ThreadPool& pool = ThreadPool::serial()) const;

 private:
  Choice choice_;
  int threads_;
};

}  // namespace trine::dnn
