// Addresses, loads and stores.
#include "codegen/llvm/renderer.h"

namespace trine::codegen {

using llvm::Align;
using llvm::Value;

DType Renderer::memory_of(int id) const { return k_.operands[static_cast<size_t>(access(id).operand)].dtype; }

Value* Renderer::stride(int id, int loop) {
  return numbers_[static_cast<size_t>(id) * (k_.extents.size() + 1) + 1 + static_cast<size_t>(loop)];
}

Value* Renderer::address(int id) {
  Value* sum = numbers_[static_cast<size_t>(id) * (k_.extents.size() + 1)];
  Value* innermost = nullptr;  // added last: what stands before is the same throughout the vector loop
  for (size_t l = 0; l < k_.extents.size(); ++l) {
    const auto loop = static_cast<int>(l);
    const StrideClass c = k_.stride_class(access(id), loop);
    if (c == StrideClass::zero) continue;
    auto* term = c == StrideClass::one ? indices_[l] : b_.CreateMul(indices_[l], stride(id, loop));
    if (loop == lanes_.loop) innermost = term;
    else sum = b_.CreateAdd(sum, term);
  }
  return innermost ? b_.CreateAdd(sum, innermost) : sum;
}

Value* Renderer::element_pointer(int id, llvm::Type* element, Value* extra) {
  Value* at = address(id);
  if (extra) at = b_.CreateAdd(at, extra);
  return b_.CreateGEP(element, operands_[static_cast<size_t>(access(id).operand)], at);
}

Value* Renderer::lane_numbers() {
  std::vector<uint64_t> numbers(kReduceLanes);
  for (uint64_t n = 0; n < kReduceLanes; ++n) numbers[n] = n;
  return llvm::ConstantDataVector::get(b_.getContext(), numbers);
}

Value* Renderer::index(const Inst& i, bool vector) {
  Value* first = address(i.access);
  if (!vector) return first;
  auto* step = b_.CreateVectorSplat(kReduceLanes, stride(i.access, lanes_.loop));
  return b_.CreateAdd(b_.CreateVectorSplat(kReduceLanes, first), b_.CreateMul(lane_numbers(), step));
}

Value* Renderer::load(const Inst& i, bool vector) {
  if (!vector) return load_scalar(i);
  const DType memory = memory_of(i.access);
  auto* element = math_->memory_type(memory);
  const bool dynamic_lanes = i.a >= 0 && is_vector(i.a);
  const StrideClass c = k_.stride_class(access(i.access), lanes_.loop);
  Value* m = c == StrideClass::one && !dynamic_lanes
                 ? load_row(i, element, element_pointer(i.access, element, i.a >= 0 ? value(i.a) : nullptr))
                 : load_lanes(i, element);
  Value* v = math_->from_memory(m, memory);
  return i.b >= 0 ? math_->select(value(i.b), v, value(i.c)) : v;
}

Value* Renderer::load_scalar(const Inst& i) {
  const DType memory = memory_of(i.access);
  auto* element = math_->memory_type(memory);
  auto read = [&] {
    auto* p = element_pointer(i.access, element, i.a >= 0 ? value(i.a) : nullptr);
    return math_->from_memory(b_.CreateAlignedLoad(element, p, Align(byte_size(memory))), memory);
  };
  if (i.b < 0) return read();
  auto* result = ir_.local(ir_.scalar_type(i.type));
  b_.CreateStore(value(i.c), result);
  ir_.when(value(i.b), [&] { b_.CreateStore(read(), result); });
  return b_.CreateLoad(result->getAllocatedType(), result);
}

// Consecutive elements.
Value* Renderer::load_row(const Inst& i, llvm::Type* element, Value* pointer) {
  auto* type = llvm::FixedVectorType::get(element, kReduceLanes);
  const size_t bytes = byte_size(memory_of(i.access));
  if (i.b < 0) {
    if (!lanes_.mask) return b_.CreateAlignedLoad(type, pointer, Align(bytes));
    return partial_load(type, pointer, bytes);
  }
  Value* mask = ir_.splat(value(i.b), kReduceLanes);
  if (lanes_.mask) mask = b_.CreateAnd(mask, lanes_.mask);
  return b_.CreateMaskedLoad(type, pointer, Align(bytes), mask, llvm::Constant::getNullValue(type));
}

// Elements at any distance, or at run-time offsets.
Value* Renderer::load_lanes(const Inst& i, llvm::Type* element) {
  auto* type = llvm::FixedVectorType::get(element, kReduceLanes);
  Value* offsets = index(i, true);
  if (i.a >= 0) offsets = b_.CreateAdd(offsets, ir_.splat(value(i.a), kReduceLanes));
  Value* mask = i.b >= 0 ? ir_.splat(value(i.b), kReduceLanes) : nullptr;
  if (lanes_.mask) mask = mask ? b_.CreateAnd(mask, lanes_.mask) : lanes_.mask;
  if (!mask) mask = llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), kReduceLanes));
  auto* pointers = b_.CreateGEP(element, operands_[static_cast<size_t>(access(i.access).operand)], offsets);
  return b_.CreateMaskedGather(type, pointers, Align(byte_size(memory_of(i.access))), mask,
                               llvm::Constant::getNullValue(type));
}

// The first `count` lanes of a row; where the machine has no masked load, through a copy.
Value* Renderer::partial_load(llvm::Type* type, Value* pointer, size_t bytes) {
  if (ir_.target.has_masked_moves(bytes)) {
    return b_.CreateMaskedLoad(type, pointer, Align(bytes), lanes_.mask, llvm::Constant::getNullValue(type));
  }
  auto* element = type->getScalarType();
  auto* copy = ir_.local(type);
  b_.CreateStore(llvm::Constant::getNullValue(type), copy);
  ir_.loop(ir_.i64(0), lanes_.count, 1, [&](Value* n) {
    auto* v = b_.CreateAlignedLoad(element, b_.CreateGEP(element, pointer, n), Align(bytes));
    b_.CreateStore(v, b_.CreateGEP(element, copy, n));
  });
  return b_.CreateLoad(type, copy);
}

void Renderer::partial_store(Value* v, Value* pointer, size_t bytes) {
  if (ir_.target.has_masked_moves(bytes)) {
    b_.CreateMaskedStore(v, pointer, Align(bytes), lanes_.mask);
    return;
  }
  auto* element = v->getType()->getScalarType();
  auto* copy = ir_.local(v->getType());
  b_.CreateStore(v, copy);
  ir_.loop(ir_.i64(0), lanes_.count, 1, [&](Value* n) {
    b_.CreateAlignedStore(b_.CreateLoad(element, b_.CreateGEP(element, copy, n)), b_.CreateGEP(element, pointer, n),
                          Align(bytes));
  });
}

void Renderer::store(const Step& step) {
  const DType memory = memory_of(step.access);
  const size_t bytes = byte_size(memory);
  auto* element = math_->memory_type(memory);
  Value* m = math_->to_memory(value(step.inst), memory);
  const StrideClass c = lanes_.loop < 0 ? StrideClass::zero : k_.stride_class(access(step.access), lanes_.loop);
  if (c == StrideClass::zero) {
    if (Ir::is_vector(m)) throw CannotRender{"a vector stored to one element"};
    b_.CreateAlignedStore(m, element_pointer(step.access, element, nullptr), Align(bytes));
    return;
  }
  m = ir_.splat(m, kReduceLanes);
  if (c == StrideClass::one) {
    auto* p = element_pointer(step.access, element, nullptr);
    if (lanes_.mask) partial_store(m, p, bytes);
    else b_.CreateAlignedStore(m, p, Align(bytes));
    return;
  }
  auto* step_size = b_.CreateVectorSplat(kReduceLanes, stride(step.access, lanes_.loop));
  auto* offsets =
      b_.CreateAdd(b_.CreateVectorSplat(kReduceLanes, address(step.access)), b_.CreateMul(lane_numbers(), step_size));
  auto* pointers = b_.CreateGEP(element, operands_[static_cast<size_t>(access(step.access).operand)], offsets);
  b_.CreateMaskedScatter(m, pointers, Align(bytes), lanes_.mask);
}

}  // namespace trine::codegen
