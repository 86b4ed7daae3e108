// Which instructions of a function touch memory, and what is known of it when it is compiled.
#pragma once

#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <vector>

namespace trine::simt {

struct Access {
  llvm::Instruction* at;
  llvm::Value* address;
  llvm::Value* length;  // memcpy and its like: bytes, known when it runs; else null
  uint64_t bytes;       // without a length
  uint32_t flags;       // SiteFlag
  uint64_t align;
  llvm::Value* stored;  // or null
};

// In the order of the code; copies give two. What the compiler's own passes added is left out.
std::vector<Access> accesses_of(llvm::Function& function);

enum class ObjectKind : uint8_t {
  unknown,
  local,     // alloca, or a parameter that was copied
  shared,    // a variable of known size
  constant,  // nobody writes it
  variable   // __device__ and __constant__
};

struct Object {
  ObjectKind kind = ObjectKind::unknown;
  llvm::Value* base = nullptr;
  uint64_t bytes = 0;
  bool known_inside = false;  // the address, for an access of that many bytes
};

// What the address is computed from by constant and variable offsets alone.
Object object_of(const Access& access, const llvm::DataLayout& layout);

// Its offset from the object's base, as code in front of the access.
llvm::Value* offset_in(const Access& access, const Object& object);

}  // namespace trine::simt
