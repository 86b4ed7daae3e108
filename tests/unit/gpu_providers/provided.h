// Runs what a provider makes of a problem, on the device of TRINE_TEST_DEVICE: a GPU with the vendor's library, or
// (by default) the CPU with a library that pretends.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "dnn/device_row.h"

namespace trine::test {

compute::Device& device();
bool is_gpu();

// Elements of f32, f16 or bf16 on the device, `skip` elements behind an address that is aligned, guards around them.
class DeviceArray {
 public:
  DeviceArray(compute::Stream& stream, DType type, const std::vector<double>& values, size_t skip = 0);
  void* data() const { return static_cast<char*>(buffer_.data()) + start_; }
  std::vector<double> values(compute::Stream& stream) const;  // and looks at the guards

 private:
  DType type_;
  size_t start_, bytes_;
  compute::Buffer buffer_;
};

// As `type` holds them.
std::vector<double> rounded(DType type, std::vector<double> values);
std::vector<double> random_values(size_t count, std::mt19937_64& random);
std::vector<double> small_integers(size_t count, std::mt19937_64& random);  // -2 to 2
double half_ulp(DType type);                                                // relative

struct Operands {
  const DeviceArray *x = nullptr, *weights = nullptr, *third = nullptr, *bias = nullptr, *residual = nullptr;
  DeviceArray* y = nullptr;
};

// Null when the row refuses, with why.
std::shared_ptr<dnn::ProvidedCall> provided(std::string_view row, const dnn::Problem& problem, std::string& why);
void run(dnn::ProvidedCall& call, const Operands& operands, compute::Stream& stream);

}  // namespace trine::test
