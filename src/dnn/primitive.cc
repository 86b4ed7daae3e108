#include "trine/dnn/primitive.h"

#include <fmt/format.h>

#include "dnn/kernel_row.h"
#include "dnn/operands.h"
#include "trine/base/error.h"
#include "trine/base/tensor.h"

namespace trine::dnn {
namespace {

[[noreturn]] void fail(ErrorCode code, const Problem& problem, const std::string& what) {
  throw Error(code, fmt::format("{}: {}", text(problem), what));
}

// 64-byte aligned memory for one run.
struct Scratch {
  Tensor memory;
  void* get(size_t bytes) {
    if (bytes == 0) return nullptr;
    memory = Tensor(DType::u8, {static_cast<int64_t>(bytes)});
    return memory.mutable_data();
  }
};

// Inputs that may be null although the problem has a size for them.
bool is_optional_input(const Problem& problem, int i) {
  if (const auto* norm = std::get_if<NormProblem>(&problem))
    return norm->training && norm->pass == Pass::forward && i == 3;  // running statistics that nobody wants
  return op_kind(problem) == OpKind::rnn && (i == 1 || i == 2 || i == 7 || i == 8);  // states and their gradients
}
bool is_optional_weight(const Problem& problem, int i) { return op_kind(problem) == OpKind::rnn && i == 2; }  // bias
bool is_optional_output(const Problem& problem, int i) { return op_kind(problem) == OpKind::rnn || i > 0; }

void check(const Problem& problem, const Operands& o, bool needs_weights) {
  const OperandSizes sizes = operand_sizes(problem);
  const auto need = [&](bool is_there, std::string_view name, int i) {
    if (!is_there) fail(ErrorCode::invalid_argument, problem, fmt::format("{}[{}] is null; give its memory", name, i));
  };
  for (int i = 0; i < kMostOperands; ++i) need(!sizes.in[i] || o.in[i] || is_optional_input(problem, i), "in", i);
  for (int i = 0; i < kMostOperands; ++i) need(!sizes.out[i] || o.out[i] || is_optional_output(problem, i), "out", i);
  need(!sizes.bias || o.bias, "bias", 0);
  need(!sizes.residual || o.residual, "residual", 0);
  for (int i = 0; i < kMostWeights && needs_weights && !o.packed; ++i)
    need(!sizes.weights[i] || o.weights[i] || is_optional_weight(problem, i), "weights", i);
}

}  // namespace

Primitive::Primitive(Problem problem, const Limits& limits) : choice_(find(problem, limits)), threads_(limits.threads) {
  if (!choice_.best()) fail(ErrorCode::unsupported, problem, "no algorithm fits\n" + choice_.text());
}

void Primitive::pack(std::span<const void* const> weights, void* packed) const {
  if (packed_bytes()) choice_.best()->prepack(problem(), weights, packed);
}

void Primitive::run(const Operands& o, ThreadPool& pool) const {
  check(problem(), o, packed_bytes() > 0);
  if (pool.threads() > threads_)
    fail(ErrorCode::invalid_argument, problem(),
         fmt::format("run on {} threads; Limits::threads allowed {}", pool.threads(), threads_));
  Scratch packed, workspace;
  Args args;
  std::copy_n(o.in, kMostOperands, args.in);
  std::copy_n(o.out, kMostOperands, args.out);
  args.bias = o.bias;
  args.residual = o.residual;
  args.quantization = o.quantization;
  args.packed = o.packed;
  if (packed_bytes() && !o.packed) {
    void* bytes = packed.get(packed_bytes());
    pack(o.weights, bytes);
    args.packed = bytes;
  }
  args.workspace = o.workspace ? o.workspace : workspace.get(workspace_bytes());
  args.pool = &pool;
  choice_.best()->run(problem(), args);
}

}  // namespace trine::dnn
