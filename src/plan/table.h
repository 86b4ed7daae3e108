// A prepared plan as text for people.
#pragma once

#include "plan/executor.h"

namespace trine {

// One line per call: kernel, what it stands for, shapes, bytes, flops; then totals.
std::string plan_table(const Plan& plan, const std::vector<Type>& input_types);
// One line per value in the arena: when it lives, where, how large.
std::string memory_table(const Plan& plan, const std::vector<Type>& input_types);

// What a profile tells of one call.
struct CallTime {
  std::string node, op, kernel;
  double seconds = 0, flops = 0, bytes = 0;
};
CallTime call_time(const CallEvent& event);

}  // namespace trine
