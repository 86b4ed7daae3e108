// Accuracy of the elementary functions on every CPU level, against long double.
#include "harness.h"

namespace trine {
namespace {

using namespace test;

// Distance in units of the last place of the correctly rounded result.
double ulps(float got, long double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(got) && std::isnan(rounded)) return 0;
  if (got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return INFINITY;
  const int exponent = std::max(std::ilogb(rounded == 0 ? 1e-45f : std::abs(rounded)), -126);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / std::ldexp(1.0L, exponent - 23));
}

struct Function {
  const char* op;
  long double (*exact)(long double);
  float low, high;
  double bound;  // ulp; the baseline has no fma and is allowed twice as much
};

const Function kFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, -104, 89, 1.2},
    {"log", [](long double x) { return std::log(x); }, 1e-38f, 3e38f, 1},
    {"log", [](long double x) { return std::log(x); }, 0.5f, 2, 1},
    {"tanh", [](long double x) { return std::tanh(x); }, -10, 10, 2},
    {"tanh", [](long double x) { return std::tanh(x); }, -1e-3f, 1e-3f, 2},
    {"erf", [](long double x) { return std::erf(x); }, -4.5f, 4.5f, 4},
    {"erf", [](long double x) { return std::erf(x); }, -1e-3f, 1e-3f, 4},
    {"sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, -87, 88, 3},
    {"sin", [](long double x) { return std::sin(x); }, -1e4f, 1e4f, 1},
    {"cos", [](long double x) { return std::cos(x); }, -1e4f, 1e4f, 1},
};

TEST(Math, ErrorsStayInTheirBounds) {
  std::mt19937 rng(seed());
  for (const Function& f : kFunctions) {
    constexpr int64_t kPoints = 200000;
    std::uniform_real_distribution<float> pick(f.low, f.high);
    Tensor x(DType::f32, {kPoints});
    for (int64_t i = 0; i < kPoints; ++i) {
      // Wide positive ranges are sampled by magnitude.
      x.mutable_as<float>()[i] =
          f.low > 0 && f.high > 1e6f
              ? std::exp(std::uniform_real_distribution<float>(std::log(f.low), std::log(f.high))(rng))
              : pick(rng);
    }
    const auto lowered =
        codegen::lower_group(parse(std::string("graph(%x: f32[200000]) {\n  %a = ") + f.op + " %x\n  return %a\n}\n"));
    ASSERT_TRUE(lowered) << lowered.refusal;
    for (CpuLevel level : kLevels) {
      if (level > cpu_info().level) continue;
      limit_cpu_level(level);
      const Tensor y = run_kernels(lowered, no_symbols(), {x}, {x})[0];
      limit_cpu_level(std::nullopt);
      double worst = 0;
      float where = 0;
      for (int64_t i = 0; i < kPoints; ++i) {
        const double e = ulps(y.as<float>()[i], f.exact(x.as<float>()[i]));
        if (e > worst) worst = e, where = x.as<float>()[i];
      }
      std::printf("%-8s [%g, %g] %-8s %.2f ulp at %.9g\n", f.op, f.low, f.high, std::string(name(level)).c_str(), worst,
                  where);
      EXPECT_LE(worst, level == CpuLevel::baseline ? 2 * f.bound : f.bound) << f.op << " at " << where;
    }
  }
}

}  // namespace
}  // namespace trine
