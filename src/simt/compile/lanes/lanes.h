// The vectoriser: one kernel of nvptx64, as clang makes it, to a function that runs a block with threads as lanes of
// vectors.
//
//   prepare   one function without calls, loops in simple form                     prepare.h
//   shapes    which values are the same in all lanes, or a base and a stride       shapes.h
//   schedule  an order of blocks in which lanes that part wait for each other      schedule.h
//   widen     each block once, under the mask of lanes that are in it              widen.h
//   driver    loops over the groups of a block; a round of them for each barrier   driver.h
#pragma once

#include <cstdint>
#include <string>

#include "simt/device_module.h"
#include "trine/compute/module.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace trine::simt::lanes {

struct Options {
  compute::Dim3 block;
  std::string symbol;  // of the BlockFunction; "": the kernel's, and ".lanes"
  int width = 0;       // 0: chosen by the registers that the kernel needs; kernels with warp operations have 32
  bool print = false;  // IR after each step, to standard error
};

struct Code {
  std::string symbol;
  uint32_t shared_bytes = 0, frame_bytes = 0;
  int width = 1;
  bool waits = false;  // blocks may wait for those before them
};

// `module` keeps its other definitions; its kernels go. `machine` is the CPU's. Throws Error{unsupported} with the
// reason when lanes cannot run the kernel.
Code vectorize(llvm::Module& module, const KernelInfo& kernel, const Options& options, llvm::TargetMachine& machine);

}  // namespace trine::simt::lanes
