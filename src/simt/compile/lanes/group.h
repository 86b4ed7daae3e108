// A group: `width` threads of a block with consecutive linear indices, which are the lanes of vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "trine/base/error.h"
#include "trine/compute/module.h"

namespace trine::simt::lanes {

struct Group {
  compute::Dim3 block;
  int width = 1;

  uint32_t threads() const { return uint32_t(block.volume()); }
  uint32_t count() const { return (threads() + uint32_t(width) - 1) / uint32_t(width); }
  bool whole() const { return threads() % uint32_t(width) == 0; }  // the last group has a thread in each lane
  bool one_row() const { return block.y == 1 && block.z == 1; }
  // The lanes of a group have the same threadIdx.y and .z, and threadIdx.x is a base and the lane.
  bool along_x() const { return one_row() || block.x % uint32_t(width) == 0; }
  int log2_width() const { return std::countr_zero(unsigned(width)); }
};

[[noreturn]] inline void refuse(const std::string& why) {
  throw Error(ErrorCode::unsupported, "lanes: " + why + "; CpuMode::threads runs it");
}

}  // namespace trine::simt::lanes
