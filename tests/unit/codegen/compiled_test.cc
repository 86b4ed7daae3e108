// Machine code against the interpreter: the same bits, on every CPU level that this machine has.
#include "compiled.h"

namespace trine {
namespace {

using namespace test;

TEST(Compiled, ModuleIsThere) { ASSERT_TRUE(can_compile_kernels()); }

TEST(Compiled, ChainsAtEverySize) {
  std::mt19937 rng(seed());
  for (int64_t n : {0, 1, 31, 32, 33, 63, 64, 65, 1021, 4099}) {
    const std::string text = "graph(%x: f32[" + std::to_string(n) + "], %y: f32[" + std::to_string(n) +
                             "]) {\n  %a = add %x %y\n  %b = relu %a\n  %c = mul %b %x\n  return %c\n}\n";
    expect_compiled_equals_interpreted(text,
                                       {random_tensor(DType::f32, {n}, rng), random_tensor(DType::f32, {n}, rng)});
  }
}

TEST(Compiled, FunctionsAgreeToTheBit) {
  std::mt19937 rng(seed());
  std::vector<double> values{0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 88.8, -88.8, -103.5, 3.93, 0.625};
  std::uniform_real_distribution<double> wide(-120, 120), near(-2, 2);
  for (int i = 0; i < 2000; ++i) values.push_back(i % 2 ? wide(rng) : near(rng));
  const auto n = static_cast<int64_t>(values.size());
  const Tensor x = Tensor::from_f64(DType::f32, {n}, values);
  for (const char* op :
       {"exp",  "log", "tanh",  "erf",  "sqrt",  "reciprocal", "sigmoid", "relu",   "abs",   "neg",
        "sign", "sin", "floor", "ceil", "round", "gelu",       "is_nan",  "is_inf", "acosh", "softplus"}) {
    expect_compiled_equals_interpreted(
        "graph(%x: f32[" + std::to_string(n) + "]) {\n  %a = " + op + " %x\n  return %a\n}\n", {x});
  }
}

TEST(Compiled, BroadcastsAndTypes) {
  std::mt19937 rng(seed());
  for (DType t :
       {DType::f32, DType::f64, DType::bf16, DType::i8, DType::i32, DType::i64, DType::u8, DType::u32, DType::u64}) {
    const std::string type(name(t));
    const std::string text = "graph(%x: " + type + "[5,67], %y: " + type + "[67], %z: " + type + "[5,1]) {\n" +
                             "  %a = mul %x %y\n  %b = add %a %z\n  %c = div %b %y\n  %d = greater %c %x\n" +
                             "  %e = where %d %c %x\n  return %e, %d\n}\n";
    expect_compiled_equals_interpreted(
        text, {random_tensor(t, {5, 67}, rng), random_tensor(t, {67}, rng), random_tensor(t, {5, 1}, rng)});
  }
}

TEST(Compiled, CastsAgree) {
  std::mt19937 rng(seed());
  const DType types[] = {DType::f32, DType::f64, DType::bf16, DType::i8,  DType::i16, DType::i32,
                         DType::i64, DType::u8,  DType::u16,  DType::u32, DType::u64, DType::boolean};
  for (DType from : types) {
    for (DType to : types) {
      const std::string text = "graph(%x: " + std::string(name(from)) + "[37]) {\n  %a = cast %x {to=\"" +
                               std::string(name(to)) + "\"}\n  return %a\n}\n";
      expect_compiled_equals_interpreted(text, {random_tensor(from, {37}, rng)});
    }
  }
}

TEST(Compiled, SameRequestSameBytes) {
  const auto lowered = codegen::lower_group(parse("graph(%x: f32[N]) {\n  %a = tanh %x\n  return %a\n}\n"));
  const codegen::LoopKernel* kernels[] = {&lowered.kernels.at(0)};
  EXPECT_EQ(compile_kernels(kernels, "avx2").object.blob, compile_kernels(kernels, "avx2").object.blob);
  EXPECT_THROW(compile_kernels(kernels, "mmx"), Error);
}

}  // namespace
}  // namespace trine
