// One self-contained page about an engine: inputs, time of each step, plan, memory, graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "step_times.h"

namespace trine::cli {

std::string html_page(const std::string& title, const Engine& engine, const std::map<std::string, int64_t>& sizes,
                      const StepTimes& times);

}  // namespace trine::cli
