// The nest: arguments, loops, folds.
#include "codegen/llvm/renderer.h"

namespace trine::codegen {

Renderer::Renderer(const LoopKernel& kernel, llvm::Module& module, const Target& target)
    : k_(kernel),
      ir_(module, target),
      b_(ir_.b),
      values_(kernel.insts.size()),
      folds_(kernel.insts.size()),
      indices_(kernel.extents.size()) {}

llvm::Function* Renderer::run(const std::string& name) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, ir_.module);
  b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function_));
  auto* body = ir_.block("start");
  load_arguments();
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  block(k_.body);
  b_.CreateRetVoid();
  return function_;
}

void Renderer::load_arguments() {
  auto* args = function_->getArg(0);
  auto field = [&](size_t offset, llvm::Type* type) {
    return b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), args, offset));
  };
  auto* operands = field(offsetof(LoopArgs, operands), b_.getPtrTy());
  auto* extents = field(offsetof(LoopArgs, extents), b_.getPtrTy());
  auto* accesses = field(offsetof(LoopArgs, accesses), b_.getPtrTy());
  at_ = field(offsetof(LoopArgs, at), b_.getPtrTy());
  begin_ = field(offsetof(LoopArgs, begin), b_.getInt64Ty());
  end_ = field(offsetof(LoopArgs, end), b_.getInt64Ty());
  math_.emplace(ir_, field(offsetof(LoopArgs, math), b_.getPtrTy()));
  auto element = [&](Value* from, llvm::Type* type, size_t i) {
    return b_.CreateLoad(type, b_.CreateConstGEP1_64(type, from, i));
  };
  for (size_t i = 0; i < k_.operands.size(); ++i) operands_.push_back(element(operands, b_.getPtrTy(), i));
  for (size_t i = 0; i < k_.extents.size(); ++i) extents_.push_back(element(extents, b_.getInt64Ty(), i));
  // What is 0 or 1 by class is not loaded.
  for (size_t a = 0; a < k_.accesses.size(); ++a) {
    for (size_t l = 0; l <= k_.extents.size(); ++l) {
      Value* v = nullptr;
      if (l > 0) {
        const StrideClass c = k_.stride_class(k_.accesses[a], static_cast<int>(l) - 1);
        if (c != StrideClass::other) v = ir_.i64(c == StrideClass::one ? 1 : 0);
      }
      numbers_.push_back(v ? v : element(accesses, b_.getInt64Ty(), a * (k_.extents.size() + 1) + l));
    }
  }
}

void Renderer::block(const Block& steps) {
  for (const Step& s : steps) {
    switch (s.kind) {
      case Step::Kind::compute: s.access < 0 ? compute(s.inst) : read_back(s); break;
      case Step::Kind::loop: loop(s); break;
      case Step::Kind::reduce: fold_start(s); break;
      case Step::Kind::fold: fold_join(s); break;
      case Step::Kind::store: store(s); break;
    }
  }
}

bool Renderer::in_nest(int loop, int position) const {
  return position >= 0 && position < k_.parallel && k_.nest[static_cast<size_t>(position)] == loop;
}

// Parallel loops but the last stand still; the last runs over the caller's range.
void Renderer::loop(const Step& step) {
  const auto l = static_cast<size_t>(step.loop);
  for (int p = 0; p + 1 < k_.parallel; ++p) {
    if (!in_nest(step.loop, p)) continue;
    indices_[l] = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), at_, static_cast<uint64_t>(p)));
    return block(step.body);
  }
  const bool last = in_nest(step.loop, k_.parallel - 1);
  Value *begin = last ? begin_ : ir_.i64(0), *end = last ? end_ : extents_[l];
  if (k_.vector_loops & loop_bit(step.loop)) return vector_loop(step, begin, end);
  ir_.loop(begin, end, 1, [&](Value* i) {
    indices_[l] = i;
    block(step.body);
  });
}

void Renderer::vector_loop(const Step& step, Value* begin, Value* end) {
  const auto l = static_cast<size_t>(step.loop);
  auto* whole = b_.CreateAnd(b_.CreateSub(end, begin), ir_.i64(-kReduceLanes));
  auto* middle = b_.CreateAdd(begin, whole);
  const Lanes outside = lanes_;
  lanes_ = {step.loop, nullptr, nullptr};
  ir_.loop(begin, middle, kReduceLanes, [&](Value* i) {
    indices_[l] = i;
    block(step.body);
  });
  ir_.when(b_.CreateICmpSLT(middle, end), [&] {
    indices_[l] = middle;
    lanes_.count = b_.CreateSub(end, middle);
    auto* count = b_.CreateVectorSplat(kReduceLanes, b_.CreateTrunc(lanes_.count, b_.getInt32Ty()));
    std::vector<uint32_t> numbers(kReduceLanes);
    for (uint32_t n = 0; n < kReduceLanes; ++n) numbers[n] = n;
    lanes_.mask = b_.CreateICmpULT(llvm::ConstantDataVector::get(b_.getContext(), numbers), count);
    block(step.body);
  });
  lanes_ = outside;
}

void Renderer::fold_start(const Step& step) {
  const Inst& i = inst(step.inst);
  bool along_vector = false;
  for (int l : i.loops) along_vector |= (k_.vector_loops & loop_bit(l)) != 0;
  auto* type = ir_.scalar_type(i.type);
  auto* identity = math_->identity(i.fold, i.type);
  const unsigned lanes = along_vector || is_vector(step.inst) ? kReduceLanes : 1;
  auto* memory_type = lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
  auto& memory = folds_[static_cast<size_t>(step.inst)];
  memory = ir_.local(memory_type);
  b_.CreateStore(ir_.splat(identity, lanes), memory);
  block(step.body);
  Value* result = b_.CreateLoad(memory_type, memory);
  value(step.inst) = along_vector ? math_->join_lanes(i.fold, i.type, result) : result;
}

void Renderer::fold_join(const Step& step) {
  const Inst& i = inst(step.inst);
  auto* memory = folds_[static_cast<size_t>(step.inst)];
  auto* acc = b_.CreateLoad(memory->getAllocatedType(), memory);
  const unsigned lanes = Ir::lanes(acc);
  Value* joined = math_->join(i.fold, i.type, acc, ir_.splat(value(i.a), lanes));
  bool along_vector = false;
  for (int l : i.loops) along_vector |= l == lanes_.loop;
  if (lanes_.mask && along_vector) joined = b_.CreateSelect(lanes_.mask, joined, acc);
  b_.CreateStore(joined, memory);
}

void Renderer::read_back(const Step& step) {
  Inst load;
  load.kind = InstKind::load;
  load.type = inst(step.inst).type;
  load.access = step.access;
  value(step.inst) = this->load(load, is_vector(step.inst));
}

void Renderer::compute(int id) {
  const Inst& i = inst(id);
  const bool vector = is_vector(id);
  switch (i.kind) {
    case InstKind::constant: value(id) = math_->constant(i.type, i.bits); break;
    case InstKind::index: value(id) = index(i, vector); break;
    case InstKind::load: value(id) = load(i, vector); break;
    case InstKind::unary: value(id) = math_->unary(i.op, inst(i.a).type, value(i.a)); break;
    case InstKind::binary: value(id) = math_->binary(i.op, inst(i.a).type, value(i.a), value(i.b)); break;
    case InstKind::select: value(id) = math_->select(value(i.a), value(i.b), value(i.c)); break;
    case InstKind::cast: value(id) = math_->cast(value(i.a), inst(i.a).type, i.to); break;
    case InstKind::reduce: break;
  }
}

}  // namespace trine::codegen
