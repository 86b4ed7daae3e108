#include "device.h"

namespace trine {
namespace {

using namespace test;

std::string shape_text(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? "," : "") + std::to_string(dims[i]);
  return out + "]";
}

// "graph(%x: f32[3,5]) { %v0 = op %x  ... return %v0, ... }"
std::string one_of_each(const std::string& inputs, const std::vector<std::string>& nodes) {
  std::string text = "graph(" + inputs + ") {\n", results;
  for (size_t i = 0; i < nodes.size(); ++i) {
    text += "  %v" + std::to_string(i) + " = " + nodes[i] + "\n";
    results += (i ? ", %v" : "%v") + std::to_string(i);
  }
  return text + "  return " + results + "\n}\n";
}

TEST(GpuElementwise, ChainsAtEverySize) {
  std::mt19937 rng(seed());
  for (int64_t n : {0, 1, 3, 31, 32, 33, 255, 256, 257, 1021, 4100}) {
    const std::string shape = shape_text({n});
    const std::string text = "graph(%x: f32" + shape + ", %y: f32" + shape +
                             ") {\n  %a = add %x %y\n  %b = relu %a\n  %c = mul %b %x\n  return %c\n}\n";
    expect_device_matches(text, {random_tensor(DType::f32, {n}, rng), random_tensor(DType::f32, {n}, rng)}, 0);
  }
}

TEST(GpuElementwise, FunctionsOfFloats) {
  std::mt19937 rng(seed());
  for (DType type : {DType::f32, DType::f64}) {
    std::vector<double> values{0,     -0.0,   1,    -1,    INFINITY, -INFINITY, NAN,
                               1e-40, -1e-40, 88.8, -88.8, -103.5,   3.93,      0.625};
    std::uniform_real_distribution<double> wide(-120, 120), near(-2, 2);
    for (int i = 0; i < 400; ++i) values.push_back(i % 2 ? wide(rng) : near(rng));
    const auto n = static_cast<int64_t>(values.size());
    const Tensor x = Tensor::from_f64(type, {n}, values);
    const std::string input = "%x: " + std::string(name(type)) + shape_text({n});
    // These have the interpreter's formulas (f32), or are exact.
    const double exact = cpu_info().level == CpuLevel::baseline ? 4 * 0x1p-23 : type == DType::f32 ? 0 : 4 * 0x1p-52;
    expect_device_matches(
        one_of_each(input, {"exp %x", "log %x", "tanh %x", "erf %x", "sqrt %x", "reciprocal %x", "abs %x", "neg %x",
                            "sign %x", "floor %x", "ceil %x", "round %x", "is_nan %x", "is_inf %x", "relu %x"}),
        {x}, exact);
    expect_device_matches(
        one_of_each(input, {"sin %x", "cos %x", "tan %x", "asin %x", "acos %x", "atan %x", "sinh %x", "cosh %x",
                            "asinh %x", "acosh %x", "atanh %x", "gelu %x", "sigmoid %x", "softplus %x"}),
        {x}, type == DType::f32 ? 16 * 0x1p-23 : 64 * 0x1p-52);
  }
}

TEST(GpuElementwise, ArithmeticOfEveryType) {
  std::mt19937 rng(seed());
  for (DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64,
                  DType::u8, DType::u16, DType::u32, DType::u64}) {
    const std::string type(name(t));
    const std::string inputs = "%x: " + type + "[5,67], %y: " + type + "[67], %z: " + type + "[5,1]";
    std::vector<std::string> nodes{"mul %x %y",        "add %v0 %z", "div %v1 %y", "greater %v2 %x",
                                   "where %v3 %v2 %x", "sub %x %z",  "max %x %y",  "min %x %y"};
    if (is_integer(t)) nodes.insert(nodes.end(), {"mod %x %y", "bitwise_and %x %y", "bitwise_not %x"});
    else nodes.push_back("mod %x %y {fmod=1}");
    SCOPED_TRACE(type);
    expect_device_matches(one_of_each(inputs, nodes),
                          {random_tensor(t, {5, 67}, rng), random_tensor(t, {67}, rng), random_tensor(t, {5, 1}, rng)},
                          0);
  }
}

TEST(GpuElementwise, PowersAndShifts) {
  std::mt19937 rng(seed());
  const Tensor x = random_tensor(DType::f32, {67}, rng), positive = Tensor::from_f64(DType::f32, {1}, {2.5});
  expect_device_matches("graph(%x: f32[67], %y: f32[1]) {\n  %a = abs %x\n  %b = pow %a %y\n  return %b\n}\n",
                        {x, positive}, 16 * 0x1p-23);
  for (DType t : {DType::u8, DType::u32, DType::u64}) {
    const std::string type(name(t));
    expect_device_matches(
        one_of_each("%x: " + type + "[67], %y: " + type + "[67]",
                    {"bit_shift %x %y {direction=\"LEFT\"}", "bit_shift %x %y {direction=\"RIGHT\"}"}),
        {random_tensor(t, {67}, rng), random_tensor(t, {67}, rng)}, 0);
  }
}

TEST(GpuElementwise, Booleans) {
  std::mt19937 rng(seed());
  const Tensor x = random_tensor(DType::boolean, {9, 5}, rng), y = random_tensor(DType::boolean, {5}, rng);
  expect_device_matches(
      one_of_each("%x: bool[9,5], %y: bool[5]", {"and %x %y", "or %x %y", "xor %x %y", "not %x", "equal %x %y"}),
      {x, y}, 0);
}

TEST(GpuElementwise, CastsBetweenAllTypes) {
  std::mt19937 rng(seed());
  const DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,  DType::i16,    DType::i32,
                         DType::i64, DType::u8,  DType::u16, DType::u32,  DType::u64, DType::boolean};
  for (DType from : types) {
    std::vector<std::string> casts;
    for (DType to : types)
      if (to != from) casts.push_back("cast %x {to=\"" + std::string(name(to)) + "\"}");
    SCOPED_TRACE(name(from));
    expect_device_matches(one_of_each("%x: " + std::string(name(from)) + "[37]", casts),
                          {random_tensor(from, {37}, rng)}, 0);
  }
}

// Saturation, NaN, ties and subnormals on the way to narrow types.
TEST(GpuElementwise, CastsOfSpecialValues) {
  std::vector<double> values{0,    -0.0,  INFINITY, -INFINITY, NAN,     0.5,   1.5,    2.5,     -1.5,    255.5,
                             -129, 65504, 65520,    1e10,      -1e10,   1e20,  -1e20,  1e-8,    3e-8,    6e-8,
                             448,  464,   480,      57344,     61440,   1e-3,  0.0117, 0.00195, 0.00097, 2147483648.0,
                             240,  248,   256,      0.0078125, 0.00586, 1e-40, -3e-39, 3.4e38,  -448,    -500};
  std::mt19937 rng(seed());
  std::uniform_real_distribution<double> exponent(-24, 17), mantissa(-2, 2);
  for (int i = 0; i < 500; ++i) values.push_back(std::ldexp(mantissa(rng), static_cast<int>(exponent(rng))));
  const auto n = static_cast<int64_t>(values.size());
  std::vector<std::string> casts;
  for (const char* to : {"f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"})
    casts.push_back("cast %x {to=\"" + std::string(to) + "\"}");
  for (DType from : {DType::f32, DType::f64})
    expect_device_matches(one_of_each("%x: " + std::string(name(from)) + shape_text({n}), casts),
                          {Tensor::from_f64(from, {n}, values)}, 0);
}

// Numbers of 8 bits, equal to the bit; a NaN's sign is free.
bool same_small_floats(const Tensor& a, const Tensor& b) {
  const auto x = a.f64_values(), y = b.f64_values();
  for (size_t i = 0; i < x.size(); ++i)
    if (static_cast<const char*>(a.data())[i] != static_cast<const char*>(b.data())[i] &&
        !(std::isnan(x[i]) && std::isnan(y[i])))
      return false;
  return x.size() == y.size();
}

// Operators refuse to compute with 8-bit floats, kernels do not: a lowered graph with its types exchanged.
void expect_small_float_matches(const std::string& text, DType type, const Tensor& x, DType result) {
  codegen::Lowered lowered = codegen::lower_group(parse(text));
  ASSERT_TRUE(lowered) << lowered.refusal;
  codegen::LoopKernel& kernel = lowered.kernels.at(0);
  for (codegen::Operand& o : kernel.operands) o.dtype = o.kind == codegen::Operand::Kind::output ? result : x.dtype();
  for (codegen::Inst& i : kernel.insts)
    if (i.kind == codegen::InstKind::cast) i.to = type;
  const std::vector<Tensor> like{Tensor(result, x.dims())};
  const auto want = run_kernels(lowered, no_symbols(), {x}, like);
  const auto got = run_on_device(lowered, no_symbols(), {x}, like);
  SCOPED_TRACE(name(type));
  if (byte_size(result) == 1) EXPECT_TRUE(same_small_floats(got[0], want[0]));
  else expect_close(got[0], want[0], 0, text);
}

constexpr DType kSmallFloats[] = {DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz,
                                  DType::f8e8m0,   DType::f4e2m1, DType::f6e2m3,     DType::f6e3m2};

TEST(GpuElementwise, EveryByteOfSmallFloats) {
  for (DType type : kSmallFloats) {
    const int64_t n = type == DType::f4e2m1 ? 16 : byte_size(type) == 1 && name(type)[1] == '6' ? 64 : 256;
    Tensor x(type, {n});
    for (int i = 0; i < n; ++i) static_cast<uint8_t*>(x.mutable_data())[i] = static_cast<uint8_t>(i);
    const std::string size = std::to_string(n);
    expect_small_float_matches("graph(%x: f32[" + size + "]) {\n  %a = neg %x\n  return %a\n}\n", type, x, DType::f32);
  }
}

// Stored as they are, and cast (then they saturate).
TEST(GpuElementwise, RoundingToSmallFloats) {
  std::vector<double> values{0,     -0.0,  INFINITY, -INFINITY, NAN, 448,   464, 480,
                             57344, 61440, 240,      248,       256, 1e-40, -500};
  std::mt19937 rng(seed());
  std::uniform_real_distribution<double> exponent(-24, 18), mantissa(-2, 2);
  for (int i = 0; i < 1000; ++i) values.push_back(std::ldexp(mantissa(rng), static_cast<int>(exponent(rng))));
  for (int i = 0; i < 200; ++i) values.push_back(i / 64.0);  // ties
  const Tensor x = Tensor::from_f64(DType::f32, {static_cast<int64_t>(values.size())}, values);
  const std::string input = "graph(%x: f32[" + std::to_string(values.size()) + "]) {\n";
  for (DType type : kSmallFloats) {
    expect_small_float_matches(input + "  %a = neg %x\n  return %a\n}\n", type, x, type);
    expect_small_float_matches(input + "  %a = cast %x {to=\"f16\"}\n  return %a\n}\n", type, x, type);
  }
}

// More numbers than parameters hold: they lie in memory.
TEST(GpuElementwise, ManyOperands) {
  std::mt19937 rng(seed());
  std::string inputs, nodes;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    inputs += (i ? ", %x" : "%x") + n + ": i32[2,3,2,3,2]";
    nodes += "  %t" + n + " = transpose %x" + n + " {perm=[4,1,2,3,0]}\n";
    nodes += i == 0 ? "  %s0 = relu %t0\n" : "  %s" + n + " = add %s" + std::to_string(i - 1) + " %t" + n + "\n";
    tensors.push_back(random_tensor(DType::i32, {2, 3, 2, 3, 2}, rng));
  }
  DeviceOptions options;
  options.target.wide_index = true;
  expect_device_matches("graph(" + inputs + ") {\n" + nodes + "  return %s99\n}\n", tensors, 0, no_symbols(), options);
}

TEST(GpuElementwise, BroadcastsAndSymbols) {
  std::mt19937 rng(seed());
  const Bindings bindings = [](std::string_view s) -> std::optional<int64_t> { return s == "N" ? 6 : 17; };
  expect_device_matches(
      "graph(%x: f32[N,3,M], %y: f32[1,3,1], %z: f32[N,1,M]) {\n  %a = mul %x %y\n  %b = add %a %z\n  return %b\n}\n",
      {random_tensor(DType::f32, {6, 3, 17}, rng), random_tensor(DType::f32, {1, 3, 1}, rng),
       random_tensor(DType::f32, {6, 1, 17}, rng)},
      0, bindings);
}

}  // namespace
}  // namespace trine
