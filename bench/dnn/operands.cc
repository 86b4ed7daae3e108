#include "operands.h"

#include <random>

#include "dnn/operands.h"

namespace trine::bench {
namespace {

const float* random_floats(Operands& to, int64_t count, std::minstd_rand& random) {
  if (count == 0) return nullptr;
  auto data = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    data[static_cast<size_t>(i)] = (static_cast<float>(random() % 4096) - 2047.5F) / 2048;  // halves: never zero
  }
  to.kept.push_back(std::move(data));
  return to.kept.back().get();
}

}  // namespace

Operands make_operands(const dnn::Problem& problem) {
  const dnn::OperandSizes sizes = dnn::operand_sizes(problem);
  std::minstd_rand random(20231);
  Operands o;
  for (int i = 0; i < dnn::kMostOperands; ++i) o.in[i] = random_floats(o, o.sizes_in[i] = sizes.in[i], random);
  for (int i = 0; i < dnn::kMostWeights; ++i)
    o.weights[i] = random_floats(o, o.sizes_weights[i] = sizes.weights[i], random);
  for (int i = 0; i < dnn::kMostOperands; ++i) o.sizes_out[i] = sizes.out[i];
  o.bias = random_floats(o, o.size_bias = sizes.bias, random);
  o.before = random_floats(o, sizes.residual, random);
  return o;
}

}  // namespace trine::bench
