#include "ours.h"

namespace trine::bench {

OurRun::OurRun(const dnn::KernelRow& row, const dnn::Problem& problem, const Operands& operands, ThreadPool& pool)
    : row_(&row), problem_(&problem), out_(operands.out[0]) {
  for (int i = 0; i < dnn::kMostOperands; ++i) {
    const Operand& out = operands.out[i];
    args_.in[i] = operands.in[i].data;
    if (out.count) args_.out[i] = aligned_memory(kept_, static_cast<size_t>(out.count) * byte_size(out.type));
  }
  args_.bias = operands.bias.data;
  args_.residual = operands.before.data;
  if (!operands.scales.empty()) args_.quantization = &operands.quantization;
  if (const size_t size = dnn::packed_bytes(row, problem)) {
    std::vector<const void*> weights;
    for (const Operand& w : operands.weights) weights.push_back(w.data);
    void* packed = aligned_memory(kept_, size);
    row.prepack(problem, weights, packed);
    args_.packed = packed;
  }
  if (const size_t size = dnn::workspace_bytes(row, problem, pool.threads())) {
    args_.workspace = aligned_memory(kept_, size);
  }
  args_.pool = &pool;
}

}  // namespace trine::bench
