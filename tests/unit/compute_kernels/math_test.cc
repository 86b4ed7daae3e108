// Functions of float and double in kernels: on every device and in every mode what the C library says, nearly. How
// nearly is held in tests/unit/device_math; here it is that all modes compile and run them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "kernel_case.h"
#include "simt/headers/math_erfinv.h"
#include "simt/headers/math_rounded.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

// Text of the device: of x in [-4, 4] and y in [0.01, 0.99]; without its `f` the function of double.
struct Row {
  const char* single;
  const char* wide;
  double (*expected)(double x, double y);
};
const Row kRows[] = {
    {"erff(x)", "erf(x)", [](double x, double) { return std::erf(x); }},
    {"erfcf(x)", "erfc(x)", [](double x, double) { return std::erfc(x); }},
    {"erfcxf(y)", "erfcx(y)", [](double, double y) { return std::exp(y * y) * std::erfc(y); }},
    {"normcdff(x)", "normcdf(x)", [](double x, double) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }},
    {"erfinvf(y)", "erfinv(y)", [](double, double y) { return trine_math::erfinv(y); }},
    {"normcdfinvf(y)", "normcdfinv(y)", [](double, double y) { return trine_math::normcdfinv(y); }},
    {"cbrtf(x)", "cbrt(x)", [](double x, double) { return std::cbrt(x); }},
    {"rcbrtf(y)", "rcbrt(y)", [](double, double y) { return 1 / std::cbrt(y); }},
    {"hypotf(x, y)", "hypot(x, y)", [](double x, double y) { return std::hypot(x, y); }},
    {"rnorm4df(x, y, 2.0f, x)", "rnorm4d(x, y, 2.0, x)",
     [](double x, double y) { return 1 / std::hypot(std::hypot(x, y, 2.0), x); }},
    {"tgammaf(-y)", "tgamma(-y)", [](double, double y) { return std::tgamma(-y); }},
    {"lgammaf(y + 9)", "lgamma(y + 9)", [](double, double y) { return std::lgamma(y + 9); }},
};

std::string source() {
  std::string text =
      "__global__ void k(const int* in, float* f, double* d, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  { float x = in[i] * 0.00390625f, y = (in[i] + 1001) * (1.0f / 2048); \n";
  for (size_t row = 0; row < std::size(kRows); ++row)
    text += "f[" + std::to_string(row) + " * n + i] = " + kRows[row].single + ";\n";
  text += "} { double x = in[i] * 0.00390625, y = (in[i] + 1001) * (1.0 / 2048);\n";
  for (size_t row = 0; row < std::size(kRows); ++row)
    text += "d[" + std::to_string(row) + " * n + i] = " + kRows[row].wide + ";\n";
  return text + "} }\n";
}

void hold(const char* text, double got, double wanted, double unit, double x) {
  EXPECT_LE(std::fabs(got - wanted), 64 * unit * (0.05 + std::fabs(wanted)))
      << text << " at " << x << " is " << got << ", not " << wanted;
}

void run(const Device& device, const Kernel& kernel, int block) {
  const int n = 2 * block;
  const Ints in = random_ints(n, test_seed() + static_cast<uint32_t>(n));
  const size_t count = std::size(kRows) * in.size();
  std::vector<float> f(count, NAN);
  std::vector<double> d(count, NAN);
  Stream stream = device.create_stream();
  const Buffer from = device.allocate(in.size() * sizeof(int)), single = device.allocate(count * sizeof(float)),
               wide = device.allocate(count * sizeof(double));
  stream.upload(from, 0, in.data(), in.size() * sizeof(int));
  kernel.launch(stream, {.grid = {2}, .block = {static_cast<uint32_t>(block)}}, static_cast<const int*>(from.data()),
                static_cast<float*>(single.data()), static_cast<double*>(wide.data()), n);
  stream.download(f.data(), single, 0, count * sizeof(float));
  stream.download(d.data(), wide, 0, count * sizeof(double));
  stream.synchronize();
  for (size_t row = 0; row < std::size(kRows) && !testing::Test::HasFailure(); ++row)
    for (size_t i = 0; i < in.size() && !testing::Test::HasFailure(); ++i) {
      const double x = in[i] * 0.00390625, y = (in[i] + 1001) * (1.0 / 2048);
      const double wanted = kRows[row].expected(x, y);
      hold(kRows[row].single, f[row * in.size() + i], wanted, 0x1p-24, x);
      hold(kRows[row].wide, d[row * in.size() + i], wanted, 0x1p-53, x);
    }
}

TEST(Kernels, MathFunctions) {
  for (const Target& target : targets()) try {
      const testing::ScopedTrace trace(__FILE__, __LINE__, text_of(target));
      const Device device = Device::open(target.device);
      const Module module = Module::compile(device, source(), {.mode = target.mode});
      for (const int block : {1, 33, 256}) run(device, module.kernel("k"), block);
    } catch (const Error& error) {
      ADD_FAILURE() << text_of(target) << error.what();
    }
}

// All that one rounding has, of floats and doubles, mixed into a number.
template <trine_math::Round kRound>
uint32_t rounded(int v, int i) {
  namespace tm = trine_math;
  uint32_t h = 0;
  const auto mix = [&](uint64_t bits) { h = h * 31 + static_cast<uint32_t>(bits ^ bits >> 32); };
  const float x = static_cast<float>(v) * 1.1f, y = static_cast<float>(i + 1) / 3.0f,
              z = static_cast<float>(v * v + 1) * 0.1f;
  const double a = v * 1.1, b = (i + 1) / 3.0, c = (v * v + 1) * 0.1;
  mix(tm::to_bits(tm::add_rounded<kRound>(x, y))), mix(tm::to_bits(tm::add_rounded<kRound>(x, -y)));
  mix(tm::to_bits(tm::mul_rounded<kRound>(x, y))), mix(tm::to_bits(tm::div_rounded<kRound>(x, y)));
  mix(tm::to_bits(tm::div_rounded<kRound>(1.0f, y))), mix(tm::to_bits(tm::sqrt_rounded<kRound>(z)));
  mix(tm::to_bits(tm::fma_rounded<kRound>(x, y, z)));
  mix(tm::to_bits(tm::add_rounded<kRound>(a, b))), mix(tm::to_bits(tm::add_rounded<kRound>(a, -b)));
  mix(tm::to_bits(tm::mul_rounded<kRound>(a, b))), mix(tm::to_bits(tm::div_rounded<kRound>(a, b)));
  mix(tm::to_bits(tm::div_rounded<kRound>(1.0, b))), mix(tm::to_bits(tm::sqrt_rounded<kRound>(c)));
  mix(tm::to_bits(tm::fma_rounded<kRound>(a, b, c)));
  return h;
}

#define TRINE_ROUNDED(r)                                                              \
  "mix(__float_as_uint(__fadd_" r "(x, y))); mix(__float_as_uint(__fsub_" r           \
  "(x, y)));"                                                                         \
  "mix(__float_as_uint(__fmul_" r "(x, y))); mix(__float_as_uint(__fdiv_" r           \
  "(x, y)));"                                                                         \
  "mix(__float_as_uint(__frcp_" r "(y))); mix(__float_as_uint(__fsqrt_" r             \
  "(z)));"                                                                            \
  "mix(__float_as_uint(__fmaf_" r                                                     \
  "(x, y, z)));"                                                                      \
  "mix(__double_as_longlong(__dadd_" r "(a, b))); mix(__double_as_longlong(__dsub_" r \
  "(a, b)));"                                                                         \
  "mix(__double_as_longlong(__dmul_" r "(a, b))); mix(__double_as_longlong(__ddiv_" r \
  "(a, b)));"                                                                         \
  "mix(__double_as_longlong(__drcp_" r "(b))); mix(__double_as_longlong(__dsqrt_" r   \
  "(c)));"                                                                            \
  "mix(__double_as_longlong(__fma_" r "(a, b, c))); sum = sum * 7 + h; h = 0;"

const KernelCase kRounded[] = {
    {"arithmetic in every rounding",
     R"(
       __global__ void k(const int* in, int* out, int n) {
         int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i]; unsigned h = 0, sum = 0;
         auto mix = [&](unsigned long long bits) { h = h * 31 + (unsigned)(bits ^ bits >> 32); };
         float x = v * 1.1f, y = __fdiv_rn(i + 1, 3.0f), z = (v * v + 1) * 0.1f;
         double a = v * 1.1, b = (i + 1) / 3.0, c = (v * v + 1) * 0.1; )" TRINE_ROUNDED("rn") TRINE_ROUNDED("rz")
         TRINE_ROUNDED("ru") TRINE_ROUNDED("rd") "out[i] = sum; }",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for (int i = 0; i < shape.all(); ++i) {
         using trine_math::Round;
         const int v = in[static_cast<size_t>(i)];
         const uint32_t near = rounded<Round::nearest>(v, i), zero = rounded<Round::zero>(v, i);
         const uint32_t sum = (near * 7 + zero) * 7 + rounded<Round::up>(v, i);
         out[static_cast<size_t>(i)] = static_cast<int>(sum * 7 + rounded<Round::down>(v, i));
       }
     }},
};

TEST(Kernels, Roundings) { run_cases(kRounded); }

}  // namespace
}  // namespace trine::compute
