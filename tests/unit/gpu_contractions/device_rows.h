// Runs every device row that takes a problem, on the device of TRINE_TEST_DEVICE ("cpu" unless said), and holds it to
// the oracle of the rows of CPUs: once with small integers, where the tolerance is 0, once with reals. Outputs and
// workspace stand between guards.
#pragma once

#include "../dnn/check_rows.h"
#include "dnn/device_row.h"

namespace trine::dnn::test {

struct DeviceOptions {
  bool integers = true;  // also the exact run
  bool tf32 = false;     // rows that round to it, and only these
  int least_rows = 1;
  bool large = false;     // calls are those of an sm_90 of 132 multiprocessors: depth is split, kernels overlap
  std::string only = {};  // rows whose name holds this
  std::function<void(Data&)> adjust = {};
};

const compute::Device& test_device();
DeviceTraits test_traits(bool large);
void check_device_rows(const Problem& problem, const DeviceOptions& options = {});

}  // namespace trine::dnn::test
