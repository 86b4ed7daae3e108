// Fusion: a contraction, or none, and what follows it element by element, as one thing to run.
//
//   dnn::Fusion f(conv);                              // or a matmul, or the dims of a tensor
//   f.bias().add().unary(dnn::Unary::swish);
//   f.build({.threads = 2});
//   f.text();                                         // what the contraction's epilogue took; what not, and why
//   f.run({.in = {x}, .weights = {w}, .out = {y}}, {bias, residual}, pool);
//
// Steps run in the order in which they were added. The longest beginning that has the form of an epilogue
// (trine/dnn/epilogue.h) runs inside the contraction; the rest are problems of their own, in place on y.
#pragma once

#include <optional>
#include <vector>

#include "trine/dnn/primitive.h"

namespace trine::dnn {

class Fusion {
 public:
  explicit Fusion(ConvProblem problem);    // without epilogue; y [n, depth, height, width, channels]
  explicit Fusion(MatmulProblem problem);  // without epilogue; y [batch..., m, n]
  explicit Fusion(Dims dims);              // no contraction: in[0] is x, of these dims

  // y = y + b[channel] and y = y * b[channel], the channel being the last dimension.
  Fusion& bias() { return step({Kind::bias, Binary::add, {channels()}}); }
  Fusion& scale() { return step({Kind::binary, Binary::mul, {channels()}}); }
  // y = y + b, b as y: a residual.
  Fusion& add() { return step({Kind::residual, Binary::add, dims_}); }
  // y = op(y, b); b broadcasts to y.
  Fusion& binary(Binary op, Dims b_dims) { return step({Kind::binary, op, std::move(b_dims)}); }
  Fusion& unary(Unary function, float alpha = 0, float beta = 1) {
    return step({Kind::unary, Binary::add, {}, function, alpha, beta});
  }

  // Chooses algorithms. Throws Error{unsupported} as Primitive does, and when steps follow a contraction that leaves
  // gaps between pixels or rows.
  void build(const Limits& limits = {});

  int fused() const { return fused_; }  // steps inside the contraction
  std::string text() const;             // after build: a line for each step
  // `operands`: b of each step that has one, in order. bias and residual of `o` are not used.
  void run(Operands o, std::span<const float* const> operands, ThreadPool& pool = ThreadPool::serial()) const;
  void run(const Operands& o, std::initializer_list<const float*> operands,
           ThreadPool& pool = ThreadPool::serial()) const {
    run(o, std::span<const float* const>(operands.begin(), operands.size()), pool);
  }

 private:
  enum class Kind : uint8_t { bias, residual, binary, unary };
  struct Step {
    Kind kind;
    Binary op = Binary::add;
    Dims b_dims = {};
    Unary function = Unary::none;
    float alpha = 0, beta = 1;
    std::string why = {};  // it is not fused; empty when it is

    bool has_operand() const { return kind != Kind::unary; }
    std::string text() const;
  };

  Fusion& step(Step step);
  int64_t channels() const { return dims_.empty() ? 1 : dims_.back(); }
  Epilogue* epilogue();  // of the contraction; null without one
  bool leaves_gaps() const;

  std::optional<Problem> contraction_;
  Dims dims_;  // of y
  std::vector<Step> steps_;
  int fused_ = 0;
  std::vector<Primitive> primitives_;  // the contraction, if any, and the steps that are not fused
};

}  // namespace trine::dnn
