// What benchmarks of kernels on a device share: operands full of random numbers, and times by events around a graph of
// many launches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dnn/device_operands.h"

namespace trine::bench {

using dnn::random_content;

class DeviceBench {
 public:
  explicit DeviceBench(const std::string& device);

  compute::Buffer uploaded(const std::vector<char>& from);
  compute::Buffer room(size_t bytes) const { return device_.allocate(bytes + 16); }
  // The median over graphs of `repeats` of what `submit` submits to programs() and stream(), for one of them. A CPU
  // does it once or twice: for tests.
  double seconds_of(const std::function<void()>& submit, int repeats = 20);
  // A row on random operands.
  double seconds_of(const dnn::DeviceRow& row, const dnn::Problem& problem);

  const compute::Device& device() const { return device_; }
  const dnn::DeviceTraits& traits() const { return traits_; }
  compute::DevicePrograms& programs() { return programs_; }
  compute::Stream& stream() { return stream_; }

 private:
  compute::Device device_;
  compute::DevicePrograms programs_;
  compute::Stream stream_;
  dnn::DeviceTraits traits_;
};

// [--device cuda:0] [FLAG] [NAME...]
struct Arguments {
  std::string device = "cuda:0";
  bool flag = false;
  std::vector<std::string> names;

  Arguments(int argc, char** argv, const std::string& flag_name);
  bool ask_for(const std::string& name) const;  // it holds one of the names, or there are none
};

// Runs `body` and gives the program's exit status; what it throws is told on stderr.
int told(const char* program, const std::function<void()>& body);

}  // namespace trine::bench
