#include "check_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "trine/base/thread_pool.h"
#include "trine/base/tensor.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 1.0 / (1 << 24);  // of f32, half a unit in the last place of 1
constexpr size_t kGuard = 256;

uint64_t seed() {
  static const uint64_t value = [] {
    const char* given = std::getenv("TRINE_SEED");
    uint64_t s = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::printf("TRINE_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return value;
}

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

Data make_data(const Problem& problem, bool integers, std::mt19937_64& random) {
  OperandSizes sizes = operand_sizes(problem);
  std::uniform_int_distribution<int> small(-3, 3);
  std::normal_distribution<float> normal;
  auto fill = [&](Floats& v, int64_t n) {
    v.resize(static_cast<size_t>(n));
    for (float& x : v) x = integers ? static_cast<float>(small(random)) : normal(random);
  };
  Data data;
  for (int i = 0; i < kMostOperands; ++i) {
    if (sizes.integers[i]) data.integers[i].assign(static_cast<size_t>(sizes.in[i]), *sizes.integers[i]);
    else fill(data.in[i], sizes.in[i]);
  }
  for (int i = 0; i < kMostWeights; ++i) fill(data.weights[i], sizes.weights[i]);
  fill(data.bias, sizes.bias);
  fill(data.residual, sizes.residual);
  return data;
}

template <class T>
const void* pointer(const std::vector<T>& v) { return v.empty() ? nullptr : v.data(); }

struct Outputs {
  std::vector<Guarded> memory;
  Floats out(int i, int64_t n) {
    Floats v(static_cast<size_t>(n));
    std::memcpy(v.data(), memory[static_cast<size_t>(i)].data(), v.size() * sizeof(float));
    return v;
  }
};

Outputs run_row(const KernelRow& row, const Problem& problem, const Data& data, int threads) {
  ThreadPool pool(threads);
  OperandSizes sizes = operand_sizes(problem);
  Args args;
  for (int i = 0; i < kMostOperands; ++i)
    args.in[i] = sizes.integers[i] ? pointer(data.integers[i]) : pointer(data.in[i]);
  if (!data.mask.empty()) args.in[3] = data.mask.data();
  args.bias = static_cast<const float*>(pointer(data.bias));
  args.residual = static_cast<const float*>(pointer(data.residual));
  args.pool = &pool;
  Outputs outputs;
  for (int i = 0; i < kMostOperands; ++i) outputs.memory.emplace_back(static_cast<size_t>(sizes.out[i]) * sizeof(float));
  for (int i = 0; i < kMostOperands; ++i)
    if (sizes.out[i]) args.out[i] = outputs.memory[static_cast<size_t>(i)].data();
  Guarded packed(packed_bytes(row, problem)), workspace(workspace_bytes(row, problem, threads));
  if (packed_bytes(row, problem)) {
    const void* weights[kMostWeights];
    for (int i = 0; i < kMostWeights; ++i) weights[i] = pointer(data.weights[i]);
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

// The number of elements past their bound, with the worst one described.
void compare(const KernelRow& row, const Floats& got, const std::vector<double>& want, const std::vector<double>& bound,
             const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  size_t bad = 0, first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double g = got[i], w = want[i];
    bool same = (std::isnan(g) && std::isnan(w)) || g == w || std::abs(g - w) <= bound[i];
    if (!same && bad++ == 0) first = i;
  }
  EXPECT_EQ(bad, 0u) << row.name << " " << what << ": element " << first << " of " << got.size() << " is " << got[first]
                     << ", should be " << want[first] << " +- " << bound[first];
}

void check_row(const KernelRow& row, const Problem& problem, const Data& data, const Expected& expected,
               bool integers) {
  OperandSizes sizes = operand_sizes(problem);
  Outputs one = run_row(row, problem, data, 1);
  for (int i = 0; i < kMostOperands; ++i) {
    if (!sizes.out[i]) continue;
    std::vector<double> bound = expected.bound[i];
    if (row.numerics == Numerics::winograd && !integers)
      for (double& b : bound) b *= 8;
    compare(row, one.out(i, sizes.out[i]), expected.out[i], bound, (integers ? "integers " : "reals ") + text(problem));
  }
  for (int threads : {2, 3}) {
    Outputs more = run_row(row, problem, data, threads);
    for (int i = 0; i < kMostOperands; ++i) {
      if (!sizes.out[i]) continue;
      Floats a = one.out(i, sizes.out[i]), b = more.out(i, sizes.out[i]);
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0)
          << row.name << ": other bits with " << threads << " threads, " << text(problem);
    }
  }
}

}  // namespace

void check_rows(const Problem& problem, const Oracle& oracle, const Options& options) {
  std::mt19937_64 random(seed() + hash(problem));
  int fitting = 0;
  for (bool integers : {true, false}) {
    if (integers && !options.integers) continue;
    Data data = make_data(problem, integers, random);
    if (options.adjust) options.adjust(data);
    Expected expected = oracle(problem, data);
    if (integers)
      for (auto& bound : expected.bound) std::fill(bound.begin(), bound.end(), 0.0);
    for (const KernelRow* row : rows_of(op_kind(problem))) {
      if (row->needs > cpu_level() || row->fits(problem)) continue;
      ++fitting;
      if (integers && row->numerics == Numerics::winograd) continue;  // its transforms are not of integers
      check_row(*row, problem, data, expected, integers);
    }
  }
  EXPECT_GE(fitting, options.least_rows) << "rows for " << text(problem);
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
    case Activation::tanh:
      own = 8 * kEps;
      break;
    case Activation::silu:
    case Activation::hardswish:
    case Activation::gelu:
    case Activation::gelu_tanh:
      own = 8 * kEps * (1 + std::abs(x));
      break;
    case Activation::hardsigmoid:
      own = 4 * kEps * (1 + std::abs(x));
      break;
    default:
      break;
  }
  double input_error = bound + 2 * kEps * (std::abs(sum) + std::abs(bias) + std::abs(residual));
  if (e.residual == Residual::after_activation) y += residual;
  return {y, slope * input_error + own + 2 * kEps * std::abs(y)};
}

}  // namespace trine::dnn::test
