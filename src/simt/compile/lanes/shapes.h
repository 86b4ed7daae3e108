// What is known of a value's lanes: affine, lane i has base + i * stride (stride 0: uniform); or varying. Of the base
// it is known that 2^zeros divides it: so many lanes cannot carry into its upper bits, and widening, masks and shifts
// of an index stay affine.
//
// A value of a block is meant in the lanes that are in the block: others may hold anything.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/DataLayout.h"
#include "simt/compile/lanes/group.h"
#include "simt/compile/lanes/joins.h"

namespace trine::simt::lanes {

struct Shape {
  enum class Kind : uint8_t { unknown, affine, varying } kind = Kind::unknown;
  int64_t stride = 0;  // pointers: in bytes
  int zeros = 0;

  static Shape uniform(int zeros = 0) { return {Kind::affine, 0, zeros}; }
  static Shape affine(int64_t stride, int zeros) { return {Kind::affine, stride, zeros}; }
  static Shape varying() { return {Kind::varying, 0, 0}; }
  bool is_uniform() const { return kind == Kind::affine && stride == 0; }
  bool is_affine() const { return kind == Kind::affine; }
  bool is_varying() const { return kind == Kind::varying; }
  bool operator==(const Shape&) const = default;
};

class Shapes {
 public:
  Shapes(llvm::Function& function, const Order& order, const llvm::LoopInfo& loops, const Group& group,
         const llvm::DenseSet<const llvm::Value*>& interleaved);

  Shape of(const llvm::Value* value) const;
  bool divergent_branch(const llvm::BasicBlock* block) const;  // its terminator may send lanes different ways
  // sext(value) to 64 bits is affine only as the sum of its operands' (see widen_indices.h).
  bool widens(const llvm::Value* value, int depth = 0) const;
  // Pointers into private arrays whose elements lie lane beside lane: bytes of an offset are scaled by the width.
  bool interleaved(const llvm::Value* pointer) const { return interleaved_.contains(pointer); }

 private:
  bool pass(llvm::Function& function);
  Shape evaluate(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_binary(const llvm::BinaryOperator& operation) const;
  Shape of_cast(const llvm::CastInst& cast) const;
  Shape of_gep(const llvm::GetElementPtrInst& gep) const;
  Shape of_call(const llvm::CallInst& call) const;
  Shape wide(const llvm::Value* value, bool is_signed, int depth = 0) const;
  bool stays_below(const Shape& shape) const;
  bool all_uniform(const llvm::User& user) const;

  const Group& group_;
  const llvm::DataLayout& layout_;
  const llvm::DenseSet<const llvm::Value*>& interleaved_;
  Joins joins_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
};

}  // namespace trine::simt::lanes
