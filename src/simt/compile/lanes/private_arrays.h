// Arrays that each thread has of its own (allocas that are still there). Where all their accesses are of one size, they
// lie interleaved, element i of all lanes side by side: an element of the same index in all lanes is one vector.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace trine::simt::lanes {

// Of each load and store; 0 when the array cannot lie interleaved.
int64_t element_bytes(const llvm::AllocaInst& memory);
// The arrays that do, and pointers into them.
llvm::DenseSet<const llvm::Value*> interleaved_pointers(llvm::Function& kernel);

}  // namespace trine::simt::lanes
