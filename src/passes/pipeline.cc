#include "passes/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "graph/infer.h"
#include "passes/passes.h"
#include "passes/use_halves.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr Pass kPasses[] = {
    // Clean up what exporters leave behind.
    {"fold_constants", "computes what depends on constants alone", fold_constants},
    {"inline_branches", "an if with a constant condition becomes the branch it takes", inline_branches},
    {"simplify", "drops nodes that do nothing; merges chains of two", simplify},
    {"fix_shapes", "target shapes become expressions; the nodes that computed them die", fix_shapes},
    {"share_equal", "equal nodes and constants become one", share_equal},
    // Give names to what was spelled out. Attention looks for plain matmul nodes, so it comes before fuse_matmul.
    {"recognize_norms", "layer and RMS normalisations written as arithmetic become one node", recognize_norms},
    {"recognize_softmax", "exp(x) / sum(exp(x)) becomes softmax", recognize_softmax},
    {"recognize_activations", "gelu, swish, hard_swish, hard_sigmoid and mish written as arithmetic become one node",
     recognize_activations},
    {"recognize_attention", "softmax(q k^T) v becomes sdpa", recognize_attention},
    // Prepare contractions for their kernels, from the inside out: padding, weights, epilogue.
    {"fold_pads", "constant padding moves into convolutions and pools", fold_pads},
    {"fuse_matmul", "matmul and gemm become fused_matmul, with transposes and scales of operands", fuse_matmul},
    {"fold_affine", "batch norms and per-channel scales and shifts move into weights and bias", fold_affine},
    {"fold_affine_forward", "scales and shifts that stand after an activation move into the weights that read them",
     fold_affine_forward},
    {"pool_first", "averages go before convolutions of one tap, which then have fewer pixels", pool_first},
    {"nest_concats", "a concat that holds another's inputs takes its result", nest_concats},
    {"make_depthwise", "scales and shifts of what a concat joins become depthwise convolutions", make_depthwise,
     Pass::For::cpu_fp32},
    {"fuse_epilogues", "activations and residual additions move into convolutions and products", fuse_epilogues},
    // Choose the layout, and let transposes cancel; those that reach a product become its flags.
    {"multiply_patches", "convolutions of large windows side by side, of few channels, become products",
     multiply_patches, Pass::For::device},
    {"multiply_points", "convolutions of images of one pixel become products", multiply_points, Pass::For::device},
    {"prefer_nhwc", "convolutions and pools work with channels innermost, between transposes", prefer_nhwc},
    {"sink_transposes", "transposes move towards the outputs until they cancel", sink_transposes},
    {"fuse_matmul", "matmul and gemm become fused_matmul, with transposes and scales of operands", fuse_matmul},
    // Products meet what transposes kept from them: a scale of channels (its constant is transposed first), a residual.
    {"fold_constants", "computes what depends on constants alone", fold_constants},
    {"fold_affine", "batch norms and per-channel scales and shifts move into weights and bias", fold_affine},
    {"fuse_epilogues", "activations and residual additions move into convolutions and products", fuse_epilogues},
    // Number formats: casts come in, which join elementwise neighbours.
    {"join_products", "products of one matrix that attention reads become one", join_products, Pass::For::device},

    {"widen_halves", "f16 and bf16 nodes without kernels of their own compute in f32", widen_halves, Pass::For::cpu},
    {"widen_biases", "biases and masks of f16 and bf16 nodes become f32", widen_biases, Pass::For::device},
    {"use_bf16", "convolutions and products of f32 read bf16", use_bf16, Pass::For::cpu_bf16},
    // New constants and chains came up on the way.
    {"fix_shapes", "target shapes become expressions; the nodes that computed them die", fix_shapes},
    {"fold_constants", "computes what depends on constants alone", fold_constants},
    {"simplify", "drops nodes that do nothing; merges chains of two", simplify},
    {"share_equal", "equal nodes and constants become one", share_equal},
    // Last: what stays is divided among generated kernels.
    {"fuse_groups", "elementwise nodes and reductions become groups of one kernel each", fuse_groups},
    // What is stored between kernels; they compute in f32.
    {"use_f16_throughout", "what flows between kernels is f16; sums and biases stay f32",
     [](Graph& graph) { return use_halves(graph, {.half = DType::f16}); }, Pass::For::device_fp16},
    {"use_bf16_throughout", "what flows between kernels is bf16; sums and biases stay f32",
     [](Graph& graph) { return use_halves(graph, {.half = DType::bf16}); }, Pass::For::device_bf16},
};

bool runs(Pass::For where, const PassOptions& options) {
  switch (where) {
    case Pass::For::all: return true;
    case Pass::For::cpu: return !options.device;
    case Pass::For::cpu_fp32: return !options.device && !options.bf16;
    case Pass::For::cpu_bf16: return !options.device && options.bf16;
    case Pass::For::device: return options.device;
    case Pass::For::device_fp16: return options.device && options.fp16;
    case Pass::For::device_bf16: return options.device && options.bf16;
  }
  return true;
}

size_t count_nodes(const Graph& graph) { return graph.nodes.size(); }

// A fused body is finished; the bodies of control flow are graphs like any other.
bool run_everywhere(const Pass& pass, Graph& graph) {
  bool changed = false;
  for (Node& node : graph.nodes)
    if (node.op && !node.is("fused"))
      for (auto& body : node.bodies) changed = run_everywhere(pass, *body) || changed;
  return pass.run(graph) || changed;
}

void check_names(const std::vector<std::string>& names, std::string_view where) {
  for (const std::string& name : names) {
    if (find_pass(name)) continue;
    std::string known;
    for (const Pass& pass : passes())
      if (find_pass(pass.name) == &pass) known += fmt::format("{}{}", known.empty() ? "" : ", ", pass.name);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: no pass is called '{}'; accepted are {}", where, name, known));
  }
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kPasses)
    if (pass.name == name) return &pass;
  return nullptr;
}

void unshare_bodies(Graph& graph) {
  for (Node& node : graph.nodes)
    for (auto& body : node.bodies) {
      body = std::make_shared<Graph>(*body);
      unshare_bodies(*body);
    }
}

PassRecord run_pass(const Pass& pass, Graph& graph) {
  const auto start = std::chrono::steady_clock::now();
  PassRecord record{.name = pass.name};
  try {
    record.changed = run_everywhere(pass, graph);
    if (record.changed) {
      graph.verify();
      infer_shapes(graph);
    }
  } catch (const Error& e) {
    if (e.code() == ErrorCode::out_of_memory) throw;  // not the pass's fault
    throw Error(e.code(), fmt::format("pass {}: {}; leave it out with TRINE_SKIP={}", pass.name, e.what(), pass.name));
  }
  record.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  record.nodes = count_nodes(graph);
  return record;
}

std::vector<PassRecord> run_passes(Graph& graph, const PassOptions& options) {
  std::vector<std::string> skip = env_list("TRINE_SKIP");
  check_names(skip, "TRINE_SKIP");
  check_names(options.skip, "skip");
  skip.insert(skip.end(), options.skip.begin(), options.skip.end());
  unshare_bodies(graph);
  infer_shapes(graph);
  std::vector<PassRecord> records;
  for (const Pass& pass : kPasses) {
    const bool skipped = std::find(skip.begin(), skip.end(), pass.name) != skip.end() || !runs(pass.where, options);
    records.push_back(skipped ? PassRecord{.name = pass.name, .skipped = true, .nodes = count_nodes(graph)}
                              : run_pass(pass, graph));
    const PassRecord& r = records.back();
    if (debug_shows(DebugLevel::graphs)) {
      std::fputs(fmt::format("pass {}: {}, {} nodes, {:.2f} ms\n", r.name,
                             r.skipped   ? "skipped"
                             : r.changed ? "changed"
                                         : "nothing to do",
                             r.nodes, r.milliseconds)
                     .c_str(),
                 stderr);
      if (r.changed) std::fputs(graph.text().c_str(), stderr);
    }
    if (options.see) options.see(r, graph);
  }
  return records;
}

}  // namespace trine
