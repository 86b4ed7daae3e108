// A prepared plan as rows, and as text for people.
#pragma once

#include "plan/executor.h"

namespace trine {

struct PlanRow {
  std::string node, op, kernel;
  double flops = 0, bytes = 0;
  std::vector<Type> inputs, outputs;   // constants are not counted among the inputs
  std::string note;                    // why it has no kernel
  std::vector<std::string> operators;  // the node's, or those of the group that it stands for
  std::string provider;                // "own", "cublaslt", "host"
};
struct ArenaRow {
  std::string name;
  Type type;
  int64_t offset = 0, bytes = 0;
};
std::vector<PlanRow> plan_rows(const Plan& plan, const Segment& segment);
std::vector<ArenaRow> arena_rows(const Segment& segment);  // by offset
// For sizes only: it cannot run. `target` null: this CPU.
std::unique_ptr<Segment> prepare_sizes(const Plan& plan, const std::vector<Type>& input_types,
                                       const Target* target = nullptr);

// One line per call: kernel, what it stands for, shapes, bytes, flops; then totals.
std::string plan_table(const Plan& plan, const std::vector<Type>& input_types, const Target* target = nullptr);
// One line per value in the arena: when it lives, where, how large.
std::string memory_table(const Plan& plan, const std::vector<Type>& input_types, const Target* target = nullptr);

// What a profile tells of one call.
struct CallTime {
  std::string node, op, kernel;
  double seconds = 0, flops = 0, bytes = 0;
  std::string provider;  // as in PlanRow
};
CallTime call_time(const CallEvent& event);

}  // namespace trine
