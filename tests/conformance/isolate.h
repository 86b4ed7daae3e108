// Runs numbered jobs in a child process; a crash or a hang costs the job, not the run.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace trine::conformance {

// The text that `job(i)` returns for each i < count; "crashed: ..." where it died, "took more than ..." where it hung.
std::vector<std::string> run_isolated(size_t count, unsigned seconds_each, const std::function<std::string(size_t)>& job);

}  // namespace trine::conformance
