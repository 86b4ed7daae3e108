// What an Engine handle points to.
#pragma once

#include "codegen/object.h"
#include "plan/plan.h"
#include "trine/engine/engine.h"
#include "trine/engine/inspect.h"
#include "trine/engine/ranges.h"

namespace trine {

// Compiled kernels of a device, as its runtime makes and takes them.
struct DeviceCode {
  std::string device;  // as Plan::device
  Tensor bytes;        // u8
};

struct Engine::State {
  std::shared_ptr<const Graph> graph;        // optimised, portable
  std::shared_ptr<const Plan> plan;          // for this machine
  std::vector<codegen::ObjectCode> objects;  // machine code per CPU level
  std::vector<DeviceCode> device_code;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> notes;
  bool replanned = false;
  std::vector<IoInfo> inputs, outputs;
  SymbolRanges ranges;                // as the metadata hold them
  std::vector<PlanMachine> machines;  // of the plans in the file; empty when there is none
};

// Fills inputs and outputs from the graph.
void set_io(Engine::State& state);

// The plan's machine: choices and packed weights made under one fingerprint are valid under the same one.
std::string plan_fingerprint(const Plan& plan);

// Null for this CPU. Throws Error{device}.
std::shared_ptr<const Target> target_of(const std::string& device);

// Makes loop code of the engine's objects available to the plan, when there is an object for this CPU level.
void attach_code(Plan& plan, const std::vector<codegen::ObjectCode>& objects);

}  // namespace trine
