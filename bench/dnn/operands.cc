#include "operands.h"

#include <cmath>
#include <random>

#include "base/float_formats.h"
#include "dnn/operands.h"

namespace trine::bench {
namespace {

// A real in [-1, 1) as a number of another type.
void store(DType type, float value, void* to, int64_t i) {
  if (type == DType::f32) static_cast<float*>(to)[i] = value;
  else if (byte_size(type) == 2) static_cast<uint16_t*>(to)[i] = small_float_bits(type, value);
  else if (type == DType::u8) static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>((value + 1) * 128);
  else if (type == DType::i8) static_cast<int8_t*>(to)[i] = static_cast<int8_t>(std::floor(value * 128));
  else static_cast<int32_t*>(to)[i] = static_cast<int32_t>(value * 1000);
}

float load(DType type, const void* from, int64_t i) {
  if (type == DType::f32) return static_cast<const float*>(from)[i];
  if (byte_size(type) == 2) {
    return static_cast<float>(small_float_value(type, static_cast<const uint16_t*>(from)[i]));
  }
  if (type == DType::u8) return static_cast<const uint8_t*>(from)[i];
  if (type == DType::i8) return static_cast<const int8_t*>(from)[i];
  return static_cast<float>(static_cast<const int32_t*>(from)[i]);
}

Operand random_numbers(Operands& to, DType type, int64_t count, std::minstd_rand& random) {
  if (count == 0) return {};
  void* data = aligned_memory(to.kept, static_cast<size_t>(count) * byte_size(type));
  for (int64_t i = 0; i < count; ++i) {
    store(type, (static_cast<float>(random() % 4096) - 2047.5F) / 2048, data, i);  // halves: never zero
  }
  return {data, type, count};
}

// Products of such integers deviate by some 147 * 74 (u8 by i8), so a sum of n by sqrt(n) times that: 36 when scaled.
// Channels part by up to a quarter.
std::vector<float> scales_of(const dnn::Problem& problem, int64_t count) {
  if (dnn::types_of(problem).out == DType::i32) return {};
  std::vector<float> scales(static_cast<size_t>(count));
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = static_cast<float>((1 - static_cast<double>(i % 8) / 32) / (300 * std::sqrt(terms(problem))));
  }
  return scales;
}

}  // namespace

double terms(const dnn::Problem& problem) {
  if (const auto* p = std::get_if<dnn::ConvProblem>(&problem)) {
    return static_cast<double>(p->in_per_group() * p->kernel[0] * p->kernel[1] * p->kernel[2]);
  }
  if (const auto* p = std::get_if<dnn::MatmulProblem>(&problem)) return static_cast<double>(p->k);
  if (const auto* p = std::get_if<dnn::PoolProblem>(&problem))
    return static_cast<double>(p->kernel[0] * p->kernel[1] * p->kernel[2]);
  if (const auto* p = std::get_if<dnn::AttentionProblem>(&problem)) return static_cast<double>(p->head_dim + p->kv_len);
  return 8;  // resizing, or nothing to compare with
}

void* aligned_memory(std::vector<std::unique_ptr<char[]>>& kept, size_t bytes) {
  constexpr size_t kAlignment = 64;
  kept.push_back(std::make_unique_for_overwrite<char[]>(bytes + kAlignment));
  const auto address = reinterpret_cast<uintptr_t>(kept.back().get());
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

Operands make_operands(const dnn::Problem& problem, const dnn::Quantization& quantization) {
  const dnn::OperandSizes sizes = dnn::operand_sizes(problem);
  const dnn::ElementTypes types = dnn::types_of(problem);
  std::minstd_rand random(20231);
  Operands o;
  for (int i = 0; i < dnn::kMostOperands; ++i) {
    const DType type = i == 0 ? types.in : i == 1 ? types.weights : DType::f32;
    o.in[i] = random_numbers(o, type, sizes.in[i], random);
    o.out[i] = {nullptr, i == 0 ? types.out : DType::f32, sizes.out[i]};
  }
  for (int i = 0; i < dnn::kMostWeights; ++i) o.weights[i] = random_numbers(o, types.weights, sizes.weights[i], random);
  o.bias = random_numbers(o, types.bias, sizes.bias, random);
  o.before = random_numbers(o, types.out, sizes.residual, random);
  o.scales = scales_of(problem, sizes.scales);
  o.quantization = quantization;
  o.quantization.scale = o.scales.data();
  return o;
}

std::vector<float> as_floats(DType type, const void* data, int64_t count) {
  std::vector<float> floats(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) floats[static_cast<size_t>(i)] = load(type, data, i);
  return floats;
}

}  // namespace trine::bench
