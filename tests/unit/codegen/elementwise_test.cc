// Elementwise groups: chains, broadcasting, types, sizes around a tile, special values.
#include "harness.h"

namespace trine {
namespace {

using namespace test;

constexpr double kUlps = 8 * 6e-8;

TEST(Elementwise, ChainAtEverySize) {
  std::mt19937 rng(seed());
  for (int64_t n : {0, 1, 2, 15, 16, 17, 31, 32, 33, 127, 511, 512, 513, 1021, 1024, 4099}) {
    const std::string text = "graph(%x: f32[" + std::to_string(n) + "], %y: f32[" + std::to_string(n) +
                             "]) {\n  %a = add %x %y\n  %b = relu %a\n  %c = mul %b %x\n  return %c\n}\n";
    expect_matches(text, {random_tensor(DType::f32, {n}, rng), random_tensor(DType::f32, {n}, rng)}, kUlps);
  }
}

TEST(Elementwise, EveryBroadcast) {
  std::mt19937 rng(seed());
  const Dims full{3, 5, 7};
  for (int mask = 0; mask < 8; ++mask) {
    Dims part = full;
    for (int i = 0; i < 3; ++i) {
      if (mask & (1 << i)) part[static_cast<size_t>(i)] = 1;
    }
    const std::string text = "graph(%x: f32[3,5,7], %y: f32[" + to_string(part) + "]) {\n  %a = sub %x %y\n" +
                             "  %b = mul %y %a\n  return %b\n}\n";
    expect_matches(text, {random_tensor(DType::f32, full, rng), random_tensor(DType::f32, part, rng)}, kUlps);
  }
}

TEST(Elementwise, OneLoopWhateverTheRank) {
  const auto flat = codegen::lower_group(parse("graph(%x: f32[840]) {\n  %a = relu %x\n  return %a\n}\n"));
  const auto deep = codegen::lower_group(parse("graph(%x: f32[N,4,5,6]) {\n  %a = relu %x\n  return %a\n}\n"));
  ASSERT_TRUE(flat && deep);
  EXPECT_EQ(deep.kernels[0].nest.size(), 1u);
  EXPECT_EQ(flat.kernels[0].hash, deep.kernels[0].hash) << flat.kernels[0].text() << deep.kernels[0].text();
}

TEST(Elementwise, HashesTellKernelsApart) {
  auto hash = [](const std::string& text) { return codegen::lower_group(parse(text)).kernels.at(0).hash; };
  const std::string head = "graph(%x: f32[8,4], %y: f32[4], %z: f32[8,1]) {\n  %a = ";
  EXPECT_NE(hash(head + "add %x %y\n  return %a\n}\n"), hash(head + "add %x %z\n  return %a\n}\n"));
  EXPECT_NE(hash(head + "add %x %y\n  return %a\n}\n"), hash(head + "mul %x %y\n  return %a\n}\n"));
}

TEST(Elementwise, SymbolsBindLate) {
  std::mt19937 rng(seed());
  for (int64_t n : {1, 6}) {
    const Bindings bindings = [n](std::string_view s) { return s == "N" ? std::optional(n) : std::nullopt; };
    expect_matches("graph(%x: f32[N,3,4], %y: f32[3,1]) {\n  %a = div %x %y\n  return %a\n}\n",
                   {random_tensor(DType::f32, {n, 3, 4}, rng), random_tensor(DType::f32, {3, 1}, rng)}, kUlps,
                   bindings);
  }
  const auto lowered = codegen::lower_group(parse("graph(%x: f32[N]) {\n  %a = relu %x\n  return %a\n}\n"));
  EXPECT_THROW(codegen::bind(lowered.kernels.at(0), no_symbols()), Error);
}

TEST(Elementwise, SpecialValuesPass) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x = Tensor::from_f64(DType::f32, {9}, {0, -0.0, inf, -inf, nan, 1e-40, 3e38, -1, 88.8});
  for (const char* op : {"exp", "log", "tanh", "erf", "sqrt", "reciprocal", "sigmoid", "relu", "abs", "neg", "sign",
                         "floor", "ceil", "round", "sin", "softplus", "gelu"}) {
    expect_matches(std::string("graph(%x: f32[9]) {\n  %a = ") + op + " %x\n  return %a\n}\n", {x}, kUlps);
  }
  for (const char* op : {"min", "max", "add", "mul", "pow"}) {
    expect_matches(std::string("graph(%x: f32[9,1], %y: f32[9]) {\n  %a = ") + op + " %x %y\n  return %a\n}\n",
                   {x.reshaped({9, 1}), x}, kUlps);
  }
}

TEST(Elementwise, EveryTypePair) {
  std::mt19937 rng(seed());
  const DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,  DType::i16,    DType::i32,
                         DType::i64, DType::u8,  DType::u16, DType::u32,  DType::u64, DType::boolean};
  for (DType from : types) {
    for (DType to : types) {
      const std::string text = "graph(%x: " + std::string(name(from)) + "[37]) {\n  %a = cast %x {to=\"" +
                               std::string(name(to)) + "\"}\n  return %a\n}\n";
      expect_matches(text, {random_tensor(from, {37}, rng)}, 0);
    }
  }
}

TEST(Elementwise, ArithmeticInEveryType) {
  std::mt19937 rng(seed());
  for (DType t :
       {DType::f64, DType::f16, DType::bf16, DType::i8, DType::i32, DType::i64, DType::u8, DType::u32, DType::u64}) {
    const std::string type(name(t));
    const std::string text = "graph(%x: " + type + "[67], %y: " + type +
                             "[67]) {\n  %a = mul %x %y\n  %b = add %a %x\n" +
                             "  %c = div %b %y\n  %d = greater %c %x\n  %e = where %d %c %x\n  return %e, %d\n}\n";
    const bool half =
        t == DType::f16 || t == DType::bf16;  // kept wider between operators, so not equal to the reference
    expect_matches(text, {random_tensor(t, {67}, rng), random_tensor(t, {67}, rng)}, half ? 0.02 : 1e-12);
  }
}

TEST(Elementwise, NarrowIntegersWrapBetweenOperators) {
  const Tensor x = Tensor::from_i64(DType::u8, {3}, {200, 255, 1});
  expect_matches("graph(%x: u8[3]) {\n  %a = add %x %x\n  %b = div %a %x\n  return %b\n}\n", {x}, 0);
}

TEST(Elementwise, MemorySharing) {
  const auto same =
      codegen::lower_group(parse("graph(%x: f32[4,4], %y: f32[4]) {\n  %a = add %x %y\n  return %a\n}\n"));
  EXPECT_TRUE(codegen::may_share_memory(same.kernels.at(0), 0, 0));
  EXPECT_FALSE(codegen::may_share_memory(same.kernels.at(0), 1, 0));
}

}  // namespace
}  // namespace trine
