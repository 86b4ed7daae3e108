// Functions of float that GPUs calculate in their own way, or whose special cases they take apart in their own way, in
// units of the last place: the bounds of docs/device-math.md, on every device and in every mode.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>

#include "../device_math/ulp.h"
#include "kernel_case.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

struct Function {
  const char* name;
  double bound, bound_on_gpus;
  double (*expected)(double x);
};
const Function kFunctions[] = {
    {"expf", 1, 2, [](double x) { return std::exp(x); }},    {"exp2f", 1, 2, [](double x) { return std::exp2(x); }},
    {"exp10f", 1, 2, [](double x) { return exp10(x); }},     {"logf", 1, 1, [](double x) { return std::log(x); }},
    {"sinf", 2, 2, [](double x) { return std::sin(x); }},    {"cosf", 2, 2, [](double x) { return std::cos(x); }},
    {"tanf", 4, 4, [](double x) { return std::tan(x); }},    {"tanhf", 2, 2, [](double x) { return std::tanh(x); }},
    {"erff", 2, 2, [](double x) { return std::erf(x); }},    {"coshf", 2, 2, [](double x) { return std::cosh(x); }},
    {"expm1f", 1, 1, [](double x) { return std::expm1(x); }}};

// Of constants the compiler finds the result, by other ways.
constexpr const char* kSource = R"(
#define FUNCTION(f)                                                          \
  __global__ void k_##f(const float* in, float* out, int n) {                \
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = f(in[i]); }
FUNCTION(expf) FUNCTION(exp2f) FUNCTION(exp10f) FUNCTION(logf) FUNCTION(sinf) FUNCTION(cosf) FUNCTION(tanf)
FUNCTION(coshf) FUNCTION(expm1f) FUNCTION(tanhf) FUNCTION(erff)
__global__ void constants(float* out) {
  float sum = 0;
  for (int i = 0; i < 5; ++i) out[i] = expf(i - 2.5f), sum += exp2f(i * 0.5f);
  out[5] = sum;
}
)";

// All exponents, more where results are neither 0 nor infinite, and what is special.
std::vector<float> arguments(uint32_t seed) {
  std::vector<float> all = {0.0f,          -0.0f,      1.0f,       -1.0f,           INFINITY,         -INFINITY,
                            NAN,           0x1p-149f,  -0x1p-149f, 0x1p-126f,       88.72283f,        88.72284f,
                            128.0f,        127.99999f, 38.53184f,  38.53185f,       -149.0f,          -150.0f,
                            -103.9721f,    71476.0f,   71477.0f,   0x1.fffffep127f, -0x1.fffffep127f, 0x1.000002p0f,
                            0x1.fffffep-1f};
  device_math::Random random(seed);
  for (int i = 0; i < 60000; ++i) all.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.next())));
  for (const double most : {1.0, 4.0, 50.0, 200.0, 1e5})
    for (int i = 0; i < 30000; ++i) all.push_back(static_cast<float>((2 * random.unit() - 1) * most));
  return all;
}

std::vector<float> results(Module& module, const Device& device, const std::string& name,
                           const std::vector<float>& in) {
  Stream stream = device.create_stream();
  const size_t bytes = in.size() * sizeof(float);
  const Buffer from = device.allocate(bytes), to = device.allocate(bytes);
  stream.upload(from, 0, in.data(), bytes);
  stream.fill(to, 0xcd);
  module.kernel("k_" + name)
      .launch(stream, {.grid = {static_cast<uint32_t>((in.size() + 255) / 256)}, .block = {256}}, from.data(),
              to.data(), static_cast<int>(in.size()));
  std::vector<float> out(in.size());
  stream.download(out.data(), to, 0, bytes);
  stream.synchronize();
  return out;
}

void hold(const Function& function, bool gpu, const std::vector<float>& in, const std::vector<float>& out) {
  const double bound = gpu ? function.bound_on_gpus : function.bound;
  double worst = -1;
  size_t at = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const double error = device_math::ulp_error(out[i], function.expected(double{in[i]}));
    if (error > worst) worst = error, at = i;
  }
  std::printf("%-8s %.3f of %.0f ulp at %a\n", function.name, worst, bound, double{in[at]});
  EXPECT_LE(worst, bound) << function.name << "(" << in[at] << ") is " << out[at] << ", not "
                          << function.expected(double{in[at]});
}

TEST(Kernels, MathKeepsItsBounds) {
  const uint32_t seed = test_seed();
  const std::vector<float> in = arguments(seed);
  for (const Target& target : targets()) try {
      const testing::ScopedTrace trace(__FILE__, __LINE__, text_of(target) + ", seed " + std::to_string(seed));
      const Device device = Device::open(target.device);
      Module module = Module::compile(device, kSource, {.mode = target.mode});
      for (const Function& function : kFunctions)
        hold(function, target.device.starts_with("cuda"), in, results(module, device, function.name, in));
      const Buffer to = device.allocate(6 * sizeof(float));
      Stream stream = device.create_stream();
      module.kernel("constants").launch(stream, {}, to.data());
      float out[6], sum = 0;
      stream.download(out, to, 0, sizeof out);
      stream.synchronize();
      for (int i = 0; i < 5; ++i) {
        EXPECT_LE(device_math::ulp_error(out[i], std::exp(i - 2.5)), 1) << i;
        sum += std::exp2(static_cast<float>(i) * 0.5f);
      }
      EXPECT_NEAR(out[5], sum, 1e-5);
    } catch (const Error& error) {
      ADD_FAILURE() << text_of(target) << error.what();
    }
}

}  // namespace
}  // namespace trine::compute
