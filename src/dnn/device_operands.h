// Operands of a problem in a device's memory, full of random numbers: for who measures what computes it.
#pragma once

#include <vector>

#include "dnn/device_row.h"
#include "dnn/operands.h"

namespace trine::dnn {

// Reals from -1 to 1, integers from 0 to 99; of 8 bits from 0 to 99 too. A pattern of 65521 values, again and again:
// nobody else's period is that.
std::vector<char> random_content(DType type, int64_t count);

// What every way to compute the problem reads and writes.
class DeviceOperands {
 public:
  // Throws Error{out_of_memory}.
  DeviceOperands(const compute::Device& device, const Problem& problem);

  const compute::Device& device() const { return device_; }
  const Problem& problem() const { return problem_; }
  const OperandSizes& sizes() const { return sizes_; }
  const std::vector<std::vector<char>>& weights() const { return weights_; }  // on the host
  compute::Buffer uploaded(const void* from, size_t bytes) const;
  compute::Buffer copy(const compute::Buffer& from) const;
  compute::Buffer room(size_t bytes) const;
  // Null for what is not there, and for what WayOperands has.
  void* address(const compute::OperandRole& role) const;

 private:
  std::vector<char> input_content(int i) const;

  compute::Device device_;
  Problem problem_;
  OperandSizes sizes_;
  std::vector<std::vector<char>> weights_;
  std::vector<compute::Buffer> in_, out_;
  std::optional<compute::Buffer> bias_, residual_;
};

// What one row has besides: weights as it wants them, constants, scratch memory.
class WayOperands {
 public:
  // `call` null: a provider's. So many copies of the weights are made as exceed `cold_bytes` together, `most_copies` at
  // most: launches that take one after the other find none of them in a cache of that size.
  WayOperands(const DeviceOperands& shared, const DeviceRow& row, const compute::DeviceCall* call,
              size_t workspace_bytes, size_t cold_bytes = 0, int most_copies = 1);

  // Of launch number `turn`.
  compute::OperandAddresses addresses(int turn) const;

 private:
  void* address(const compute::OperandRole& role, int turn) const;
  void* weights(size_t which, int turn) const;

  const DeviceOperands& shared_;
  bool packs_;
  std::vector<std::vector<compute::Buffer>> weights_;  // packed: one; else each in turn; their copies
  std::vector<compute::Buffer> constants_;
  compute::Buffer workspace_;
};

}  // namespace trine::dnn
