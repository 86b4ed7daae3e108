// What an engine remembers of its build, in its metadata: "trine.build.threads" = "2", "trine.assumed.N" = "8".
#pragma once

#include "engine/build/precision.h"
#include "trine/engine/build.h"

namespace trine {

// Replaces what the metadata hold of a build. `types` are the sizes that `inputs` were verified with.
void store_record(std::map<std::string, std::string>& metadata, const BuildOptions& options,
                  const std::vector<Type>& inputs, const std::vector<Type>& types);

// Likewise of what the layers' precision came to: "trine.half" = "f16", "trine.error" = "0.002", "trine.fp32.NODE" =
// why.
void store_precision(std::map<std::string, std::string>& metadata, const PrecisionReport& report);

}  // namespace trine
