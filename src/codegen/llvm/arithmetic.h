// Scalar operations as LLVM instructions, on scalars and vectors alike. Same formulas as the interpreter: same bits.
#pragma once

#include "codegen/llvm/ir.h"

namespace trine::codegen {

class Arithmetic {
 public:
  // `math`: the table of functions that are called lane by lane.
  Arithmetic(Ir& ir, llvm::Value* math) : ir_(ir), b_(ir.b), math_(math) {}

  llvm::Value* unary(ScalarOp op, DType type, llvm::Value* a);
  llvm::Value* binary(ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* select(llvm::Value* m, llvm::Value* x, llvm::Value* y);
  llvm::Value* cast(llvm::Value* a, DType from, DType to);
  llvm::Value* constant(DType type, uint64_t bits);
  llvm::Value* join(Reduce fold, DType type, llvm::Value* acc, llvm::Value* x);
  llvm::Value* identity(Reduce fold, DType type);
  // The lanes joined in the fixed tree.
  llvm::Value* join_lanes(Reduce fold, DType type, llvm::Value* acc);

  // Between compute and memory types.
  llvm::Type* memory_type(DType memory);
  llvm::Value* from_memory(llvm::Value* m, DType memory);
  llvm::Value* to_memory(llvm::Value* v, DType memory);

 private:
  llvm::Value* unary_float(ScalarOp op, DType type, llvm::Value* a);
  llvm::Value* unary_integer(ScalarOp op, DType type, llvm::Value* a);
  llvm::Value* binary_integer(ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* binary_boolean(ScalarOp op, llvm::Value* x, llvm::Value* y);
  llvm::Value* compare(ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* extreme(bool smaller, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* divide(ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* shift(ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* call_table(ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);
  llvm::Value* to_storage(llvm::Value* v, DType storage);
  llvm::Value* to_integer(llvm::Value* a, DType to, DType storage);

  Ir& ir_;
  llvm::IRBuilder<>& b_;
  llvm::Value* math_;
};

}  // namespace trine::codegen
