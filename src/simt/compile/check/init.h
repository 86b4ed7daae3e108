// The check `init`: code that keeps the shadow of memory (simt/check/shadow.h) and looks into it before reads.
//
// Copies of memory, loads of whole structs among them, are no reads: what was never written is not at the new place
// either. So copies of structs with holes, or with members that nobody set, are as good as any.
#pragma once

#include "simt/compile/check/accesses.h"

namespace trine::simt {

class InitChecks {
 public:
  explicit InitChecks(llvm::Function& function) : function_(function) {}

  // Constants, variables of modules and parameters have values from the start.
  static bool may_be_unwritten(const Object& object);

  // Local variables begin unwritten; what calls write through pointers is written. Before accesses are added.
  void begin();
  // `shadow`: of the memory around the access, null for what may not be unwritten and for local variables.
  void add(const Access& access, const Object& object, llvm::Value* shadow, uint32_t site);

 private:
  llvm::Value* stack_shadow();
  void mark_local(llvm::AllocaInst& local);
  void mark_parameters();
  void mark_results(llvm::CallInst& call);
  void add_read(const Access& access, llvm::Value* shadow, bool surely, uint32_t site);
  void add_write(const Access& access, llvm::Value* shadow, bool surely);
  void add_copy(const Access& access, llvm::Value* shadow, bool surely);
  llvm::Instruction* where_watched(const Access& access, llvm::Value* shadow, bool surely);

  llvm::Function& function_;
  llvm::Value* stack_shadow_ = nullptr;
  llvm::Value *copied_from_ = nullptr, *source_shadow_ = nullptr;  // of the copy whose write comes next
};

}  // namespace trine::simt
