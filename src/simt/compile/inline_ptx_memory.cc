// ld and st, with vectors. Hints for caches are not taken.
#include <llvm/IR/Module.h>

#include "simt/compile/inline_ptx.h"

namespace trine::simt {
namespace {

// "u32" of an instruction: its last part.
llvm::Type* memory_type(llvm::IRBuilder<>& build, const std::string& name) {
  unsigned bits = 0;
  if (name.size() < 2 || llvm::StringRef(name).drop_front().getAsInteger(10, bits)) return nullptr;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return nullptr;
  return llvm::StringRef("usbf").contains(name[0]) ? build.getIntNTy(bits) : nullptr;
}

unsigned space_of(const PtxStatement& statement) {
  return statement.has("global") ? 1 : statement.has("shared") ? 3 : statement.has("local") ? 5 : 0;
}

// In the order of the memory of all: volatile for the compiler, and fences around it.
struct Order {
  explicit Order(const PtxStatement& s)
      : is_volatile(s.has("volatile") || s.has("cv") || s.has("relaxed") || s.has("acquire") || s.has("release")),
        acquires(s.has("acquire")),
        releases(s.has("release")) {}
  bool is_volatile, acquires, releases;
};

size_t vector_size(const PtxStatement& statement) { return statement.has("v4") ? 4 : statement.has("v2") ? 2 : 1; }

bool load(const PtxStatement& statement) {
  llvm::IRBuilder<> build(statement.call);
  llvm::Type* type = memory_type(build, statement.opcode.back());
  const size_t count = vector_size(statement);
  if (!type || statement.destinations.size() != count || statement.sources.size() != 1) return false;
  llvm::Value* base = statement.address(build, statement.sources[0], space_of(statement));
  if (!base) return false;
  const Order order(statement);
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < count; ++i) {
    llvm::LoadInst* value = build.CreateLoad(type, build.CreateConstGEP1_64(type, base, i), order.is_volatile);
    // A register may be wider than what is read.
    const bool is_signed = statement.opcode.back()[0] == 's' && type->getIntegerBitWidth() < 32;
    values.push_back(is_signed ? build.CreateSExt(value, build.getInt32Ty()) : static_cast<llvm::Value*>(value));
  }
  if (order.acquires) build.CreateFence(llvm::AtomicOrdering::Acquire);
  statement.finish(build, values);
  return true;
}

bool store(const PtxStatement& statement) {
  llvm::IRBuilder<> build(statement.call);
  llvm::Type* type = memory_type(build, statement.opcode.back());
  const size_t count = vector_size(statement);
  if (!type || statement.sources.size() != count + 1) return false;
  llvm::Value* base = statement.address(build, statement.sources[0], space_of(statement));
  if (!base) return false;
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < count; ++i) values.push_back(statement.source(i + 1, type));
  for (const llvm::Value* value : values)
    if (!value) return false;
  const Order order(statement);
  if (order.releases) build.CreateFence(llvm::AtomicOrdering::Release);
  for (size_t i = 0; i < count; ++i)
    build.CreateStore(values[i], build.CreateConstGEP1_64(type, base, i), order.is_volatile);
  statement.finish(build, {});
  return true;
}

}  // namespace

bool translate_memory(const PtxStatement& statement) {
  if (statement.is("ld")) return load(statement);
  return statement.is("st") && store(statement);
}

}  // namespace trine::simt
