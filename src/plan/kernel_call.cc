#include "plan/kernel_call.h"

#include <array>

#include "plan/kernel_call_rules.h"

namespace trine {
namespace {

struct Row {
  std::string_view op;
  KernelCallRule rule;
};

constexpr std::array kRules = {
    Row{"conv", conv_calls},
    Row{"conv_transpose", conv_transpose_calls},
    Row{"matmul", matmul_calls},
    Row{"gemm", gemm_calls},
    Row{"fused_matmul", fused_matmul_calls},
    Row{"sdpa", sdpa_calls},
    Row{"lstm", rnn_calls},
    Row{"gru", rnn_calls},
    Row{"rnn", rnn_calls},
    Row{"max_pool", pool_calls},
    Row{"average_pool", pool_calls},
    Row{"global_max_pool", global_pool_calls},
    Row{"global_average_pool", global_pool_calls},
    Row{"resize", resize_calls},
    Row{"transpose", transpose_calls},
    Row{"concat", concat_calls},
    Row{"split", split_calls},
    Row{"slice", slice_calls},
    Row{"expand", expand_calls},
    Row{"gather", gather_calls},
};

const Row* find_rule(std::string_view op_name) {
  for (const Row& row : kRules)
    if (row.op == op_name) return &row;
  return nullptr;
}

}  // namespace

std::vector<KernelCall> kernel_calls(const Node& node, const NodeTypes& types) {
  const Row* row = find_rule(node.op->name);
  return row ? row->rule(node, types) : KernelCalls{};
}

bool has_kernel_calls(std::string_view op_name) { return find_rule(op_name) != nullptr; }

}  // namespace trine
