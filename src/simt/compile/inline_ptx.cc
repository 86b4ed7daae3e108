#include "simt/compile/inline_ptx.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace trine::simt {
namespace {

// Those that write nothing: all their operands are sources.
bool has_no_result(const std::string& opcode) {
  static constexpr const char* kNames[] = {"st", "bar", "barrier", "membar", "fence", "exit", "trap", "nanosleep"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return opcode == name; });
}

// Operands at commas; what stands in braces is several: how many the first group has is told.
std::vector<std::string> split_operands(llvm::StringRef text, size_t& first_group) {
  std::vector<std::string> operands;
  first_group = 1;
  if (text.starts_with("{")) first_group = text.take_until([](char c) { return c == '}'; }).count(',') + 1;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts)
    if (const llvm::StringRef word = part.trim(" \t\n{}"); !word.empty()) operands.push_back(word.str());
  return operands;
}

}  // namespace

bool PtxStatement::has(const char* part) const { return std::find(opcode.begin(), opcode.end(), part) != opcode.end(); }

bool PtxStatement::parse(llvm::CallInst& at) {
  const auto* code = llvm::cast<llvm::InlineAsm>(at.getCalledOperand());
  llvm::StringRef text = llvm::StringRef(code->getAsmString()).trim();
  text.consume_back(";");
  text = text.trim();
  if (text.empty() || text.find_first_of(";@:|") != llvm::StringRef::npos) return false;
  call = &at;
  unsigned argument = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : code->ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isOutput && constraint.isIndirect) return false;
    if (constraint.Type == llvm::InlineAsm::isOutput) inputs_.push_back(nullptr);
    if (constraint.Type != llvm::InlineAsm::isInput) continue;
    llvm::Value* value = at.getArgOperand(argument++);
    if (llvm::isDigit(constraint.Codes[0][0]))
      inputs_[static_cast<size_t>(std::stoi(constraint.Codes[0]))] = value;  // "+r"
    inputs_.push_back(value);
  }
  outputs_ = at.getType()->isVoidTy() ? 0 : at.getType()->isStructTy() ? at.getType()->getStructNumElements() : 1;
  const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  const llvm::StringRef name = text.substr(0, end), rest = text.substr(end);
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, '.', -1, false);
  for (llvm::StringRef part : parts) opcode.push_back(part.str());
  if (opcode.empty()) return false;
  size_t results = 0;
  sources = split_operands(rest.trim(), results);
  if (has_no_result(opcode[0])) results = 0;
  if (results != outputs_ || sources.size() < results) return false;
  destinations.assign(sources.begin(), sources.begin() + static_cast<ptrdiff_t>(results));
  sources.erase(sources.begin(), sources.begin() + static_cast<ptrdiff_t>(results));
  return true;
}

// "$2".
llvm::Value* PtxStatement::operand(const std::string& text) const {
  size_t number = 0;
  if (!llvm::StringRef(text).starts_with("$") || llvm::StringRef(text).drop_front().getAsInteger(10, number))
    return nullptr;
  return number < inputs_.size() ? inputs_[number] : nullptr;
}

llvm::Value* PtxStatement::source(size_t i, llvm::Type* type) const {
  if (i >= sources.size()) return nullptr;
  int64_t number = 0;
  if (type->isIntegerTy() && !llvm::StringRef(sources[i]).getAsInteger(0, number))
    return llvm::ConstantInt::getSigned(type, number);
  llvm::Value* value = operand(sources[i]);
  if (!value || value->getType() == type) return value;
  llvm::IRBuilder<> build(call);
  if (value->getType()->isIntegerTy() && type->isIntegerTy()) return build.CreateZExtOrTrunc(value, type);
  const bool same_size = value->getType()->getPrimitiveSizeInBits() == type->getPrimitiveSizeInBits();
  return same_size ? build.CreateBitCast(value, type) : nullptr;
}

// "[$1]" or "[$1+16]"
llvm::Value* PtxStatement::address(llvm::IRBuilder<>& build, const std::string& text, unsigned space) const {
  llvm::StringRef inner = text;
  if (!inner.consume_front("[") || !inner.consume_back("]")) return nullptr;
  const auto [base, plus] = inner.split('+');
  int64_t offset = 0;
  if (!plus.empty() && plus.trim().getAsInteger(0, offset)) return nullptr;
  llvm::Value* value = operand(base.trim().str());
  // Addresses have 64 bits here, those of shared memory too.
  if (!value || !(value->getType()->isPointerTy() || value->getType()->isIntegerTy(64))) return nullptr;
  llvm::Type* pointer = llvm::PointerType::get(build.getContext(), space);
  llvm::Value* at = value->getType()->isPointerTy() ? build.CreateAddrSpaceCast(value, pointer)
                                                    : build.CreateIntToPtr(value, pointer);
  return build.CreateConstGEP1_64(build.getInt8Ty(), at, static_cast<uint64_t>(offset));
}

void PtxStatement::finish(llvm::IRBuilder<>& build, const std::vector<llvm::Value*>& values) const {
  if (!values.empty()) {
    llvm::Type* type = call->getType();
    llvm::Value* result = type->isStructTy() ? llvm::PoisonValue::get(type) : nullptr;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<unsigned>(std::stoul(destinations[i].substr(1)));
      llvm::Type* wanted = result ? type->getStructElementType(at) : type;
      llvm::Value* value = values[i];
      if (wanted->isIntegerTy() && value->getType()->isIntegerTy()) value = build.CreateZExtOrTrunc(value, wanted);
      else value = build.CreateBitCast(value, wanted);
      result = result ? build.CreateInsertValue(result, value, at) : value;
      if (!type->isStructTy()) break;
    }
    call->replaceAllUsesWith(result);
  }
  call->eraseFromParent();
}

void translate_inline_ptx(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !call->isInlineAsm()) continue;
      PtxStatement statement;
      if (statement.parse(*call))
        translate_memory(statement) || translate_bits(statement) || translate_machine(statement);
    }
}

}  // namespace trine::simt
