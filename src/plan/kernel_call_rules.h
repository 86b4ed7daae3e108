// The rules behind kernel_calls, one per operator, grouped by file.
#pragma once

#include "plan/kernel_call.h"

namespace trine {

using KernelCalls = std::vector<KernelCall>;
using KernelCallRule = KernelCalls (*)(const Node&, const NodeTypes&);

// kernel_call_contraction.cc
KernelCalls conv_calls(const Node& node, const NodeTypes& t);
KernelCalls conv_transpose_calls(const Node& node, const NodeTypes& t);
KernelCalls matmul_calls(const Node& node, const NodeTypes& t);
KernelCalls gemm_calls(const Node& node, const NodeTypes& t);
KernelCalls fused_matmul_calls(const Node& node, const NodeTypes& t);
KernelCalls rnn_calls(const Node& node, const NodeTypes& t);

// kernel_call_attention.cc
KernelCalls sdpa_calls(const Node& node, const NodeTypes& t);

// kernel_call_image.cc
KernelCalls pool_calls(const Node& node, const NodeTypes& t);
KernelCalls global_pool_calls(const Node& node, const NodeTypes& t);
KernelCalls resize_calls(const Node& node, const NodeTypes& t);

// kernel_call_copy.cc
KernelCalls transpose_calls(const Node& node, const NodeTypes& t);
KernelCalls concat_calls(const Node& node, const NodeTypes& t);
KernelCalls split_calls(const Node& node, const NodeTypes& t);
KernelCalls slice_calls(const Node& node, const NodeTypes& t);
KernelCalls expand_calls(const Node& node, const NodeTypes& t);
KernelCalls gather_calls(const Node& node, const NodeTypes& t);

// Fills activation and residual of an epilogue from the node's attributes; false when dnn has no such activation.
bool set_epilogue(const Node& node, bool residual, dnn::Epilogue& epilogue);

}  // namespace trine
