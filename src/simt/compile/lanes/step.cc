// Memory of lanes that are a step apart: an element (contiguous), or up to four, as the fields of float4 are. Whole
// vectors are loaded and their elements picked; stores of all fields of a struct are put together.
//
// Where the step is only likely it is asked for: comparing indices costs a tenth of a gather (Zen 5).
#include <map>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "simt/compile/lanes/likely.h"
#include "simt/compile/lanes/widen.h"

namespace trine::simt::lanes {
namespace {

constexpr int64_t kMostSteps = 4;

}  // namespace

// In elements of `type`; 0: the same place for all lanes. None: too far apart, or anywhere.
std::optional<int> Widener::step_of(const llvm::Value* pointer, llvm::Type* type) const {
  const llvm::DataLayout& layout = kernel_.getDataLayout();
  const std::optional<int64_t> stride = likely_stride(*pointer, shapes_, layout);
  const auto bytes = int64_t(layout.getTypeAllocSize(type));
  if (!stride || *stride < 0 || *stride % bytes != 0 || *stride / bytes > kMostSteps) return std::nullopt;
  return int(*stride / bytes);
}

// What instructions of this block are made of can be read here. Of others, only what they result in.
bool Widener::is_of_this_block(const llvm::Value* value) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction && instruction->getParent() == order_.nodes[size_t(node_)].block;
}

// The index that makes the address vary, if it is one; where it is narrow, widened on the way to the address.
Widener::Indexed Widener::indexed(llvm::Value* pointer) const {
  const llvm::DataLayout& layout = kernel_.getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  llvm::Value* inner = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(inner);
  if (!gep || !is_of_this_block(gep) || shapes_.interleaved(gep) || !shapes_.of(gep->getPointerOperand()).is_uniform())
    return {};
  llvm::Value* index = nullptr;
  for (llvm::Value* one : gep->indices()) {
    if (shapes_.of(one).is_uniform()) continue;
    if (index) return {};
    index = one;
  }
  if (!index) return {};
  auto* cast = llvm::dyn_cast<llvm::CastInst>(index);
  if (cast && is_of_this_block(cast) && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast))
    return {gep, index, cast->getOperand(0), llvm::isa<llvm::SExtInst>(cast), offset.getSExtValue()};
  if (index->getType()->getScalarSizeInBits() < 64) return {gep, index, index, true, offset.getSExtValue()};
  return {gep, index, index, false, offset.getSExtValue()};
}

// Whether lanes of `value` are `stride` apart. What is added to all lanes alike does not change it.
llvm::Value* Widener::in_step(llvm::Value* value, int64_t stride) {
  for (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
       sum && is_of_this_block(sum) && sum->getOpcode() == llvm::Instruction::Add && !shapes_.of(sum).is_affine();
       sum = llvm::dyn_cast<llvm::BinaryOperator>(value)) {
    if (shapes_.of(sum->getOperand(0)).is_uniform()) value = sum->getOperand(1);
    else if (shapes_.of(sum->getOperand(1)).is_uniform()) value = sum->getOperand(0);
    else break;
  }
  if (shapes_.of(value).is_affine()) return build_.getInt1(shapes_.of(value).stride == stride);
  llvm::Value*& known = in_step_[{value, stride}];
  if (known) return known;
  llvm::Value* all = build_.CreateFreeze(vector(value));  // lanes that are not here may hold poison
  if (all->getType()->getScalarType()->isPointerTy()) all = build_.CreatePtrToInt(all, wide(build_.getInt64Ty()));
  llvm::Value* from_first = build_.CreateSub(all, lanes_times(all->getType()->getScalarType(), stride));
  llvm::Value* first = build_.CreateExtractElement(all, uint64_t{0});
  return known = build_.CreateICmpEQ(bits(build_.CreateICmpEQ(from_first, splat(first))),
                                     bits(llvm::Constant::getAllOnesValue(mask_->getType())));
}

// `asked`: whether lanes are so; null: they are. `first`: the address of lane 0.
Widener::Step Widener::step(llvm::Value* pointer, int64_t stride) {
  if (shapes_.of(pointer).is_affine()) return {nullptr, base(pointer)};
  const Indexed at = indexed(pointer);
  if (!at.gep) {
    llvm::Value* asked = in_step(pointer, stride);
    return {asked, build_.CreateExtractElement(vector(pointer), uint64_t{0})};
  }
  const int64_t index_stride = *likely_stride(*at.narrow, shapes_, kernel_.getDataLayout());
  llvm::Value* asked = in_step(at.narrow, index_stride);
  llvm::Value* first =
      shapes_.of(at.narrow).is_affine() ? base(at.narrow) : build_.CreateExtractElement(vector(at.narrow), uint64_t{0});
  first = build_.CreateFreeze(first);
  llvm::Type* type = first->getType();
  const unsigned size = type->getScalarSizeInBits();
  if (size < 64 && index_stride != 0) {  // the last lane's must not be past the largest number
    const auto reach = uint64_t(index_stride) * uint64_t(group_.width - 1);
    const llvm::APInt largest =
        (at.is_signed ? llvm::APInt::getSignedMaxValue(size) : llvm::APInt::getMaxValue(size)) - reach;
    llvm::Value* limit = llvm::ConstantInt::get(type, largest);
    asked =
        build_.CreateAnd(asked, at.is_signed ? build_.CreateICmpSLE(first, limit) : build_.CreateICmpULE(first, limit));
  }
  llvm::Value* number = at.is_signed ? build_.CreateSExtOrTrunc(first, build_.getInt64Ty())
                                     : build_.CreateZExtOrTrunc(first, build_.getInt64Ty());
  llvm::SmallVector<llvm::Value*> indices;
  for (llvm::Value* one : at.gep->indices()) indices.push_back(one == at.index ? number : base(one));
  llvm::Value* address = build_.CreateGEP(at.gep->getSourceElementType(), base(at.gep->getPointerOperand()), indices);
  return {asked, at.offset ? build_.CreateConstGEP1_64(build_.getInt8Ty(), address, uint64_t(at.offset)) : address};
}

// All lanes' elements, `step` apart. Two loads, of which the second ends with the last lane's element: nothing past it
// is read.
llvm::Value* Widener::load_in_step(llvm::LoadInst& load, llvm::Value* first, int step) {
  llvm::Type* type = flat(load.getType());
  const auto read = [&](llvm::Type* what, llvm::Value* from, llvm::Align align) {
    llvm::LoadInst* made = build_.CreateAlignedLoad(what, from, align, load.getName());
    keep_alias_class(*made, load);
    return made;
  };
  if (step == 0) return splat(read(type, first, load.getAlign()));
  if (step == 1) return read(wide(load.getType()), first, load.getAlign());
  const int width = group_.width, half = step * width / 2, back = step - 1;
  auto* part = llvm::FixedVectorType::get(type, unsigned(half));
  const uint64_t bytes = kernel_.getDataLayout().getTypeAllocSize(type);
  llvm::Value* low = read(part, first, load.getAlign());
  llvm::Value* second = build_.CreateConstGEP1_64(type, first, uint64_t(half - back));
  llvm::Value* high = read(part, second, llvm::commonAlignment(load.getAlign(), bytes * uint64_t(half - back)));
  llvm::SmallVector<int> order;
  for (int lane = 0; lane < width; ++lane) order.push_back(lane < width / 2 ? lane * step : lane * step + back);
  return build_.CreateShuffleVector(low, high, order);
}

// Fields of structs that lie without gaps: `fields` by address, each of all lanes, with their first at `first`.
void Widener::store_fields(llvm::ArrayRef<llvm::StoreInst*> fields, llvm::Value* first) {
  const int count = int(fields.size()), width = group_.width;
  llvm::Type* type =
      build_.getIntNTy(unsigned(kernel_.getDataLayout().getTypeSizeInBits(fields[0]->getValueOperand()->getType())));
  llvm::SmallVector<llvm::Value*> values, pieces;
  for (llvm::StoreInst* field : fields) {
    llvm::Value* value = vector(field->getValueOperand());
    value = value->getType()->getScalarType()->isPointerTy() ? build_.CreatePtrToInt(value, wide(type))
                                                             : build_.CreateBitCast(value, wide(type));
    values.push_back(value);
  }
  for (int piece = 0; piece < count; ++piece) {
    llvm::Value* mixed = values[0];
    for (int field = 1; field < count; ++field) {
      llvm::SmallVector<int> order;
      for (int i = 0; i < width; ++i) {
        const int lane = (piece * width + i) / count, of = (piece * width + i) % count;
        order.push_back(of == field ? width + lane : field == 1 ? lane : i);
      }
      mixed = build_.CreateShuffleVector(mixed, values[size_t(field)], order);
    }
    pieces.push_back(mixed);
  }
  const uint64_t bytes = kernel_.getDataLayout().getTypeAllocSize(type);
  for (int piece = 0; piece < count; ++piece) {
    const auto at = uint64_t(piece * width);
    build_.CreateAlignedStore(pieces[size_t(piece)], build_.CreateConstGEP1_64(type, first, at),
                              llvm::commonAlignment(fields[0]->getAlign(), at * bytes));
  }
}

// A store, or those of all fields of a struct, `step` elements apart from lane to lane; by address.
void Widener::store_in_step(llvm::ArrayRef<llvm::StoreInst*> fields, int step) {
  llvm::Value* pointer = fields[0]->getPointerOperand();
  const auto bytes = int64_t(kernel_.getDataLayout().getTypeAllocSize(fields[0]->getValueOperand()->getType()));
  llvm::SmallVector<llvm::Value*> values;
  for (llvm::StoreInst* field : fields) values.push_back(vector(field->getValueOperand()));  // before the branches
  const Step at = this->step(pointer, step * bytes);
  with_all_or_some(
      at.asked, [&] { store_fields(fields, at.first); },
      [&] {
        for (size_t i = 0; i < fields.size(); ++i)
          keep_alias_class(*build_.CreateMaskedScatter(values[i], places(fields[i]->getPointerOperand()),
                                                       fields[i]->getAlign(), mask_),
                           *fields[i]);
      });
}

// The stores that with `store`, which comes first, write all fields of the lanes' structs, by address; empty: there are
// not all. Nothing else touches memory between them.
llvm::SmallVector<llvm::StoreInst*> Widener::fields_with(llvm::StoreInst& store, int step) const {
  const llvm::DataLayout& layout = kernel_.getDataLayout();
  const auto bytes = int64_t(layout.getTypeAllocSize(store.getValueOperand()->getType()));
  const auto place = [&](llvm::StoreInst& one, llvm::APInt& offset) {
    offset = llvm::APInt(layout.getIndexTypeSizeInBits(one.getPointerOperandType()), 0);
    return one.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  };
  llvm::APInt start, offset;
  const llvm::Value* start_at = place(store, start);
  std::map<int64_t, llvm::StoreInst*> found{{0, &store}};
  for (llvm::Instruction* next = store.getNextNode(); next && int(found.size()) < step; next = next->getNextNode()) {
    if (!next->mayReadOrWriteMemory()) continue;
    auto* other = llvm::dyn_cast<llvm::StoreInst>(next);
    if (!other || place(*other, offset) != start_at || offset.getBitWidth() != start.getBitWidth()) break;
    llvm::Type* type = other->getValueOperand()->getType();
    if (type->isAggregateType() || int64_t(layout.getTypeStoreSize(type)) != bytes || !fills_its_bytes(type, layout))
      break;
    if (!found.insert({(offset - start).getSExtValue(), other}).second) break;
  }
  const int64_t least = found.begin()->first;
  llvm::SmallVector<llvm::StoreInst*> fields;
  for (const auto& [at, one] : found)
    if (at == least + int64_t(fields.size()) * bytes) fields.push_back(one);
  if (int(fields.size()) != step) fields.clear();
  return fields;
}

}  // namespace trine::simt::lanes
