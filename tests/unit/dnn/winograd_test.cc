// Winograd's rows against the bound that docs/dnn.md states, element by element, and beside the errors of direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/float_formats.h"
#include "check_rows.h"
#include "trine/base/tensor.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
constexpr ElementTypes kBf16{DType::bf16, DType::bf16, DType::bf16};
constexpr double kAl = M_SQRT1_2, kBe = M_SQRT2;

// y = A^T [(G w G^T) * (B^T x B)] A for tiles of m x m outputs.
struct Matrices {
  size_t m, a;
  std::vector<std::vector<double>> at, bt, g;
};
const Matrices kTwo = {2,
                       4,
                       {{1, 1, 1, 0}, {0, 1, -1, -1}},
                       {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                       {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}};
const Matrices kFour = {4,
                        6,
                        {{1, 1, 1, 1, 1, 0},
                         {0, kAl, -kAl, kBe, -kBe, 0},
                         {0, .5, .5, 2, 2, 0},
                         {0, kAl / 2, -kAl / 2, 2 * kBe, -2 * kBe, 1}},
                        {{1, 0, -2.5, 0, 1, 0},
                         {0, -2 * kAl, -2, kAl, 1, 0},
                         {0, 2 * kAl, -2, -kAl, 1, 0},
                         {0, -.5 * kBe, -.5, kBe, 1, 0},
                         {0, .5 * kBe, -.5, -kBe, 1, 0},
                         {0, 1, 0, -2.5, 0, 1}},
                        {{1, 0, 0},
                         {-2. / 3, -2. / 3 * kAl, -1. / 3},
                         {-2. / 3, 2. / 3 * kAl, -1. / 3},
                         {1. / 6, kBe / 6, 1. / 3},
                         {1. / 6, -kBe / 6, 1. / 3},
                         {0, 0, 1}}};

using Plane = std::vector<double>;

// l x r^T of a square x, or the same of absolute values.
Plane both_sides(const std::vector<std::vector<double>>& l, const Plane& x, bool absolute) {
  const size_t rows = l.size(), n = l[0].size();
  const auto size = [&](double v) { return absolute ? std::abs(v) : v; };
  Plane half(rows * n), out(rows * rows);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k) half[i * n + j] += size(l[i][k]) * size(x[k * n + j]);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < rows; ++j)
      for (size_t k = 0; k < n; ++k) out[i * rows + j] += half[i * n + k] * size(l[j][k]);
  return out;
}

// Of every output, by the formula: its value and the sum of magnitudes that the bound multiplies.
struct Results {
  Plane value, magnitude;
};
Results by_formula(const Matrices& w, const ConvProblem& p, const Floats& x, const Floats& filters) {
  const auto in = static_cast<size_t>(p.in_channels), out = static_cast<size_t>(p.out_channels);
  Results r;
  r.value.resize(static_cast<size_t>(p.n * p.out[1] * p.out[2] * p.out_channels));
  r.magnitude = r.value;
  std::vector<Plane> u, u_size;
  for (size_t i = 0; i < in * out; ++i) {
    const Plane filter(filters.begin() + static_cast<long>(i * 9), filters.begin() + static_cast<long>(i * 9 + 9));
    u.push_back(both_sides(w.g, filter, false)), u_size.push_back(both_sides(w.g, filter, true));
  }
  const auto m = static_cast<int64_t>(w.m), a = static_cast<int64_t>(w.a);
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t ty = 0; ty < p.out[1]; ty += m)
      for (int64_t tx = 0; tx < p.out[2]; tx += m) {
        std::vector<Plane> v, v_size;
        for (size_t c = 0; c < in; ++c) {
          Plane tile(w.a * w.a);
          for (int64_t i = 0; i < a * a; ++i) {
            const int64_t y = ty + i / a - p.pad_begin[1], z = tx + i % a - p.pad_begin[2];
            if (y >= 0 && y < p.in[1] && z >= 0 && z < p.in[2])
              tile[static_cast<size_t>(i)] =
                  x[static_cast<size_t>(((n * p.in[1] + y) * p.in[2] + z) * p.in_channels) + c];
          }
          v.push_back(both_sides(w.bt, tile, false)), v_size.push_back(both_sides(w.bt, tile, true));
        }
        for (size_t k = 0; k < out; ++k) {
          Plane sum(w.a * w.a), sum_size(w.a * w.a);
          for (size_t c = 0; c < in; ++c)
            for (size_t q = 0; q < sum.size(); ++q) {
              sum[q] += u[k * in + c][q] * v[c][q];
              sum_size[q] += u_size[k * in + c][q] * v_size[c][q];
            }
          const Plane y = both_sides(w.at, sum, false), y_size = both_sides(w.at, sum_size, true);
          for (int64_t i = 0; i < m * m; ++i) {
            const int64_t oy = ty + i / m, ox = tx + i % m;
            if (oy >= p.out[1] || ox >= p.out[2]) continue;
            const auto at = static_cast<size_t>(((n * p.out[1] + oy) * p.out[2] + ox) * p.out_channels) + k;
            r.value[at] = y[static_cast<size_t>(i)], r.magnitude[at] = y_size[static_cast<size_t>(i)];
          }
        }
      }
  return r;
}

// To the numbers that `type` has, and as its bytes; back.
void round(DType type, Floats& values) {
  if (type == DType::f32) return;
  for (float& v : values) v = static_cast<float>(round_to(type, v));
}
Tensor tensor_of(DType type, const Floats& values) {
  Tensor t(type, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    if (type == DType::f32) t.mutable_as<float>()[i] = values[i];
    else t.mutable_as<uint16_t>()[i] = small_float_bits(type, values[i]);
  return t;
}
Floats floats_of(const Tensor& t) {
  Floats values(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = t.dtype() == DType::f32 ? t.as<float>()[i]
                                        : static_cast<float>(small_float_value(t.dtype(), t.as<uint16_t>()[i]));
  return values;
}

Floats run(const KernelRow& row, const ConvProblem& p, const Floats& x_values, const Floats& w_values) {
  const Tensor x = tensor_of(p.types.in, x_values), w = tensor_of(p.types.weights, w_values);
  Tensor y = tensor_of(p.types.out, Floats(static_cast<size_t>(operand_sizes(p).out[0]), NAN));
  Tensor packed(DType::u8, {static_cast<int64_t>(packed_bytes(row, p))});
  Tensor workspace(DType::u8, {static_cast<int64_t>(workspace_bytes(row, p, 1))});
  const void* list[kMostWeights] = {w.data()};
  row.prepack(p, std::span<const void* const>(list), packed.mutable_data());
  Args args;
  args.in[0] = x.data(), args.out[0] = y.mutable_data(), args.packed = packed.data(),
  args.workspace = workspace.mutable_data();
  row.run(p, args);
  return floats_of(y);
}

ConvProblem conv(int64_t n, int64_t height, int64_t width, int64_t in, int64_t out, int64_t pad) {
  ConvProblem p{.n = n, .in_channels = in, .out_channels = out, .in = {1, height, width}, .kernel = {1, 3, 3}};
  p.pad_begin = {0, pad, pad}, p.out = {1, height + 2 * pad - 2, width + 2 * pad - 2};
  return p;
}

ConvProblem of_bf16(ConvProblem p) {
  p.types = kBf16;
  return p;
}

bool is_winograd(const KernelRow& row) {
  return row.numerics == Numerics::winograd || row.numerics == Numerics::winograd_bf16;
}

// What docs/dnn.md promises of an output y.
double bound(const KernelRow& row, const ConvProblem& p, double y, double magnitude) {
  const auto channels = static_cast<double>(p.in_channels);
  const double sums =
      row.numerics == Numerics::winograd_bf16 ? 0x1p-7 + 0x1p-16 + (channels + 24) * 0x1p-23 : (channels + 24) * kEps;
  const double half_unit = p.types.out == DType::bf16 ? 0x1p-8 : 0;
  return sums * magnitude + half_unit * (std::abs(y) + sums * magnitude);
}

bool is_of(const KernelRow& row, const Matrices& w) {
  return row.name.find(w.m == 2 ? "winograd2x" : "winograd4x") != std::string_view::npos;
}

TEST(Winograd, KeepsItsBound) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (const ConvProblem& p : {conv(2, 9, 10, 16, 17, 1), conv(1, 13, 6, 40, 16, 0), conv(1, 7, 7, 200, 16, 1),
                               of_bf16(conv(2, 9, 10, 16, 17, 1)), of_bf16(conv(1, 7, 7, 200, 16, 1))}) {
    const OperandSizes sizes = operand_sizes(p);
    Floats x(static_cast<size_t>(sizes.in[0])), w(static_cast<size_t>(sizes.weights[0]));
    for (float& v : x) v = normal(random) * std::exp(2 * normal(random));  // large beside small
    for (float& v : w) v = normal(random) * std::exp(2 * normal(random));
    round(p.types.in, x), round(p.types.weights, w);
    Data data;
    data.in[0] = x, data.weights[0] = w;
    const Plane want = conv_oracle(p, data).out[0];
    for (const Matrices& matrices : {kTwo, kFour}) {
      const Results r = by_formula(matrices, p, x, w);
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(r.value[i], want[i], 1e-12 * r.magnitude[i]);
      int rows = 0;
      for (const KernelRow* row : rows_of(OpKind::conv)) {
        if (!runs_here(*row) || !is_winograd(*row) || !is_of(*row, matrices) || misfit(*row, p)) continue;
        ++rows;
        const Floats y = run(*row, p, x, w);
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_LE(std::abs(y[i] - want[i]), bound(*row, p, want[i], r.magnitude[i]))
              << row->name << " element " << i << " " << text(p);
      }
      if (cpu_level() >= CpuLevel::avx2 && p.types.are_f32()) {
        EXPECT_GT(rows, 0);
      }
    }
  }
}

// "Its error is that of a direct sum": the root of the mean square of errors, on normal data.
TEST(Winograd, ErrsAsDirectSumsDo) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const ConvProblem p = conv(1, 14, 14, 128, 32, 1);
  const OperandSizes sizes = operand_sizes(p);
  Floats x(static_cast<size_t>(sizes.in[0])), w(static_cast<size_t>(sizes.weights[0]));
  for (float& v : x) v = normal(random);
  for (float& v : w) v = normal(random);
  Data data;
  data.in[0] = x, data.weights[0] = w;
  const Plane want = conv_oracle(p, data).out[0];
  const auto error_of = [&](const Floats& y) {
    double squares = 0;
    for (size_t i = 0; i < want.size(); ++i) squares += (y[i] - want[i]) * (y[i] - want[i]);
    return std::sqrt(squares / static_cast<double>(want.size()));
  };
  // One sum after another, as the definition reads.
  Floats direct(want.size(), 0);
  for (int64_t i = 0; i < p.out[1] * p.out[2]; ++i)
    for (int64_t k = 0; k < p.out_channels; ++k)
      for (int64_t t = 0; t < 9; ++t)
        for (int64_t c = 0; c < p.in_channels; ++c) {
          const int64_t y = i / p.out[2] + t / 3 - 1, z = i % p.out[2] + t % 3 - 1;
          if (y >= 0 && y < p.in[1] && z >= 0 && z < p.in[2])
            direct[static_cast<size_t>(i * p.out_channels + k)] +=
                x[static_cast<size_t>((y * p.in[2] + z) * p.in_channels + c)] *
                w[static_cast<size_t>((k * p.in_channels + c) * 9 + t)];
        }
  const double of_direct = error_of(direct);
  for (const KernelRow* row : rows_of(OpKind::conv)) {
    if (!runs_here(*row) || !is_winograd(*row) || misfit(*row, p)) continue;
    EXPECT_LT(error_of(run(*row, p, x, w)), 2 * of_direct) << row->name;
    RecordProperty(std::string(row->name), std::to_string(error_of(run(*row, p, x, w)) / of_direct));
    std::printf("%.*s: %.2f of a direct sum's error\n", static_cast<int>(row->name.size()), row->name.data(),
                error_of(run(*row, p, x, w)) / of_direct);
  }
}

// What docs/dnn.md says of bf16, on normal data and behind a ReLU; the direct convolution rounds its sum once.
TEST(Winograd, ErrsOfBf16AreSoManyTimesDirectOnes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const ConvProblem p = of_bf16(conv(1, 16, 16, 64, 32, 1));
  for (bool relu : {false, true}) {
    const OperandSizes sizes = operand_sizes(p);
    Data data;
    Floats &x = data.in[0], &w = data.weights[0];
    x.resize(static_cast<size_t>(sizes.in[0])), w.resize(static_cast<size_t>(sizes.weights[0]));
    for (float& v : x) v = relu ? std::max(normal(random), 0.f) : normal(random);
    for (float& v : w) v = normal(random);
    round(DType::bf16, x), round(DType::bf16, w);
    const Plane want = conv_oracle(p, data).out[0];
    const auto error_of = [&](const auto& y_of) {
      double squares = 0;
      for (size_t i = 0; i < want.size(); ++i) squares += std::pow(y_of(i) - want[i], 2);
      return std::sqrt(squares / static_cast<double>(want.size()));
    };
    const double of_direct = error_of([&](size_t i) { return round_to(DType::bf16, want[i]); });
    for (const KernelRow* row : rows_of(OpKind::conv)) {
      if (!runs_here(*row) || !is_winograd(*row) || misfit(*row, p)) continue;
      const Floats y = run(*row, p, x, w);
      const double times = error_of([&](size_t i) { return static_cast<double>(y[i]); }) / of_direct;
      EXPECT_LT(times, row->numerics == Numerics::winograd ? 1.01 : 3) << row->name;
      std::printf("%.*s: %.2f of a direct convolution's error%s\n", static_cast<int>(row->name.size()),
                  row->name.data(), times, relu ? ", behind a ReLU" : "");
    }
  }
}

TEST(Winograd, IsOffWhenNotAllowed) {
  for (const ConvProblem& p : {conv(1, 28, 28, 64, 64, 1), of_bf16(conv(1, 28, 28, 64, 64, 1))}) {
    const Choice strict = find(p, {.winograd = false, .fast = true});
    ASSERT_NE(strict.best(), nullptr);
    for (const Candidate& c : strict.candidates) EXPECT_EQ(c.numerics, Numerics::exact) << c.name;
    int refused = 0;
    for (const Refusal& r : strict.refusals) refused += r.reason == "winograd is not allowed";
    if (p.types.are_f32() ? cpu_level() >= CpuLevel::avx2 : cpu_features().bf16) {
      EXPECT_GT(refused, 0);
    }
  }
}

}  // namespace
}  // namespace trine::dnn::test
