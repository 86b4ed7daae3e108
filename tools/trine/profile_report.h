// What `trine profile` makes of the traces that processes have written.
#pragma once

#include <string>
#include <vector>

namespace trine::cli {

// One trace of all events. Each trace is Profiler::write's text.
std::string merged_traces(const std::vector<std::string>& traces);

// The rows of all processes, as "table", "json" or "csv".
std::string profile_report(const std::vector<std::string>& traces, const std::string& format);

}  // namespace trine::cli
