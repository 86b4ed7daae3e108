// Plan: how each node of an optimised graph runs on one kind of machine. Data: it can be printed, saved and compared.
// Sizes are bound later, when shapes are known (plan/executor.h).
#pragma once

#include <functional>
#include <map>
#include <span>

#include "codegen/loop_kernel.h"
#include "dnn/kernel_row.h"
#include "graph/graph.h"

namespace trine {

enum class StepKind : uint8_t {
  kernel,  // rows of dnn
  loop,    // generated loop kernels
  view,    // the input's bytes under another shape: nothing runs
  host,    // the operator's reference, control flow included
};
std::string_view name(StepKind kind);

struct Plan;
class Target;

struct PlanStep {
  StepKind kind = StepKind::host;
  std::vector<std::string> rows;              // kernel: the row of each call, as chosen at build
  std::vector<int> packed;                    // kernel: each call's weights in Plan::packed, -1: none
  std::vector<codegen::LoopKernel> loops;     // loop; empty: lowered when sizes are known
  std::string note;                           // why the step has no better kind
  std::vector<std::shared_ptr<Plan>> bodies;  // host: plans of the node's bodies
};

// Weights as a row wants them.
struct PackedWeights {
  dnn::Packing packing = dnn::Packing::none;
  Tensor bytes;  // u8
};

// Finds compiled code for a loop kernel; null where there is none.
using CodeLookup = std::function<codegen::LoopEntry(uint64_t kernel_hash)>;

struct Plan {
  std::shared_ptr<const Graph> graph;
  std::vector<PlanStep> steps;  // one per node of the graph
  std::vector<PackedWeights> packed;
  dnn::Limits limits;  // what rows may be used
  std::string device;  // that rows were chosen for, by its fingerprint; empty: this CPU
  CodeLookup code;
};

// Decides the kind of every step and lowers loops; chooses no rows yet. The graph must have its types inferred.
std::shared_ptr<Plan> make_plan(std::shared_ptr<const Graph> graph, const dnn::Limits& limits);

// Gives every free symbol of the graph's inputs a likely size: `given`, else one with which shapes fit together
// (plan/likely_sizes.h).
std::vector<Type> representative_inputs(const Graph& graph, const std::map<std::string, int64_t>& given = {});

// Chooses rows anew for these input types and packs the weights they want into the plan, bodies included. Returns what
// could not be prepared with these types (empty: nothing); such steps choose when real sizes are known. For a device
// rows are named and nothing is packed.
std::string choose_rows(Plan& plan, const std::vector<Type>& input_types, const Target* target = nullptr);

}  // namespace trine
