// Runs numbered jobs in child processes; a crash or a hang costs the job, not the run.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace trine::conformance {

// The text that `job(i)` returns for each i < count; "crashed: ..." where it died, "took more than ..." where it hung.
// `processes` of them run at a time.
std::vector<std::string> run_isolated(size_t count, unsigned seconds_each, size_t processes,
                                      const std::function<std::string(size_t)>& job);

}  // namespace trine::conformance
