#include "check_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "row_data.h"
#include "trine/base/tensor.h"
#include "trine/base/thread_pool.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 1.0 / (1 << 24);  // of f32, half a unit in the last place of 1
constexpr size_t kGuard = 256;

// Bytes with guards on both sides, 64-byte aligned inside.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(DType::u8, {static_cast<int64_t>(bytes + 2 * kGuard)}) {
    std::memset(memory_.mutable_data(), 0xa5, memory_.bytes());
  }
  void* data() { return memory_.mutable_as<char>() + kGuard; }
  bool intact() const {
    const auto* all = memory_.as<uint8_t>();
    for (size_t i = 0; i < kGuard; ++i)
      if (all[i] != 0xa5 || all[kGuard + bytes_ + i] != 0xa5) return false;
    return true;
  }

 private:
  size_t bytes_;
  Tensor memory_;
};

template <class T>
const void* pointer(const std::vector<T>& v) {
  return v.empty() ? nullptr : v.data();
}

DType out_type(const Problem& problem, int i) { return operand_sizes(problem).out_types[i]; }

struct Outputs {
  std::vector<Guarded> memory;
  std::vector<double> values(int i, DType type, int64_t n) {
    std::vector<double> v(static_cast<size_t>(n));
    const void* data = memory[static_cast<size_t>(i)].data();
    for (int64_t j = 0; j < n; ++j) v[static_cast<size_t>(j)] = decode(type, data, j);
    return v;
  }
};

ThreadPool& pool_of(int threads) {
  static std::map<int, std::unique_ptr<ThreadPool>> pools;
  auto& pool = pools[threads];
  if (!pool) pool = std::make_unique<ThreadPool>(threads);
  return *pool;
}

Outputs run_row(const KernelRow& row, const Problem& problem, const Data& data, int threads) {
  ThreadPool& pool = pool_of(threads);
  OperandSizes sizes = operand_sizes(problem);
  Encoded bias(sizes.bias_type, data.bias), residual(sizes.residual_type, data.residual);
  std::vector<Encoded> inputs, filters;
  for (int i = 0; i < kMostOperands; ++i) inputs.emplace_back(sizes.in_types[i], data.in[i]);
  for (int i = 0; i < kMostWeights; ++i) filters.emplace_back(sizes.weight_types[i], data.weights[i]);
  Args args;
  for (size_t i = 0; i < kMostOperands; ++i)
    args.in[i] = sizes.integers[i] ? pointer(data.integers[i]) : inputs[i].pointer();
  static const uint64_t nothing = 0;
  if (!args.in[0]) args.in[0] = &nothing;  // as Primitive does
  if (!data.mask.empty()) args.in[3] = data.mask.data();
  args.bias = bias.pointer();
  args.residual = residual.pointer();
  Quantization quantization = data.quantization;
  quantization.scale = data.scales.data();
  if (!data.scales.empty()) args.quantization = &quantization;
  args.pool = &pool;
  Outputs outputs;
  for (int i = 0; i < kMostOperands; ++i)
    outputs.memory.emplace_back(static_cast<size_t>(sizes.out[i]) * byte_size(out_type(problem, i)));
  for (int i = 0; i < kMostOperands; ++i)
    if (sizes.out[i]) args.out[i] = outputs.memory[static_cast<size_t>(i)].data();
  Guarded packed(packed_bytes(row, problem)), workspace(workspace_bytes(row, problem, threads));
  if (packed_bytes(row, problem)) {
    const void* weights[kMostWeights];
    for (size_t i = 0; i < kMostWeights; ++i) weights[i] = filters[i].pointer();
    if (!weights[0]) weights[0] = &nothing;
    row.prepack(problem, std::span<const void* const>(weights), packed.data());
    args.packed = packed.data();
  }
  args.workspace = workspace.data();
  row.run(problem, args);
  EXPECT_TRUE(packed.intact()) << row.name << ": packing wrote outside its bytes";
  EXPECT_TRUE(workspace.intact()) << row.name << ": wrote outside its workspace, threads " << threads;
  for (Guarded& g : outputs.memory) EXPECT_TRUE(g.intact()) << row.name << ": wrote outside an output";
  return outputs;
}

void check_row(const KernelRow& row, const Problem& problem, const Data& data, const Expected& expected, bool integers,
               const Options& options) {
  OperandSizes sizes = operand_sizes(problem);
  Outputs one = run_row(row, problem, data, 1);
  for (int i = 0; i < kMostOperands; ++i) {
    if (!sizes.out[i]) continue;
    std::vector<double> bound = expected.bound[i];
    if (row.numerics == Numerics::winograd_bf16) bound = expected.bound_of_transforms;
    else if (row.numerics != Numerics::exact && !integers)
      for (double& b : bound) b *= 8;
    compare(row.name, one.values(i, out_type(problem, i), sizes.out[i]), expected.out[i], bound, out_type(problem, i),
            (integers ? "integers " : "reals ") + text(problem));
  }
  for (int threads : options.threads) {
    Outputs more = run_row(row, problem, data, threads);
    for (int i = 0; i < kMostOperands; ++i) {
      if (!sizes.out[i]) continue;
      auto which = static_cast<size_t>(i);
      size_t bytes = static_cast<size_t>(sizes.out[i]) * byte_size(out_type(problem, i));
      EXPECT_EQ(std::memcmp(one.memory[which].data(), more.memory[which].data(), bytes), 0)
          << row.name << ": other bits with " << threads << " threads, " << text(problem);
    }
  }
}

}  // namespace

static bool takes_integers(const Problem& problem) {
  const OpKind op = op_kind(problem);
  return op == OpKind::pool || op == OpKind::resize || op == OpKind::activation || op == OpKind::binary ||
         op == OpKind::reduce;
}

void check_rows(const Problem& problem, const Oracle& oracle, const Options& options) {
  std::mt19937_64 random(seed() + hash(problem));
  int fitting = 0;
  for (bool integers : {true, false}) {
    if (integers && !options.integers) continue;
    Data data = make_data(problem, integers, random);
    if (options.adjust) options.adjust(data);
    if (type_of(problem) != DType::f32 && types_of(problem).are_f32()) round_inputs(problem, data);
    Expected expected = oracle(problem, data);
    round_outputs(problem, integers, expected);
    if (integers)
      for (auto& bound : expected.bound) std::fill(bound.begin(), bound.end(), 0.0);
    for (const KernelRow* row : rows_of(op_kind(problem))) {
      if (!runs_here(*row) || misfit(*row, problem)) continue;
      ++fitting;
      if (integers && (row->numerics == Numerics::winograd || row->numerics == Numerics::winograd_bf16))
        continue;  // its transforms are not of integers
      check_row(*row, problem, data, expected, integers, options);
    }
  }
  EXPECT_GE(fitting, options.least_rows) << "rows for " << text(problem);
  if (!options.narrow || type_of(problem) != DType::f32) return;
  for (DType type : {DType::f16, DType::bf16, DType::i8, DType::u8}) {
    const Problem narrow = with_type(problem, type);
    if (narrow == problem || (byte_size(type) == 1 && (options.adjust || !takes_integers(problem)))) continue;
    Options own = options;
    own.least_rows = 1;
    own.threads = {7};
    check_rows(narrow, oracle, own);
  }
}

namespace {
void set_type(PoolBackwardProblem& p, DType type) { p.forward.type = type; }
void set_type(ConvWeightsProblem& p, DType type) { p.forward.types = {type, type, type}; }
void set_type(BinaryProblem& p, DType type) { p.type = p.b_type = type; }
void set_type(TransformProblem&, DType) {}
template <class P>
void set_type(P& p, DType type) {
  if constexpr (requires { p.type; }) p.type = type;
}
}  // namespace

Problem with_type(const Problem& problem, DType type) {
  Problem narrow = problem;
  std::visit([&](auto& p) { set_type(p, type); }, narrow);
  return narrow;
}

namespace {

float activate_f32(const Epilogue& e, float x) {
  switch (e.activation) {
    case Activation::relu: return std::max(x, 0.f);
    case Activation::clip: return std::min(std::max(x, e.alpha), e.beta);
    case Activation::leaky_relu: return x < 0 ? x * e.alpha : x;
    default: return x;
  }
}

// What the output's type makes of x, whose error is at most `bound`: a tie within reach may go either way.
Bounded quantize(DType type, const Quantization& q, double x, double bound) {
  double low = (type == DType::i8 ? -128 : 0) - q.out_zero, high = (type == DType::i8 ? 127 : 255) - q.out_zero;
  double y = bound == 0 ? static_cast<float>(x) * q.out_multiplier : x * q.out_multiplier;
  double reach = bound * q.out_multiplier + (bound == 0 ? 0 : 4 * kEps * std::abs(y));
  double lowest = std::nearbyint(std::clamp(y - reach, low, high)),
         highest = std::nearbyint(std::clamp(y + reach, low, high));
  return {(lowest + highest) / 2 + q.out_zero, (highest - lowest) / 2};
}

}  // namespace

Bounded finish_integers(const ElementTypes& types, Quantization q, float scale, Epilogue e, double sum, double bias,
                        double residual) {
  if (types.bias == DType::i32) sum += bias, bias = 0;
  if (types.out == DType::i32) return {sum, 0};
  bool bytes = types.out != DType::f32;
  if (bytes && e.activation <= Activation::clip) {
    scale *= q.out_multiplier, q.residual_scale *= q.out_multiplier;
    bias = static_cast<float>(bias) * q.out_multiplier;
    if (e.activation == Activation::clip) e.alpha *= q.out_multiplier, e.beta *= q.out_multiplier;
    q.out_multiplier = 1;
  }
  float r = bytes ? (static_cast<float>(residual) - static_cast<float>(q.residual_zero)) * q.residual_scale
                  : static_cast<float>(residual);
  float x = static_cast<float>(static_cast<int32_t>(sum)) * scale;
  x = x + static_cast<float>(bias);
  if (e.residual == Residual::before_activation) x = x + r;
  bool exact = e.activation <= Activation::leaky_relu;
  if (!exact) {
    Epilogue alone = e;
    if (e.residual == Residual::before_activation) alone.residual = Residual::none, r = 0;
    Bounded y = finish(alone, x, 0, 0, r);
    return bytes ? quantize(types.out, q, y.value, y.bound) : y;
  }
  x = activate_f32(e, x);
  if (e.residual == Residual::after_activation) x = x + r;
  return bytes ? quantize(types.out, q, x, 0) : Bounded{x, 0};
}

Bounded finish(const Epilogue& e, double sum, double bound, double bias, double residual) {
  double x = sum + bias + (e.residual == Residual::before_activation ? residual : 0);
  double slope = e.activation == Activation::hardswish || e.activation == Activation::silu ? 1.6 : 1.2;
  if (e.activation == Activation::leaky_relu || e.activation == Activation::hardsigmoid)
    slope = std::max(1.0, std::abs(static_cast<double>(e.alpha)));
  double y = apply(e.activation, x, e.alpha, e.beta);
  double own = 0;  // error of the activation's formula: absolute for the bounded functions times the factor x
  switch (e.activation) {
    case Activation::sigmoid:
    case Activation::tanh: own = 8 * kEps; break;
    case Activation::silu:
    case Activation::hardswish:
    case Activation::gelu:
    case Activation::gelu_tanh: own = 8 * kEps * (1 + std::abs(x)); break;
    case Activation::hardsigmoid: own = 4 * kEps * (1 + std::abs(x)); break;
    default: break;
  }
  double input_error = bound + 2 * kEps * (std::abs(sum) + std::abs(bias) + std::abs(residual));
  if (e.residual == Residual::after_activation) y += residual;
  return {y, slope * input_error + own + 2 * kEps * std::abs(y)};
}

}  // namespace trine::dnn::test
