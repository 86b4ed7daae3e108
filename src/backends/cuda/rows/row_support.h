// What tables of device rows share: names of instances, shapes of launches, costs.
#pragma once

#include <fmt/format.h>

#include "backends/cuda/kernels/sizes.cuh"
#include "dnn/device_row.h"

namespace trine::cuda {

using compute::by_value;
using compute::DeviceArgument;
using compute::DeviceCall;
using compute::DeviceLaunch;
using compute::Dim3;
using Role = compute::OperandRole;

// A launch counts threads and elements in 31 bits.
constexpr int64_t kMostItems = 0x7fffffff;

Divider divider_of(int64_t divisor);  // of 1 to 2^31 - 1; any below 1 as 1

// The type of a kernel's template for elements of `type`; null when it is none of f32, f16, bf16, i8, u8, i32.
const char* element_name(DType type);
// Unsigned elements of 1, 2, 4, 8 or 16 bytes (copy.cu has the last).
const char* word_name(int64_t bytes);

inline Dim3 blocks_of(int64_t items, int64_t each = 256) {
  return {static_cast<uint32_t>(std::max<int64_t>(1, (items + each - 1) / each)), 1, 1};
}
inline Role in(int index) { return {Role::Kind::in, index}; }
inline Role out(int index) { return {Role::Kind::out, index}; }
inline Role workspace(int64_t offset) { return {Role::Kind::workspace, 0, offset}; }

// A launch of one kernel of a source, which begins with meet_neighbours(); 256 threads a block unless said.
DeviceLaunch launch(std::string_view source, std::string kernel, Dim3 grid, std::vector<DeviceArgument> arguments,
                    Dim3 block = {256, 1, 1}, uint32_t shared_bytes = 0);

// Seconds of a kernel that streams so many bytes, at a part of the memory's speed.
inline double streaming_seconds(double bytes, const dnn::DeviceTraits& traits, double part = 0.8) {
  return 2e-6 + bytes / (traits.bytes_per_second * part);
}

// A stride as problems give it: 0 stands for dense.
inline int64_t or_dense(int64_t stride, int64_t dense) { return stride ? stride : dense; }

}  // namespace trine::cuda
