// One self-contained page about an engine: inputs, time of each step, plan, memory, graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trine/engine/engine.h"

namespace trine::cli {

// Runs the engine a few times on random inputs (of the sizes in `shapes`) for the step times.
std::string html_page(const std::string& title, const Engine& engine, const std::map<std::string, int64_t>& sizes,
                      const std::vector<std::string>& shapes);

}  // namespace trine::cli
