// What PTX a device and its driver take.
#pragma once

#include <string>

namespace trine::cuda {

// The newest architecture that our compiler knows and a device of this compute capability runs: "sm_90". PTX of an
// older architecture runs on every newer device.
std::string architecture_for(int major, int minor);

// The same with what only devices of exactly this capability have, where there is such a thing: "sm_90a".
std::string specific_architecture_for(int major, int minor);

// The newest version of PTX that this driver (12040) and our compiler know: 84 is PTX 8.4.
int ptx_version_for(int driver_version);

}  // namespace trine::cuda
