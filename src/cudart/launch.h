// Launches of kernels, for streams and for nodes of graphs.
#pragma once

#include "cudart/stream.h"

namespace trine::cudart {

struct Launch {
  const void* function;
  compute::LaunchShape shape;
};

// Copies the arguments, for graphs. Both throw Failure for a shape that cannot run.
struct PreparedLaunch {
  Operation run;
  std::shared_ptr<std::vector<std::vector<char>>> values;
};
PreparedLaunch prepare(const Launch& launch, void** arguments, int device);
// Now, on a stream that is not captured; the arguments are read where they are.
void start(const Launch& launch, void** arguments, CUstream_st& stream);
compute::Dim3 dim_of(const dim3& d);

}  // namespace trine::cudart
