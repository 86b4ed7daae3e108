// What handles of layer 1 hold, for the files of src/compute.
#pragma once

#include "compute/backend_table.h"
#include "trine/compute/device.h"

namespace trine::compute {

struct Device::State {
  const BackendTable* table;
  int index;
};

}  // namespace trine::compute
