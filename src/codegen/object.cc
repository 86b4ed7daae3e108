#include "codegen/object.h"

#include <sys/mman.h>

#include <cstring>

#include "trine/base/error.h"

namespace trine::codegen {

LoadedCode::LoadedCode(const ObjectCode& object) : offsets_(object.offsets) {
  bytes_ = object.blob.size();
  if (bytes_ == 0) return;
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw Error(ErrorCode::out_of_memory, "code: cannot map memory for machine code");
  std::memcpy(memory_, object.blob.data(), bytes_);
  if (mprotect(memory_, bytes_, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory_, bytes_);
    throw Error(ErrorCode::device, "code: the system refuses executable memory; build the engine without machine code");
  }
}

LoadedCode::~LoadedCode() {
  if (memory_) munmap(memory_, bytes_);
}

LoopEntry LoadedCode::find(uint64_t kernel_hash) const {
  const auto it = offsets_.find(kernel_hash);
  if (it == offsets_.end() || it->second >= bytes_) return nullptr;
  return reinterpret_cast<LoopEntry>(static_cast<char*>(memory_) + it->second);
}

}  // namespace trine::codegen
