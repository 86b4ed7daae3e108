// The kernel as one function in the form that the vectoriser takes: no calls but those of CallKind, no switches, phis
// at the exits of loops, a block for each barrier, scalar types. Refuses what lanes cannot run.
#pragma once

#include "llvm/IR/Module.h"
#include "simt/compile/lanes/lanes.h"

namespace trine::simt::lanes {

llvm::Function& prepare(llvm::Module& module, const KernelInfo& kernel, const compute::Dim3& block,
                        llvm::TargetMachine& machine);

// Steps of it. Inlines all that the kernel calls; other functions with bodies go.
void inline_all(llvm::Module& module, llvm::Function& kernel);
// Intrinsics of nvptx that have a meaning on every machine become that; block dimensions become constants.
void lower_intrinsics(llvm::Function& kernel, const compute::Dim3& block);
// Copies and fills of memory become loops; SROA has seen them by then.
void expand_memory(llvm::Function& kernel);
// Parameters by value that the kernel writes to are copied to a variable of its own.
void copy_parameters(llvm::Function& kernel);
// Every call must be of a known kind.
void refuse_unknown_calls(llvm::Function& kernel);
// A block of its own for each barrier.
void isolate_barriers(llvm::Function& kernel);
bool has_warp_operations(const llvm::Function& kernel);

}  // namespace trine::simt::lanes
