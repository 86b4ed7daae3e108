#include "trine/dnn/primitive.h"

#include <fmt/format.h>

#include "dnn/kernel_row.h"
#include "dnn/operands.h"
#include "dnn/views.h"
#include "trine/base/error.h"
#include "trine/base/tensor.h"
#include "trine/dnn/tuner.h"

namespace trine::dnn {
namespace {

[[noreturn]] void fail(ErrorCode code, const Problem& problem, const std::string& what) {
  throw Error(code, fmt::format("{}: {}", text(problem), what));
}

// Stands for an operand of no elements: rows add offsets to it.
constexpr uint64_t kNothing = 0;

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

// Dense memory of an operand with a view, and the ways there and back. Weights are copied when they are packed.
struct Primitive::Copy {
  enum class What : uint8_t { in, weights, residual, out };
  What what;
  int index;
  size_t offset, bytes;  // in the workspace, behind the row's own; of weights none
  std::optional<Primitive> in, out;
};

namespace {

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

Primitive::Primitive(Problem problem, const Limits& limits, const Views& views) : limits_(limits), views_(views) {
  if (const std::string what = fault(problem); !what.empty()) fail(ErrorCode::invalid_argument, problem, what);
  check_views(problem, views);
  if (limits_.tuner) limits_.timings = limits_.tuner->timings(), limits_.measure_seconds = 0;
  Views copied = views;
  Problem absorbed = absorb(problem, copied);
  if (absorbed != problem && !find(absorbed, limits_).best()) absorbed = problem, copied = views;
  if (const auto* conv = std::get_if<ConvProblem>(&absorbed);
      conv && conv->in_layout == Layout::nchw && !copied.in[0].is_given() && !find(absorbed, limits_).best())
    absorbed = in_nhwc(*conv, copied.in[0]);

  const OperandSizes sizes = operand_sizes(absorbed);
  const auto add = [&](Copy::What what, int i, const View& view, DType type, int64_t count) {
    if (!view.is_given() || count == 0) return;
    auto copy =
        std::make_shared<Copy>(Copy{what, i, copies_bytes_, static_cast<size_t>(count) * byte_size(type), {}, {}});
    const Limits own{.level = limits.level, .threads = limits.threads, .deterministic = true};
    if (what == Copy::What::out) copy->out.emplace(copy_out(view, type), own);
    if (what != Copy::What::out || reads_outputs(absorbed)) copy->in.emplace(copy_in(view, type), own);
    if (what != Copy::What::weights) copies_bytes_ += aligned(copy->bytes);
    copies_.push_back(std::move(copy));
  };
  for (int i = 0; i < kMostOperands; ++i) {
    add(Copy::What::in, i, copied.in[i], sizes.in_types[i], sizes.in[i]);
    add(Copy::What::out, i, copied.out[i], sizes.out_types[i], sizes.out[i]);
  }
  for (int i = 0; i < kMostWeights; ++i)
    add(Copy::What::weights, i, copied.weights[i], sizes.weight_types[i], sizes.weights[i]);
  add(Copy::What::residual, 0, copied.residual, sizes.residual_type, sizes.residual);
  if (copies_bytes_ > limits.workspace_bytes)
    fail(ErrorCode::unsupported, problem,
         fmt::format("copies of strided operands take a workspace of {} bytes; allowed are {}", copies_bytes_,
                     limits.workspace_bytes));

  Limits rest = limits_;
  if (copies_bytes_) rest.workspace_bytes = (rest.workspace_bytes - copies_bytes_) / 64 * 64;
  choice_ = find(absorbed, rest);
  if (!choice_.best()) fail(ErrorCode::unsupported, problem, "no algorithm fits\n" + choice_.text());
  if (limits_.tuner && choice_.candidates.size() > 1 && !choice_.candidates.front().measured)
    limits_.tuner->request(absorbed, rest);
}

size_t Primitive::workspace_bytes() const {
  const size_t own = choice_.candidates.front().workspace_bytes;
  return copies_bytes_ ? aligned(own) + copies_bytes_ : own;
}

std::optional<Primitive> Primitive::faster() const {
  if (!limits_.tuner || limits_.deterministic) return std::nullopt;
  Limits now = limits_;
  if (copies_bytes_) now.workspace_bytes = (now.workspace_bytes - copies_bytes_) / 64 * 64;
  const Choice choice = find(choice_.problem, now);
  const auto& best = choice.candidates.front();
  const auto mine = limits_.timings->find(choice_.problem, algorithm(), limits_.threads);
  if (!best.measured || best.row == choice_.best() || (mine && best.seconds > 0.97 * *mine)) return std::nullopt;
  Primitive other = *this;
  other.choice_ = choice;
  return other;
}

void Primitive::pack(std::span<const void* const> weights, void* packed) const {
  if (!packed_bytes()) return;
  const void* list[kMostWeights] = {};
  std::copy_n(weights.begin(), std::min<size_t>(weights.size(), kMostWeights), list);
  std::vector<Scratch> dense(copies_.size());
  for (size_t i = 0; i < copies_.size(); ++i) {
    const Copy& copy = *copies_[i];
    if (copy.what != Copy::What::weights || !list[copy.index]) continue;
    void* to = dense[i].get(copy.bytes);
    copy.in->run({.in = {list[copy.index]}, .out = {to}});
    list[copy.index] = to;
  }
  if (!list[0]) list[0] = &kNothing;
  choice_.best()->prepack(problem(), std::span<const void* const>(list), packed);
}

void Primitive::run(const Operands& o, ThreadPool& pool) const {
  check(problem(), o, packed_bytes() > 0);
  if (pool.threads() > limits_.threads)
    fail(ErrorCode::invalid_argument, problem(),
         fmt::format("run on {} threads; Limits::threads allowed {}", pool.threads(), limits_.threads));
  if (copies_.empty()) return run_dense(o, pool);
  Scratch scratch;
  Operands dense = o;
  auto* memory = static_cast<char*>(o.workspace ? o.workspace : scratch.get(workspace_bytes()));
  char* copies = memory + aligned(choice_.candidates.front().workspace_bytes);
  dense.workspace = memory;
  for (const auto& copy : copies_) {
    void* to = copies + copy->offset;
    const void** in = copy->what == Copy::What::in         ? &dense.in[copy->index]
                      : copy->what == Copy::What::residual ? &dense.residual
                                                           : nullptr;
    if (in && *in) copy->in->run({.in = {*in}, .out = {to}}, pool), *in = to;
    if (void*& out = dense.out[copy->index]; copy->what == Copy::What::out && out) {
      if (copy->in) copy->in->run({.in = {out}, .out = {to}}, pool);
      out = to;
    }
  }
  run_dense(dense, pool);
  for (const auto& copy : copies_)
    if (copy->what == Copy::What::out && o.out[copy->index])
      copy->out->run({.in = {copies + copy->offset}, .out = {o.out[copy->index]}}, pool);
}

void Primitive::run_dense(const Operands& o, ThreadPool& pool) const {
  Scratch packed, workspace;
  Args args;
  std::copy_n(o.in, kMostOperands, args.in);
  std::copy_n(o.out, kMostOperands, args.out);
  if (!args.in[0]) args.in[0] = &kNothing;
  args.bias = o.bias;
  args.residual = o.residual;
  args.quantization = o.quantization;
  args.packed = o.packed;
  if (packed_bytes() && !o.packed) {
    void* bytes = packed.get(packed_bytes());
    pack(o.weights, bytes);
    args.packed = bytes;
  }
  args.workspace = o.workspace ? o.workspace : workspace.get(choice_.candidates.front().workspace_bytes);
  args.pool = &pool;
  choice_.best()->run(problem(), args);
}

}  // namespace trine::dnn
