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

#include <optional>

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

// How an operand lies in memory, where that is not what the problem says: row-major over `dims`, its elements are those
// of the problem's operand (without pixel or row strides, which would say it too), and the one at index i stands
// sum of i * strides elements from the pointer. So x [n, h, w, c] of a problem in nhwc lies as nchw with
//   {.dims = {n, h, w, c}, .strides = {c * h * w, w, 1, h * w}}
// Strides may be 0 or negative, those of outputs only positive. What a layout and a pixel stride can say runs as it is;
// the rest is copied through the workspace.
struct View {
  Dims dims, strides;
  bool is_given() const { return !strides.empty(); }
};
struct Views {
  View in[kMostOperands], weights[kMostWeights], residual, out[kMostOperands];
};

// What is wrong with the numbers of a problem, as "stride 0; 1 at least"; empty when nothing is.
std::string fault(const Problem& problem);

class Primitive {
 public:
  // Chooses within `limits`. Throws Error{invalid_argument} for a problem with a fault or a view that does not match
  // it, Error{unsupported} when no row fits, with the reason of each.
  explicit Primitive(Problem problem, const Limits& limits = {}, const Views& views = {});

  const Problem& problem() const { return choice_.problem; }  // with what of the views it could take in
  const Choice& choice() const { return choice_; }  // every candidate with its time, every refusal with its reason
  std::string_view algorithm() const { return choice_.candidates.front().name; }
  size_t workspace_bytes() const;
  size_t packed_bytes() const {
    return choice_.candidates.front().packed_bytes;
  }  // 0: takes no weights, or as they are

  // `packed` has packed_bytes(), 64-byte aligned for speed.
  void pack(std::span<const void* const> weights, void* packed) const;

  // Throws Error{invalid_argument} when an operand that the problem needs is null, or `pool` has more threads than the
  // limits named.
  void run(const Operands& operands, ThreadPool& pool = ThreadPool::serial()) const;

  // With Limits::tuner: the same by an algorithm that has been measured meanwhile to be at least 3 % faster.
  std::optional<Primitive> faster() const;

 private:
  struct Copy;  // of an operand that has a view

  void run_dense(const Operands& operands, ThreadPool& pool) const;

  Choice choice_;
  Limits limits_;
  Views views_;
  std::vector<std::shared_ptr<const Copy>> copies_;
  size_t copies_bytes_ = 0;
};

}  // namespace trine::dnn
