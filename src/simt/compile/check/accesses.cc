#include "simt/compile/check/accesses.h"

#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "simt/check/abi.h"

namespace trine::simt {
namespace {

constexpr unsigned kSharedSpace = 3;

uint32_t order_flags(bool is_volatile, bool is_atomic) {
  return (is_volatile ? kSiteVolatile : 0u) | (is_atomic ? kSiteAtomic : 0u);
}

void add_memory_intrinsic(llvm::MemIntrinsic& call, std::vector<Access>& out) {
  llvm::Value* length = call.getLength();
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(length);
  if (known && known->isZero()) return;
  const uint64_t bytes = known ? known->getZExtValue() : 0;
  const auto add = [&](llvm::Value* address, uint32_t flags, llvm::MaybeAlign align) {
    out.push_back({&call, address, known ? nullptr : length, bytes, flags, align.valueOrOne().value(), nullptr});
  };
  if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call))
    add(copy->getRawSource(), kSiteReads, copy->getSourceAlign());
  add(call.getRawDest(), kSiteWrites, call.getDestAlign());
}

const llvm::Value* step(const llvm::Value* at) {
  if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(at)) return gep->getPointerOperand();
  if (const auto* cast = llvm::dyn_cast<llvm::Operator>(at))
    if (cast->getOpcode() == llvm::Instruction::AddrSpaceCast || cast->getOpcode() == llvm::Instruction::BitCast)
      return cast->getOperand(0);
  return nullptr;
}

Object describe(llvm::Value* base, const llvm::DataLayout& layout) {
  if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(base)) {
    const auto size = local->getAllocationSize(layout);
    return {size && !size->isScalable() ? ObjectKind::local : ObjectKind::unknown, base,
            size ? size->getFixedValue() : 0};
  }
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(base))
    return argument->hasByValAttr()
               ? Object{ObjectKind::local, base, layout.getTypeAllocSize(argument->getParamByValType())}
               : Object{};
  auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(base);
  if (!variable || !variable->getValueType()->isSized()) return {};
  const uint64_t bytes = layout.getTypeAllocSize(variable->getValueType());
  if (variable->getAddressSpace() == kSharedSpace)  // without a size: dynamic
    return variable->isDeclaration() || bytes == 0 ? Object{} : Object{ObjectKind::shared, base, bytes};
  const bool constant = variable->isConstant() && !variable->isDeclaration();
  return {constant ? ObjectKind::constant : ObjectKind::variable, base, bytes};
}

}  // namespace

std::vector<Access> accesses_of(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  std::vector<Access> out;
  const auto bytes_of = [&](llvm::Type* type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  for (llvm::Instruction& at : llvm::instructions(function)) {
    if (at.hasMetadata(llvm::LLVMContext::MD_nosanitize)) continue;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
      out.push_back({&at, load->getPointerOperand(), nullptr, bytes_of(load->getType()),
                     kSiteReads | order_flags(load->isVolatile(), load->isAtomic()), load->getAlign().value(),
                     nullptr});
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
      llvm::Value* value = store->getValueOperand();
      out.push_back({&at, store->getPointerOperand(), nullptr, bytes_of(value->getType()),
                     kSiteWrites | order_flags(store->isVolatile(), store->isAtomic()), store->getAlign().value(),
                     value});
    } else if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
      out.push_back({&at, rmw->getPointerOperand(), nullptr, bytes_of(rmw->getType()),
                     kSiteReads | kSiteWrites | kSiteAtomic, rmw->getAlign().value(), nullptr});
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
      out.push_back({&at, exchange->getPointerOperand(), nullptr, bytes_of(exchange->getNewValOperand()->getType()),
                     kSiteReads | kSiteWrites | kSiteAtomic, exchange->getAlign().value(), nullptr});
    } else if (auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(&at)) {
      add_memory_intrinsic(*call, out);
    }
  }
  return out;
}

Object object_of(const Access& access, const llvm::DataLayout& layout) {
  llvm::Value* base = access.address;
  while (const llvm::Value* next = step(base)) base = const_cast<llvm::Value*>(next);
  Object object = describe(base, layout);
  if (object.kind == ObjectKind::unknown || access.length) return object;
  llvm::APInt offset(layout.getIndexTypeSizeInBits(access.address->getType()), 0);
  const llvm::Value* reached = access.address->stripAndAccumulateConstantOffsets(layout, offset, true);
  object.known_inside = reached == base && !offset.isNegative() && access.bytes <= object.bytes &&
                        offset.ule(object.bytes - access.bytes);
  return object;
}

llvm::Value* offset_in(const Access& access, const Object& object) {
  llvm::IRBuilder<> build(access.at);
  llvm::Value* total = build.getInt64(0);
  for (llvm::Value* at = access.address; at != object.base; at = const_cast<llvm::Value*>(step(at)))
    if (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(at)) {
      llvm::Value* part = llvm::emitGEPOffset(&build, access.at->getDataLayout(), gep, /*NoAssumptions=*/true);
      total = build.CreateAdd(total, build.CreateSExtOrTrunc(part, build.getInt64Ty()));
    }
  return total;
}

}  // namespace trine::simt
