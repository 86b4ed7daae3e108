// One loop kernel as one LLVM function void(const LoopArgs*).
//
// A vector loop takes 32 elements an iteration, as one wide LLVM vector that the back end splits into registers, so
// that independent operations overlap; the rest runs once more under a mask. Values that do not depend on the vector
// loop are scalars outside of it.
#pragma once

#include "codegen/llvm/arithmetic.h"
#include "codegen/loop_kernel.h"

namespace trine::codegen {

class Renderer {
 public:
  Renderer(const LoopKernel& kernel, llvm::Module& module, const Target& target);
  // Throws CannotRender; the function is then to be erased by the caller.
  llvm::Function* run(const std::string& name);

 private:
  using Value = llvm::Value;

  // Where the emitted code stands.
  struct Lanes {
    int loop = -1;           // the vector loop around, or -1
    Value* mask = nullptr;   // of its last iteration
    Value* count = nullptr;  // lanes that are on under the mask
  };

  void load_arguments();
  void block(const Block& steps);
  void loop(const Step& step);
  void vector_loop(const Step& step, Value* begin, Value* end);
  void fold_start(const Step& step);
  void fold_join(const Step& step);
  void compute(int id);
  void read_back(const Step& step);
  void store(const Step& step);

  Value* load(const Inst& i, bool vector);
  Value* load_scalar(const Inst& i);
  Value* load_row(const Inst& i, llvm::Type* element, Value* pointer);
  Value* load_lanes(const Inst& i, llvm::Type* element);
  Value* partial_load(llvm::Type* type, Value* pointer, size_t bytes);
  void partial_store(Value* value, Value* pointer, size_t bytes);
  Value* index(const Inst& i, bool vector);
  // offset + strides * loops, without the vector loop's lanes.
  Value* address(int access);
  Value* lane_numbers();
  Value* stride(int access, int loop);
  Value* element_pointer(int access, llvm::Type* element, Value* extra);

  const Inst& inst(int id) const { return k_.insts[static_cast<size_t>(id)]; }
  Value*& value(int id) { return values_[static_cast<size_t>(id)]; }
  const Access& access(int id) const { return k_.accesses[static_cast<size_t>(id)]; }
  DType memory_of(int access) const;
  bool is_vector(int id) const { return k_.is_vector(inst(id)); }
  bool in_nest(int loop, int position) const;

  const LoopKernel& k_;
  Ir ir_;
  llvm::IRBuilder<>& b_;
  std::optional<Arithmetic> math_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> values_;                        // per inst: the latest
  std::vector<llvm::AllocaInst*> folds_;              // per inst: a fold's running result
  std::vector<Value*> indices_;                       // per loop
  std::vector<Value*> operands_, extents_, numbers_;  // arguments, loaded at entry; numbers: offsets and strides
  Value *at_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
  Lanes lanes_;
};

}  // namespace trine::codegen
