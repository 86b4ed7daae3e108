// Launches of kernels, for streams and for nodes of graphs.
#pragma once

#include "cudart/stream.h"

namespace trine::cudart {

struct Launch {
  const void* function;
  compute::LaunchShape shape;
};

// Throws Failure for a shape that cannot run; copies the arguments.
struct PreparedLaunch {
  Operation run;
  std::shared_ptr<std::vector<std::vector<char>>> values;
};
PreparedLaunch prepare(const Launch& launch, void** arguments, int device);
compute::Dim3 dim_of(const dim3& d);

}  // namespace trine::cudart
