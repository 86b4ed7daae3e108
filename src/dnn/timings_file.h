// The timing cache as a file: its text.
#pragma once

#include "trine/dnn/timings.h"

namespace trine::dnn {

// The whole file; nothing when there is none yet. Throws Error{io}.
std::optional<std::string> read_timings(const std::string& path);

}  // namespace trine::dnn
