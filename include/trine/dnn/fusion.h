// Fusion: a contraction, or none, and what follows it element by element, as one thing to run.
//
//   dnn::Fusion f(conv);                              // or a matmul, or the dims of a tensor
//   f.bias().add().unary(dnn::Unary::swish);
//   f.build({.threads = 2});
//   f.text();                                         // what the contraction's epilogue took; what not, and why
//   f.run({.in = {x}, .weights = {w}, .out = {y}}, {bias, residual}, pool);
//
// Steps run in the order in which they were added. The longest beginning that has the form of an epilogue
// (trine/dnn/epilogue.h) runs inside the contraction; the rest are problems of their own, in place on y. What comes
// before the contraction is a fusion too, of its first input:
//
//   dnn::Fusion before(dnn::Dims{n, h, w, c});        // scale, shift, relu, then a convolution (cuDNN's g1)
//   before.scale().bias().unary(dnn::Unary::relu);
//   dnn::Fusion f(conv, std::move(before));
#pragma once

#include <optional>
#include <vector>

#include "trine/dnn/primitive.h"

namespace trine::dnn {

class Fusion {
 public:
  // Problems without epilogue. Of a convolution y is [n, depth, height, width, channels], of a product [batch..., m,
  // n]. `before`, without contraction, makes in[0] from what `run` is given; throws Error{invalid_argument} when it has
  // another number of elements.
  explicit Fusion(ConvProblem problem);
  explicit Fusion(MatmulProblem problem);
  Fusion(ConvProblem problem, Fusion before);
  Fusion(MatmulProblem problem, Fusion before);
  // No contraction: in[0] is x, of these dims. x and y are of `type`.
  explicit Fusion(Dims dims, DType type = DType::f32);

  // y = y + b[channel] and y = y * b[channel], the channel being the last dimension; b is f32.
  Fusion& bias() { return step({Kind::bias, Binary::add, {channels()}}); }
  Fusion& scale() { return step({Kind::binary, Binary::mul, {channels()}}); }
  // y = y + b, b as y and of its type: a residual.
  Fusion& add() { return step({Kind::residual, Binary::add, dims_, type_}); }
  // y = op(y, b); b broadcasts to y.
  Fusion& binary(Binary op, Dims b_dims, DType b_type = DType::f32) {
    return step({Kind::binary, op, std::move(b_dims), b_type});
  }
  Fusion& unary(Unary function, float alpha = 0, float beta = 1) {
    return step({Kind::unary, Binary::add, {}, DType::f32, function, alpha, beta});
  }

  // Chooses algorithms. Throws Error{unsupported} as Primitive does, and when steps follow a contraction that leaves
  // gaps between pixels or rows, or whose results are 8-bit integers: these stand for something else than themselves.
  void build(const Limits& limits = {});

  int fused() const { return fused_; }  // steps inside the contraction; those before it are not
  std::string text() const;             // after build: a line for each step
  // `operands`: b of each step that has one, in order, those before the contraction first. bias and residual of `o` are
  // not used.
  void run(Operands o, std::span<const void* const> operands, ThreadPool& pool = ThreadPool::serial()) const;
  void run(const Operands& o, std::initializer_list<const void*> operands,
           ThreadPool& pool = ThreadPool::serial()) const {
    run(o, std::span<const void* const>(operands.begin(), operands.size()), pool);
  }

 private:
  enum class Kind : uint8_t { bias, residual, binary, unary };
  struct Step {
    Kind kind;
    Binary op = Binary::add;
    Dims b_dims = {};
    DType b_type = DType::f32;
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
  size_t operands_wanted() const;
  void take(Fusion before);

  std::optional<Problem> contraction_;
  Dims dims_;  // of y
  DType type_ = DType::f32;
  std::vector<Fusion> before_;  // one or none
  std::vector<Step> steps_;
  int fused_ = 0;
  std::vector<Primitive> primitives_;  // the contraction, if any, and the steps that are not fused
};

}  // namespace trine::dnn
