// What engines and models hold, as data: `trine inspect --json` prints it. In libtrine_rt, but for graph_info(Model).
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "trine/engine/engine.h"

namespace trine {

class Model;

struct ConstantInfo {
  std::string name;
  Type type;
  size_t bytes = 0;
  const void* data = nullptr;  // constants of one address are one: bodies share what they take from outside
};

// A tensor or a type is its text here: "f32[3,3]".
using AttributeInfo =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

struct GraphInfo;
struct NodeInfo {
  std::string name, op;
  std::map<std::string, AttributeInfo> attributes;
  std::vector<std::string> inputs, outputs;  // names of values; empty: left out
  std::vector<GraphInfo> bodies;             // of if, loop, scan, fused groups
};
struct GraphInfo {
  std::vector<IoInfo> inputs, outputs;
  std::vector<ConstantInfo> constants;
  std::vector<NodeInfo> nodes;
};
GraphInfo graph_info(const Engine& engine);  // as it was optimised
GraphInfo graph_info(const Model& model);    // as it was read

// The machine that a plan in an engine file was made for.
struct PlanMachine {
  std::string cpu;  // level: "avx512"; of a plan for a device its fingerprint: "sm_90 x132"
  int threads = 0;
  bool in_use = false;
};
std::vector<PlanMachine> plan_machines(const Engine& engine);
// What the engine has machine code for ("avx512") or kernels compiled for ("sm_90").
std::vector<std::string> code_levels(const Engine& engine);

struct StepInfo {
  std::string node, op, kernel;  // as in StepTime
  std::vector<Type> inputs, outputs;
  double flops = 0, bytes = 0;         // that the definition needs; 0 when not known
  std::string note;                    // why it has no kernel
  std::vector<std::string> operators;  // the node's, or those of the fused group that it stands for
  std::string provider;                // as in StepTime
};
// A value in the arena, where values whose lives do not overlap share places.
struct ArenaValue {
  std::string name;
  Type type;
  int64_t offset = 0, bytes = 0;
};
struct PlanInfo {
  std::vector<StepInfo> steps;
  size_t nodes_left = 0;  // whose sizes are known only at run time
  std::vector<ArenaValue> arena;
  int64_t arena_bytes = 0;
  size_t workspace_bytes = 0;
};
// For `sizes` of the inputs' symbols; likely ones where they say nothing. Throws Error when they do not fit together.
PlanInfo plan_info(const Engine& engine, const std::map<std::string, int64_t>& sizes = {},
                   const std::string& device = "cpu");

}  // namespace trine
