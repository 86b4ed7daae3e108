#include "simt/compile/check/site_table.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>

#include "simt/compile/threads_lower.h"

namespace trine::simt {
namespace {

using llvm::Constant;
constexpr unsigned kConstantSpace = 4;

class Writer {
 public:
  explicit Writer(llvm::Module& module) : module_(module), context_(module.getContext()) {}

  Constant* word(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value); }
  Constant* number(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context_), value); }
  Constant* address(llvm::GlobalVariable& variable) {
    return llvm::ConstantExpr::getPtrToInt(&variable, llvm::Type::getInt64Ty(context_));
  }

  Constant* text(const std::string& value) {
    Constant*& known = texts_[value];
    if (!known) {
      llvm::IRBuilder<> build(context_);
      known = build.CreateGlobalString(value, "trine.check.text", 0, &module_);
    }
    return known;
  }

  Constant* row(llvm::ArrayRef<Constant*> fields) { return llvm::ConstantStruct::getAnon(fields); }

  Constant* table(const std::vector<Constant*>& rows) {
    if (rows.empty()) return llvm::ConstantPointerNull::get(llvm::PointerType::get(context_, 0));
    auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
    return define(llvm::ConstantArray::get(type, rows), "trine.check.table", llvm::GlobalValue::InternalLinkage);
  }

  llvm::GlobalVariable* define(Constant* value, const std::string& name, llvm::GlobalValue::LinkageTypes linkage) {
    return new llvm::GlobalVariable(module_, value->getType(), true, linkage, value, name);
  }

 private:
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  std::map<std::string, Constant*> texts_;
};

VariableKind kind_of(const llvm::GlobalVariable& variable) {
  if (variable.hasInternalLinkage() || variable.hasPrivateLinkage()) return VariableKind::internal;
  return variable.getAddressSpace() == kConstantSpace ? VariableKind::constant : VariableKind::global;
}

void add_variables(llvm::Module& module, Writer& writer, std::vector<Constant*>& rows) {
  const auto add = [&](llvm::GlobalVariable& variable, Constant* address, VariableKind kind) {
    const uint64_t bytes = module.getDataLayout().getTypeAllocSize(variable.getValueType());
    rows.push_back(writer.row({writer.text(variable_name(variable)), address, writer.number(bytes),
                               writer.word(static_cast<uint32_t>(kind)), writer.word(0)}));
  };
  for (const auto& [variable, offset] : shared_places(module))
    add(*variable, writer.number(offset), VariableKind::shared);
  for (llvm::GlobalVariable& variable : module.globals()) {
    constexpr unsigned kSharedSpace = 3;
    if (variable.getAddressSpace() == kSharedSpace || variable.getName().starts_with("trine.check.") ||
        variable.getName().starts_with("llvm.") || !variable.getValueType()->isSized() || variable.use_empty())
      continue;
    add(variable, writer.address(variable), kind_of(variable));
  }
}

}  // namespace

std::string variable_name(const llvm::GlobalVariable& variable) {
  const std::string whole = llvm::demangle(variable.getName());
  const size_t scope = whole.rfind("::");
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

uint32_t SiteTable::add(const llvm::Instruction& at, uint64_t bytes, uint32_t flags, uint64_t align,
                        const std::string& variable) {
  rows_.push_back(
      {place_text(at.getDebugLoc()), variable, static_cast<uint32_t>(bytes), flags, static_cast<uint32_t>(align)});
  return static_cast<uint32_t>(rows_.size() - 1);
}

void SiteTable::write(const std::string& symbol, uint32_t checks) {
  Writer writer(module_);
  std::vector<Constant*> variables, sites;
  add_variables(module_, writer, variables);
  for (const Row& row : rows_)
    sites.push_back(writer.row({writer.text(row.place), writer.word(row.bytes), writer.word(row.flags),
                                writer.word(row.align), writer.word(0), writer.text(row.variable)}));
  Constant* table = writer.row({writer.table(sites), writer.table(variables), writer.word(sites.size()),
                                writer.word(variables.size()), writer.word(checks), writer.word(0)});
  writer.define(table, symbol, llvm::GlobalValue::ExternalLinkage);
}

}  // namespace trine::simt
