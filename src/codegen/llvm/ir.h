// A thin layer over IRBuilder: values are scalars or vectors of one width, and operands are splatted as needed.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "codegen/loop_ir.h"

namespace trine::codegen {

// Thrown for what this renderer leaves to the interpreter.
struct CannotRender {
  std::string why;
};

struct Target {
  enum class Level { baseline, avx2, avx512 } level;
  bool has_fma() const { return level != Level::baseline; }
  bool has_f16() const { return level != Level::baseline; }
  // Can elements of this many bytes be loaded under a mask by one instruction?
  bool has_masked_moves(size_t bytes) const { return level == Level::avx512 || (level == Level::avx2 && bytes >= 4); }
};

class Ir {
 public:
  Ir(llvm::Module& module, const Target& target) : b(module.getContext()), module(module), target(target) {}

  llvm::Type* scalar_type(DType compute) {
    switch (compute) {
      case DType::f32: return b.getFloatTy();
      case DType::f64: return b.getDoubleTy();
      case DType::i32:
      case DType::u32: return b.getInt32Ty();
      case DType::i64:
      case DType::u64: return b.getInt64Ty();
      case DType::boolean: return b.getInt1Ty();
      default: throw CannotRender{"type " + std::string(name(compute))};
    }
  }
  // The type of lanes `like`: element, or a vector as wide as it.
  static llvm::Type* shaped(llvm::Type* element, const llvm::Type* like) {
    if (!like->isVectorTy()) return element;
    return llvm::VectorType::get(element, llvm::cast<llvm::VectorType>(like)->getElementCount());
  }
  static bool is_vector(const llvm::Value* v) { return v->getType()->isVectorTy(); }
  static unsigned lanes(const llvm::Value* v) {
    return is_vector(v) ? llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements() : 1;
  }
  llvm::Value* splat(llvm::Value* v, unsigned lanes) {
    return is_vector(v) || lanes == 1 ? v : b.CreateVectorSplat(lanes, v);
  }
  // Brings both to the wider shape.
  void match(llvm::Value*& x, llvm::Value*& y) {
    const unsigned n = std::max(lanes(x), lanes(y));
    x = splat(x, n);
    y = splat(y, n);
  }
  llvm::Value* call(llvm::Intrinsic::ID id, llvm::Value* x) { return b.CreateUnaryIntrinsic(id, x); }
  llvm::Value* i64(int64_t v) { return b.getInt64(static_cast<uint64_t>(v)); }
  llvm::Constant* number(llvm::Type* like, double v) { return llvm::ConstantFP::get(like, v); }
  llvm::Constant* integer(llvm::Type* like, int64_t v) {
    return llvm::ConstantInt::get(like, static_cast<uint64_t>(v), true);
  }
  // Memory for one value in the entry block.
  llvm::AllocaInst* local(llvm::Type* type) {
    llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> at(&entry, entry.begin());
    auto* a = at.CreateAlloca(type);
    a->setAlignment(llvm::Align(64));
    return a;
  }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
  }
  // for (i = begin; i < end; i += step) body(i)
  template <class Body>
  void loop(llvm::Value* begin, llvm::Value* end, int64_t step, Body body) {
    auto* before = b.GetInsertBlock();
    auto *head = block("head"), *inside = block("body"), *after = block("after");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    auto* i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(begin, before);
    b.CreateCondBr(b.CreateICmpSLT(i, end), inside, after);
    b.SetInsertPoint(inside);
    body(i);
    auto* next = b.CreateAdd(i, i64(step), "", false, true);
    i->addIncoming(next, b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
  }
  template <class Body>
  void when(llvm::Value* condition, Body body) {
    auto *inside = block("then"), *after = block("after");
    b.CreateCondBr(condition, inside, after);
    b.SetInsertPoint(inside);
    body();
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }

  llvm::IRBuilder<> b;
  llvm::Module& module;
  const Target target;
};

}  // namespace trine::codegen
