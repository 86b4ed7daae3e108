#include "ours.h"

#include <algorithm>
#include <cstring>

namespace trine::bench {

void* OurRun::memory(size_t bytes) {
  constexpr size_t kAlignment = 64;
  kept_.push_back(std::make_unique<char[]>(bytes + kAlignment));
  const auto address = reinterpret_cast<uintptr_t>(kept_.back().get());
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

OurRun::OurRun(const dnn::KernelRow& row, const dnn::Problem& problem, const Operands& operands, ThreadPool& pool)
    : row_(&row), problem_(&problem), size_out_(operands.sizes_out[0]) {
  const auto bytes = [](int64_t count) { return static_cast<size_t>(count) * sizeof(float); };
  const auto copied = [&](const float* data, int64_t count) -> const float* {
    return data ? static_cast<const float*>(std::memcpy(memory(bytes(count)), data, bytes(count))) : nullptr;
  };
  for (int i = 0; i < dnn::kMostOperands; ++i) args_.in[i] = copied(operands.in[i], operands.sizes_in[i]);
  for (int i = 0; i < dnn::kMostOperands; ++i)
    args_.out[i] = operands.sizes_out[i] ? memory(bytes(operands.sizes_out[i])) : nullptr;
  args_.bias = copied(operands.bias, operands.size_bias);
  args_.residual = copied(operands.before, operands.before ? size_out_ : 0);  // rows may use `out` for partial sums
  if (const size_t size = dnn::packed_bytes(row, problem)) {
    const std::vector<const void*> weights(std::begin(operands.weights), std::end(operands.weights));
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
