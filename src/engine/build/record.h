// What an engine remembers of its build, in its metadata: "trine.build.threads" = "2", "trine.assumed.N" = "8".
#pragma once

#include "trine/engine/build.h"

namespace trine {

// Replaces what the metadata hold of a build. `types` are the sizes that `inputs` were verified with.
void store_record(std::map<std::string, std::string>& metadata, const BuildOptions& options,
                  const std::vector<Type>& inputs, const std::vector<Type>& types);

}  // namespace trine
