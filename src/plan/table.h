// A prepared plan as text for people.
#pragma once

#include "plan/executor.h"
#include "trine/engine/session.h"

namespace trine {

// One line per call: kernel, what it stands for, shapes, bytes, flops; then totals.
std::string plan_table(const Plan& plan, const std::vector<Type>& input_types);
// One line per value in the arena: when it lives, where, how large.
std::string memory_table(const Plan& plan, const std::vector<Type>& input_types);

StepTime step_time(const CallEvent& event);

}  // namespace trine
