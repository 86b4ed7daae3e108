// Machine code for a plan's loops, made by libtrine_llvm, which is opened when first needed.
#pragma once

#include "codegen/object.h"
#include "plan/plan.h"

namespace trine {

// Code for every loop kernel of the plan and its bodies at the plan's CPU level. Empty when libtrine_llvm is not there;
// `note` then says so.
std::vector<codegen::ObjectCode> generate_code(const Plan& plan, std::string& note);

}  // namespace trine
