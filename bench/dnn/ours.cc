#include "ours.h"

#include <algorithm>
#include <cstdint>

#include "base/float_formats.h"

namespace trine::bench {
namespace {

// Reals in [-1, 1) in another type: integers of 8 bits fill their range.
const void* converted(DType type, const float* from, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i) {
    if (type == DType::f32) static_cast<float*>(to)[i] = from[i];
    else if (byte_size(type) == 2) static_cast<uint16_t*>(to)[i] = small_float_bits(type, from[i]);
    else if (type == DType::u8) static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>((from[i] + 1) * 128);
    else if (type == DType::i8) static_cast<int8_t*>(to)[i] = static_cast<int8_t>(from[i] * 128);
    else static_cast<int32_t*>(to)[i] = static_cast<int32_t>(from[i] * 1000);
  }
  return to;
}

}  // namespace

void* OurRun::memory(size_t bytes) {
  constexpr size_t kAlignment = 64;
  kept_.push_back(std::make_unique<char[]>(bytes + kAlignment));
  const auto address = reinterpret_cast<uintptr_t>(kept_.back().get());
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

OurRun::OurRun(const dnn::KernelRow& row, const dnn::Problem& problem, const Operands& operands, ThreadPool& pool)
    : row_(&row), problem_(&problem), size_out_(operands.sizes_out[0]) {
  const dnn::ElementTypes types = dnn::types_of(problem);
  const auto bytes = [](DType type, int64_t count) { return static_cast<size_t>(count) * byte_size(type); };
  const auto copied = [&](DType type, const float* data, int64_t count) -> const void* {
    return data ? converted(type, data, count, memory(bytes(type, count))) : nullptr;
  };
  const auto input = [&](int i) { return i == 0 ? types.in : i == 1 ? types.weights : DType::f32; };
  for (int i = 0; i < dnn::kMostOperands; ++i) args_.in[i] = copied(input(i), operands.in[i], operands.sizes_in[i]);
  for (int i = 0; i < dnn::kMostOperands; ++i)
    args_.out[i] =
        operands.sizes_out[i] ? memory(bytes(i == 0 ? types.out : DType::f32, operands.sizes_out[i])) : nullptr;
  args_.bias = copied(types.bias, operands.bias, operands.size_bias);
  // Rows may use `out` for partial sums.
  args_.residual = copied(types.out, operands.before, operands.before ? size_out_ : 0);
  if (const size_t size = dnn::packed_bytes(row, problem)) {
    std::vector<const void*> weights;
    for (int i = 0; i < dnn::kMostWeights; ++i)
      weights.push_back(copied(types.weights, operands.weights[i], operands.sizes_weights[i]));
    void* packed = memory(size);
    row.prepack(problem, weights, packed);
    args_.packed = packed;
  }
  if (const size_t size = dnn::workspace_bytes(row, problem, pool.threads())) args_.workspace = memory(size);
  args_.pool = &pool;
}

std::vector<float> OurRun::output() const {
  const auto* data = static_cast<const float*>(args_.out[0]);
  return std::vector<float>(data, data + size_out_);
}

}  // namespace trine::bench
