// Devices of the driver that pretends, and modules whose PTX lies in the cache: no compiler and no GPU are needed.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fake/control.h"
#include "simt/device_module.h"
#include "trine/base/error.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"

namespace trine::compute {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override { fake::reset(); }
  Device gpu_ = Device::open("cuda:0");
};

// What is thrown, or "no error".
std::string error_of(ErrorCode code, const std::function<void()>& work);

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Puts a module into the cache as the compiler would, for `source` as it is, sm_90a and PTX 9.0.
void put_into_cache(const std::string& source, const std::string& ptx, const simt::DeviceModule& info);

// The module of this source has scale(float*, float, int), blocks(int*) and the variable table of 16 bytes.
extern const char* const kSource;
void define_kernels();  // after fake::reset()

std::vector<float> random_floats(size_t count);

}  // namespace trine::compute
