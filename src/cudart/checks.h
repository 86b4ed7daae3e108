// Programs that `trine cc --check` has made: what was found decides how they end.
#pragma once

#include <string>
#include <vector>

namespace trine::cudart {

// Once for a program, when it starts. From then on it ends with status 1 where it would have ended with 0 although
// something was found; with the check `memory`, device memory that is not freed by then is found too.
void begin_checks(const std::vector<std::string>& checks);

}  // namespace trine::cudart
