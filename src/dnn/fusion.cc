#include "trine/dnn/fusion.h"

#include <fmt/format.h>

#include "dnn/operands.h"
#include "trine/base/error.h"
#include "trine/base/tensor.h"

namespace trine::dnn {
namespace {

// Puts `function` into an epilogue; says why not.
std::string take_function(Epilogue& e, Unary function, float alpha, float beta) {
  if (e.residual == Residual::after_activation) return "epilogues end with a residual after the activation";
  if (e.activation != Activation::none) return "an epilogue has one activation";
  const bool is_clip = function == Unary::clipped_relu;
  if (function > Unary::gelu_tanh && !is_clip) return fmt::format("epilogues have no {}", name(function));
  e.activation = is_clip ? Activation::clip : static_cast<Activation>(function);
  const bool has_two = e.activation == Activation::clip || e.activation == Activation::hardsigmoid;
  if (has_two || e.activation == Activation::leaky_relu) e.alpha = is_clip ? 0 : alpha;
  if (has_two) e.beta = is_clip ? alpha : beta;
  return {};
}

std::string take_bias(Epilogue& e) {
  if (!e.is_plain()) return "epilogues begin with the bias";
  e.bias = true;
  return {};
}

std::string take_residual(Epilogue& e) {
  if (e.residual != Residual::none) return "an epilogue has one residual";
  e.residual = e.activation == Activation::none ? Residual::before_activation : Residual::after_activation;
  return {};
}

}  // namespace

Fusion::Fusion(ConvProblem p)
    : contraction_(p), dims_{p.n, p.out[0], p.out[1], p.out[2], p.out_channels}, type_(p.types.out) {}
Fusion::Fusion(MatmulProblem p) : contraction_(p), dims_(batch_of(p)), type_(p.types.out) {
  dims_.push_back(p.m);
  dims_.push_back(p.n);
}
Fusion::Fusion(ConvProblem p, Fusion before) : Fusion(p) { take(std::move(before)); }
Fusion::Fusion(MatmulProblem p, Fusion before) : Fusion(p) { take(std::move(before)); }
Fusion::Fusion(Dims dims, DType type) : dims_(std::move(dims)), type_(type) {}

void Fusion::take(Fusion before) {
  const OperandSizes sizes = operand_sizes(*contraction_);
  if (before.contraction_ || element_count(before.dims_) != sizes.in[0] || before.type_ != sizes.in_types[0])
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: what comes before it makes [{}] of {}; give {} elements of {} without a contraction",
                            dnn::text(*contraction_), fmt::join(before.dims_, ","), trine::name(before.type_),
                            sizes.in[0], trine::name(sizes.in_types[0])));
  before_.push_back(std::move(before));
}

std::string Fusion::Step::text() const {
  switch (kind) {
    case Kind::bias: return "bias";
    case Kind::residual: return "residual";
    case Kind::unary: return std::string(name(function));
    case Kind::binary: break;
  }
  return fmt::format("{} [{}]", name(op), fmt::join(b_dims, ","));
}

Fusion& Fusion::step(Step step) {
  TRINE_CHECK(primitives_.empty(), "steps are added before build");
  steps_.push_back(std::move(step));
  return *this;
}

Epilogue* Fusion::epilogue() {
  if (!contraction_) return nullptr;
  if (auto* conv = std::get_if<ConvProblem>(&*contraction_)) return &conv->epilogue;
  return &std::get<MatmulProblem>(*contraction_).epilogue;
}

bool Fusion::leaves_gaps() const {
  if (!contraction_) return false;
  if (auto* conv = std::get_if<ConvProblem>(&*contraction_))
    return conv->out_pixel_stride && conv->out_pixel_stride != conv->out_channels;
  const auto& matmul = std::get<MatmulProblem>(*contraction_);
  return matmul.out_row_stride && matmul.out_row_stride != matmul.n;
}

void Fusion::build(const Limits& limits) {
  TRINE_CHECK(primitives_.empty(), "built once");
  Epilogue* e = epilogue();
  std::string before = e ? "" : "there is no contraction";  // why nothing more is fused
  for (Step& s : steps_) {
    if (before.empty()) {
      s.why = s.kind == Kind::bias       ? take_bias(*e)
              : s.kind == Kind::residual ? take_residual(*e)
              : s.kind == Kind::unary    ? take_function(*e, s.function, s.alpha, s.beta)
                                         : "epilogues add a bias and a residual only";
    } else {
      s.why = before;
    }
    if (s.why.empty()) ++fused_;
    else if (before.empty()) before = fmt::format("comes after {}", s.text());
  }
  const bool all = fused_ == static_cast<int>(steps_.size());
  if (!all && contraction_ && byte_size(type_) == 1)
    throw Error(ErrorCode::unsupported,
                dnn::text(*contraction_) + ": steps after 8-bit integers; give it an f32 output");
  if (!all && leaves_gaps())
    throw Error(ErrorCode::unsupported,
                dnn::text(*contraction_) + ": steps after gaps between rows; give it a dense output");
  for (Fusion& f : before_) f.build(limits);
  if (contraction_) primitives_.emplace_back(*contraction_, limits);
  for (const Step& s : steps_) {
    if (s.why.empty()) continue;
    if (s.kind == Kind::unary)
      primitives_.emplace_back(
          ActivationProblem{s.function, Pass::forward, element_count(dims_), s.alpha, s.beta, type_}, limits);
    else
      primitives_.emplace_back(
          BinaryProblem{.op = s.op, .dims = dims_, .b_dims = s.b_dims, .type = type_, .b_type = s.b_type}, limits);
  }
  if (primitives_.empty())
    primitives_.emplace_back(ActivationProblem{Unary::none, Pass::forward, element_count(dims_), 0, 1, type_}, limits);
}

size_t Fusion::operands_wanted() const {
  size_t wanted = before_.empty() ? 0 : before_[0].operands_wanted();
  for (const Step& s : steps_) wanted += s.has_operand();
  return wanted;
}

std::string Fusion::text() const {
  std::string out;
  for (const Fusion& f : before_) out += "before it:\n" + f.text();
  auto next = primitives_.begin();
  if (contraction_) out += fmt::format("{} by {}\n", dnn::text(*contraction_), (next++)->algorithm());
  for (const Step& s : steps_)
    out += s.why.empty() ? fmt::format("  fused     {}\n", s.text())
                         : fmt::format("  not fused {} by {}: {}\n", s.text(), (next++)->algorithm(), s.why);
  return out;
}

void Fusion::run(Operands o, std::span<const void* const> operands, ThreadPool& pool) const {
  const size_t wanted = operands_wanted();
  if (operands.size() != wanted || primitives_.empty())
    throw Error(ErrorCode::invalid_argument, fmt::format("fusion: {} operands{}; its steps take {}", operands.size(),
                                                         primitives_.empty() ? " and no build" : "", wanted));
  Tensor made;  // what the contraction reads
  if (!before_.empty()) {
    const Fusion& f = before_[0];
    made = Tensor(DType::u8, {element_count(f.dims_) * static_cast<int64_t>(byte_size(f.type_))});
    const size_t own = f.operands_wanted();
    f.run({.in = {o.in[0]}, .out = {made.mutable_data()}}, operands.first(own), pool);
    operands = operands.subspan(own);
    o.in[0] = made.mutable_data();
  }
  auto operand = operands.begin();
  auto step = steps_.begin();
  o.bias = o.residual = nullptr;
  for (; step != steps_.end() && step->why.empty(); ++step) {
    if (step->kind == Kind::bias) o.bias = *operand++;
    if (step->kind == Kind::residual) o.residual = *operand++;
  }
  auto primitive = primitives_.begin();
  const void* y = o.in[0];  // what the next step reads
  if (contraction_ || steps_.empty()) {
    (primitive++)->run(o, pool);
    y = o.out[0];
  }
  for (; step != steps_.end(); ++step, y = o.out[0])
    (primitive++)->run({.in = {y, step->has_operand() ? *operand++ : nullptr}, .out = {o.out[0]}}, pool);
}

}  // namespace trine::dnn
