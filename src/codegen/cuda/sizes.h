// A kernel's numbers: fields of a struct in its text, and their bytes as an argument.
#pragma once

#include <set>
#include <string>

#include "compute/device_launch.h"

namespace trine::codegen {

class KernelSizes {
 public:
  explicit KernelSizes(bool wide) : wide_(wide) {}

  // "s.name", with this value.
  std::string number(const std::string& name, int64_t value);
  // For trine::divided(n, ...) of divider.cuh; of indices of 32 bits.
  std::string divisor(const std::string& name, int64_t value);

  std::string declaration() const;  // struct Sizes {...};
  const compute::ArgumentBytes& bytes() const { return bytes_; }

 private:
  template <class T>
  void append(const T& value);

  bool wide_;
  std::set<std::string> names_;
  std::string fields_;
  compute::ArgumentBytes bytes_;
};

}  // namespace trine::codegen
