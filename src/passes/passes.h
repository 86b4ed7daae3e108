// Every pass, one file each. What they do in detail is said there; the order, and why, in pipeline.cc.
#pragma once

#include "graph/graph.h"

namespace trine {

bool fold_constants(Graph& graph);
bool inline_branches(Graph& graph);
bool simplify(Graph& graph);
bool share_equal(Graph& graph);
bool fix_shapes(Graph& graph);
bool recognize_activations(Graph& graph);
bool recognize_norms(Graph& graph);
bool recognize_softmax(Graph& graph);
bool recognize_attention(Graph& graph);
bool fold_pads(Graph& graph);
bool fuse_matmul(Graph& graph);
bool fold_affine(Graph& graph);
bool fold_affine_forward(Graph& graph);
bool pool_first(Graph& graph);
bool nest_concats(Graph& graph);
bool make_depthwise(Graph& graph);
bool multiply_patches(Graph& graph);
bool multiply_points(Graph& graph);
bool join_products(Graph& graph);
bool fuse_epilogues(Graph& graph);
bool prefer_nhwc(Graph& graph);
bool sink_transposes(Graph& graph);
bool widen_halves(Graph& graph);
bool widen_biases(Graph& graph);
bool use_bf16(Graph& graph);
bool fuse_groups(Graph& graph);

}  // namespace trine
