#include "row_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/float_formats.h"

namespace trine::dnn::test {
namespace {

// Scales keep sums of a few hundred products within the output's range, but not all of them.
void make_quantization(const ElementTypes& types, int64_t scales, bool integers, std::mt19937_64& random, Data& data) {
  std::uniform_real_distribution<float> real(0.0001f, 0.01f);
  auto scale = [&] { return integers ? std::ldexp(1.f, -7 - static_cast<int>(random() % 4)) : real(random); };
  auto zero = [&](DType type) { return static_cast<int32_t>(random() % 256) - (type == DType::i8 ? 128 : 0); };
  for (int64_t i = 0; i < scales; ++i) data.scales.push_back(scale());
  if (scales == 0) return;
  bool bytes = types.out == DType::u8 || types.out == DType::i8;
  data.quantization.in_zero = zero(types.in);
  data.quantization.out_multiplier = integers ? 0.5f : 0.37f;
  data.quantization.out_zero = zero(types.out);
  data.quantization.residual_scale = bytes ? (integers ? 0.25f : 0.13f) : 1;
  data.quantization.residual_zero = bytes ? zero(types.out) : 0;
}

template <class T>
void put(T value, char* to) {
  std::memcpy(to, &value, sizeof value);
}
void put_number(DType type, float x, char* to) {
  if (type == DType::f32) put(x, to);
  else if (is_half(type)) put(small_float_bits(type, x), to);
  else if (type == DType::i32) put(static_cast<int32_t>(x), to);
  else put(static_cast<uint8_t>(static_cast<int>(x)), to);
}

template <class T>
T at(const void* p, int64_t i) {
  T x;
  std::memcpy(&x, static_cast<const char*>(p) + i * static_cast<int64_t>(sizeof(T)), sizeof x);
  return x;
}

// Of every pattern of 16 bits.
std::vector<double> all_values(DType type) {
  std::vector<double> values(1 << 16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = small_float_value(type, static_cast<uint16_t>(i));
  return values;
}
double half_value(DType type, uint16_t bits) {
  static const std::vector<double> f16 = all_values(DType::f16), bf16 = all_values(DType::bf16);
  return (type == DType::f16 ? f16 : bf16)[bits];
}

// An output of 16 bits is rounded once more: by half a unit in its last place, of the least ones at least. One of 8-bit
// integers may round either way where the bound reaches past a half.
void round_output(DType type, bool integers, std::vector<double>& out, std::vector<double>& bound) {
  if (type == DType::f32 || type == DType::i32) return;
  const bool is_16_bits = is_half(type);
  for (size_t i = 0; i < out.size(); ++i) {
    double &y = out[i], &b = bound[i];
    if (integers || b == 0) {
      y = round_to(type, y), b = 0;
    } else if (is_16_bits) {
      b += std::ldexp(std::abs(y) + b, type == DType::f16 ? -11 : -8) + std::ldexp(1, type == DType::f16 ? -25 : -134);
    } else {
      const double low = round_to(type, y - b), high = round_to(type, y + b);
      y = (low + high) / 2, b = (high - low) / 2;
    }
  }
}

}  // namespace

uint64_t seed() {
  static const uint64_t value = [] {
    const char* given = std::getenv("TRINE_SEED");
    uint64_t s = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::printf("TRINE_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return value;
}

Data make_data(const Problem& problem, bool integers, std::mt19937_64& random) {
  OperandSizes sizes = operand_sizes(problem);
  ElementTypes types = types_of(problem);
  std::uniform_int_distribution<int> small(-3, 3);
  std::normal_distribution<float> normal;
  auto one = [&](DType type) -> float {
    if (type == DType::u8) return static_cast<float>(random() % 256);
    if (type == DType::i8) return static_cast<float>(random() % 256) - 128;
    if (type == DType::i32) return static_cast<float>(random() % 20001) - 10000;
    if (integers) return static_cast<float>(small(random));
    return type == DType::f32 ? normal(random) : static_cast<float>(round_to(type, normal(random)));
  };
  auto fill = [&](Floats& v, DType type, int64_t n) {
    v.resize(static_cast<size_t>(n));
    for (float& x : v) x = one(type);
  };
  Data data;
  for (int i = 0; i < kMostOperands; ++i) {
    if (sizes.integers[i]) data.integers[i].assign(static_cast<size_t>(sizes.in[i]), *sizes.integers[i]);
    else fill(data.in[i], sizes.in_types[i], sizes.in[i]);
  }
  for (int i = 0; i < kMostWeights; ++i) fill(data.weights[i], sizes.weight_types[i], sizes.weights[i]);
  fill(data.bias, sizes.bias_type, sizes.bias);
  fill(data.residual, sizes.residual_type, sizes.residual);
  make_quantization(types, sizes.scales, integers, random, data);
  return data;
}

Encoded::Encoded(DType type, const Floats& v) {
  const size_t size = byte_size(type);
  bytes_.resize(v.size() * size);
  if (type == DType::f32 && !v.empty()) std::memcpy(bytes_.data(), v.data(), bytes_.size());
  else
    for (size_t i = 0; i < v.size(); ++i) put_number(type, v[i], bytes_.data() + i * size);
}

double decode(DType type, const void* p, int64_t i) {
  if (type == DType::f32) return at<float>(p, i);
  if (is_half(type)) return half_value(type, at<uint16_t>(p, i));
  if (type == DType::i32) return at<int32_t>(p, i);
  if (type == DType::u8) return at<uint8_t>(p, i);
  if (type == DType::i8) return at<int8_t>(p, i);
  return at<float>(p, i);
}

// The number of elements past their bound, with the worst one described. What may be past the largest f16 may be
// infinity.
void compare(std::string_view row, const std::vector<double>& got, const std::vector<double>& want,
             const std::vector<double>& bound, DType type, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  size_t bad = 0, first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double g = got[i], w = want[i];
    const bool overflows = type == DType::f16 && g == std::copysign(INFINITY, w) && std::abs(w) + bound[i] > 65504;
    bool same = (std::isnan(g) && std::isnan(w)) || g == w || std::abs(g - w) <= bound[i] || overflows;
    if (!same && bad++ == 0) first = i;
  }
  EXPECT_EQ(bad, 0u) << row << " " << what << ": element " << first << " of " << got.size() << " is " << got[first]
                     << ", should be " << want[first] << " +- " << bound[first];
}

void round_outputs(const Problem& problem, bool integers, Expected& e) {
  const OperandSizes sizes = operand_sizes(problem);
  // Contractions of integers round by their own rule, in the oracle.
  if (types_of(problem).are_integers()) return;
  std::vector<double> again = e.out[0];
  for (int i = 0; i < kMostOperands; ++i) round_output(sizes.out_types[i], integers, e.out[i], e.bound[i]);
  if (!e.bound_of_transforms.empty()) round_output(sizes.out_types[0], integers, again, e.bound_of_transforms);
}

void round_inputs(const Problem& problem, Data& data) {
  const OperandSizes sizes = operand_sizes(problem);
  for (int i = 0; i < kMostOperands; ++i)
    if (sizes.in_types[i] != DType::f32)
      for (float& x : data.in[i]) x = static_cast<float>(round_to(sizes.in_types[i], x));
  for (int i = 0; i < kMostWeights; ++i)
    if (sizes.weight_types[i] != DType::f32)
      for (float& x : data.weights[i]) x = static_cast<float>(round_to(sizes.weight_types[i], x));
}

double untouched(DType type) {
  uint32_t pattern = 0xa5a5a5a5u;
  return decode(type, &pattern, 0);
}

double round_to(DType type, double x) {
  if (is_half(type)) return half_value(type, small_float_bits(type, x));
  if (type != DType::i8 && type != DType::u8) return x;
  const double low = type == DType::i8 ? -128 : 0;
  return std::isnan(x) ? 0 : std::clamp(std::nearbyint(x), low, low + 255);
}

}  // namespace trine::dnn::test
