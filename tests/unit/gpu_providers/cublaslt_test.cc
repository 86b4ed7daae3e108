// Rows of cuBLASLt against plain loops in f64.
#include <cmath>
#include <functional>
#include <numeric>

#include "plan/device/device_target.h"
#include "plan/device/row_times.h"
#include "provided.h"

namespace trine::test {
namespace {

using dnn::Activation;
using dnn::MatmulProblem;
using dnn::Residual;

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

struct Data {
  std::vector<double> a, b, bias, residual;
};

using Maker = std::vector<double> (*)(size_t, std::mt19937_64&);

size_t out_elements(const MatmulProblem& p) {
  const int64_t row = p.out_row_stride ? p.out_row_stride : p.n;
  return static_cast<size_t>(product(dnn::batch_of(p)) * p.m * row);
}

Data data_of(const MatmulProblem& p, Maker make, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto size = [](int64_t count) { return static_cast<size_t>(count); };
  return {rounded(p.types.in, make(size(product(p.a_batch) * p.m * p.k), random)),
          rounded(p.types.weights, make(size(product(p.b_batch) * p.k * p.n), random)), make(size(p.n), random),
          rounded(p.types.out, make(out_elements(p), random))};
}

// Each result, and how far from it a kernel may be; what lies between rows keeps the poison.
void compare(const MatmulProblem& p, const Data& data, const std::vector<double>& poison,
             const std::vector<double>& got, double product_error, bool exact) {
  const int64_t batches = product(dnn::batch_of(p)), row = p.out_row_stride ? p.out_row_stride : p.n;
  const int64_t a_step = product(p.a_batch) == 1 ? 0 : p.m * p.k, b_step = product(p.b_batch) == 1 ? 0 : p.k * p.n;
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < row; ++j) {
        const auto at = static_cast<size_t>((batch * p.m + i) * row + j);
        if (j >= p.n) {
          ASSERT_EQ(got[at], poison[at]) << "between rows, at " << at;
          continue;
        }
        double sum = 0, size = 0;
        for (int64_t t = 0; t < p.k; ++t) {
          const int64_t in_a = batch * a_step + (p.trans_a ? t * p.m + i : i * p.k + t);
          const int64_t in_b = batch * b_step + (p.trans_b ? j * p.k + t : t * p.n + j);
          const double term = data.a[static_cast<size_t>(in_a)] * data.b[static_cast<size_t>(in_b)];
          sum += term;
          size += std::fabs(term);
        }
        double x = p.alpha * sum, slack = std::fabs(p.alpha) * size * product_error;
        if (p.epilogue.bias) {
          x += data.bias[static_cast<size_t>(j)];
          slack += std::fabs(data.bias[static_cast<size_t>(j)]) * half_ulp(p.types.out);
        }
        if (p.epilogue.residual != Residual::none) x += data.residual[at];
        const double want = dnn::apply(p.epilogue.activation, x, 0, 0);
        // Slopes are below 1.2; gelu itself is computed to 2^-10, as cuBLASLt approximates tanh.
        slack = 1.2 * slack + half_ulp(p.types.out) * std::fabs(want) + 1e-6;
        if (p.epilogue.activation == Activation::gelu_tanh) slack += 0x1p-10 * std::max(1.0, std::fabs(want));
        ASSERT_LE(std::fabs(got[at] - want), exact ? 0 : slack) << "batch " << batch << " row " << i << " column " << j;
      }
}

// Returns whether the library had a way.
bool check(const std::string& row, const MatmulProblem& p, size_t skip, bool exact) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(dnn::text(p) + ", " + row + ", seed " + std::to_string(seed));
  std::string why;
  const auto call = provided(row, p, why);
  EXPECT_EQ(why, "");
  if (!call) return false;
  const Data data = data_of(p, exact ? small_integers : random_values, seed);
  compute::Stream stream = device().create_stream();
  const std::vector<double> poison(out_elements(p), 77);
  const DeviceArray a(stream, p.types.in, data.a, skip), b(stream, p.types.weights, data.b, skip);
  const DeviceArray bias(stream, DType::f32, data.bias), residual(stream, p.types.out, data.residual, skip);
  DeviceArray y(stream, p.types.out, poison, skip);
  run(*call, {.x = &a, .weights = &b, .bias = &bias, .residual = &residual, .y = &y}, stream);
  // Sums of K terms in f32, in any order; tf32 keeps 11 bits of each factor.
  const double tf32 = row.find("tf32") == std::string::npos ? 0 : 2 * 0x1p-11;
  compare(p, data, poison, y.values(stream), (static_cast<double>(p.k) + 8) * 0x1p-24 + tf32, exact);
  return true;
}

MatmulProblem problem(int64_t m, int64_t n, int64_t k, DType in, DType out) {
  MatmulProblem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.types = {.in = in, .weights = in, .out = out};
  return p;
}

struct Kind {
  const char* row;
  DType in, out;
};
constexpr Kind kKinds[] = {{"f16", DType::f16, DType::f16},    {"f16", DType::f16, DType::f32},
                           {"bf16", DType::bf16, DType::bf16}, {"bf16", DType::bf16, DType::f32},
                           {"f32", DType::f32, DType::f32},    {"tf32", DType::f32, DType::f32}};

class CublasLt : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    std::string why;
    if (!provided(row(0), problem(16, 16, 16, GetParam().in, GetParam().out), why))
      GTEST_SKIP() << "not run: " << (why.empty() ? "cuBLASLt has no way" : why);
  }
  static std::string row(int choice) {
    return std::string("matmul_") + GetParam().row + "_cublaslt_" + std::to_string(choice);
  }
  static MatmulProblem sized(int64_t m, int64_t n, int64_t k) {
    return problem(m, n, k, GetParam().in, GetParam().out);
  }
};

TEST_P(CublasLt, SizesAndTransposes) {
  int done = 0;
  for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{31, 33, 17}, std::array{64, 96, 32}, std::array{1, 128, 64}})
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true}) {
        MatmulProblem p = sized(m, n, k);
        p.trans_a = trans_a;
        p.trans_b = trans_b;
        for (bool exact : {true, false}) done += check(row(0), p, 0, exact);
      }
  EXPECT_GT(done, 8);
}

TEST_P(CublasLt, Epilogues) {
  int done = 0;
  for (Activation f : {Activation::none, Activation::relu, Activation::gelu_tanh})
    for (bool bias : {false, true})
      for (bool residual : {false, true}) {
        MatmulProblem p = sized(24, 40, 48);
        p.alpha = 0.5f;
        p.epilogue = {
            .bias = bias, .residual = residual ? Residual::before_activation : Residual::none, .activation = f};
        done += check(row(0), p, 0, false);
      }
  EXPECT_GT(done, 4);
}

TEST_P(CublasLt, BatchesStridesAndOddAddresses) {
  for (const Dims& b_batch : {Dims{}, Dims{2, 3}}) {
    MatmulProblem p = sized(16, 24, 8);
    p.a_batch = {2, 3};
    p.b_batch = b_batch;
    p.out_row_stride = 32;
    check(row(0), p, 0, true);
    check(row(0), p, 1, true);  // one element behind what is aligned
  }
}

TEST_P(CublasLt, SuggestionsAreCandidates) {
  EXPECT_TRUE(check(row(1), sized(512, 384, 256), 0, false));
  if (!is_gpu()) {
    EXPECT_FALSE(check(row(2), sized(64, 64, 64), 0, false));  // it pretends to know two
  }
}

TEST_P(CublasLt, ConvolutionsOfOneTap) {
  dnn::ConvProblem conv;
  conv.n = 2;
  conv.in = conv.out = {1, 3, 5};
  conv.in_channels = 16;
  conv.out_channels = 24;
  conv.types = {.in = GetParam().in, .weights = GetParam().in, .out = GetParam().out};
  std::string why;
  const std::string name = std::string("conv_") + GetParam().row + "_cublaslt_0";
  const auto call = provided(name, conv, why);
  ASSERT_TRUE(call) << why;
  MatmulProblem p = sized(2 * 3 * 5, 24, 16);
  p.trans_b = true;
  const Data data = data_of(p, small_integers, 5);
  compute::Stream stream = device().create_stream();
  const std::vector<double> poison(out_elements(p), 77);
  const DeviceArray x(stream, p.types.in, data.a), w(stream, p.types.weights, data.b);
  DeviceArray y(stream, p.types.out, poison);
  run(*call, {.x = &x, .weights = &w, .y = &y}, stream);
  compare(p, data, poison, y.values(stream), 0, true);
  conv.kernel = {1, 3, 3};
  EXPECT_FALSE(provided(name, conv, why));
  EXPECT_NE(why, "");
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  return std::string(info.param.row) + "_to_" + std::string(name(info.param.out));
}
INSTANTIATE_TEST_SUITE_P(Types, CublasLt, testing::ValuesIn(kKinds), name_of);

TEST(Providers, CanBeSwitchedOff) {
  device();
  const MatmulProblem p = problem(64, 64, 64, DType::f16, DType::f16);
  const dnn::DeviceChoice off = dnn::find_on_device(p, dnn::traits_of(device()), {.tf32 = true, .providers = false});
  for (const dnn::DeviceCandidate& c : off.candidates) EXPECT_EQ(c.row->provide, nullptr) << c.row->name;
  const auto refused = std::count_if(off.refusals.begin(), off.refusals.end(),
                                     [](const auto& r) { return r.second == "providers are switched off"; });
  EXPECT_GE(refused, 12);
}

TEST(Providers, WhatCublasLtCannotDoIsRefused) {
  std::string why;
  MatmulProblem p = problem(8, 8, 8, DType::f16, DType::f16);
  p.epilogue.activation = Activation::gelu;  // cuBLASLt's is tanh's
  EXPECT_FALSE(provided("matmul_f16_cublaslt_0", p, why));
  p.epilogue = {.residual = Residual::after_activation, .activation = Activation::relu};
  EXPECT_FALSE(provided("matmul_f16_cublaslt_0", p, why));
  EXPECT_EQ(why, "a residual after the activation");
  p.epilogue = {};
  p.a_batch = {2, 1};
  p.b_batch = {1, 3};
  EXPECT_FALSE(provided("matmul_f16_cublaslt_0", p, why));
  p = problem(0, 8, 8, DType::f16, DType::f16);
  EXPECT_FALSE(provided("matmul_f16_cublaslt_0", p, why));
}

// Its times belong to a version of the library, those of our rows do not.
TEST(Providers, AreTimedBesideOwnRows) {
  const DeviceTarget target(device());
  dnn::Timings timings;
  timings.seconds_left = 60;
  const RowTimes times(target, timings);
  MatmulProblem p = problem(16, 24, 32, DType::f16, DType::f16);
  p.b_constant = true;
  dnn::DeviceChoice choice = dnn::find_on_device(p, target.traits());
  times.measure(p, choice);
  EXPECT_TRUE(timings.failures().empty()) << timings.failures().begin()->second;
  int own = 0, theirs = 0;
  for (const dnn::DeviceCandidate& c : choice.candidates) {
    const bool is_theirs = c.row->provide != nullptr;
    EXPECT_EQ(times.machine(*c.row).find(", cublaslt ") != std::string::npos, is_theirs);
    if (timings.find_on(times.machine(*c.row), p, c.row->name)) ++(is_theirs ? theirs : own);
  }
  EXPECT_GE(own, 2);
  EXPECT_GE(theirs, 1);
  EXPECT_EQ(timings.measured, own + theirs);
  times.order(p, choice);
  for (size_t i = 1; i < static_cast<size_t>(timings.measured); ++i)
    EXPECT_LE(choice.candidates[i - 1].seconds, choice.candidates[i].seconds);
}

}  // namespace
}  // namespace trine::test
