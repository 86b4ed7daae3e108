#include "simt/check/cells.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include "trine/base/error.h"

namespace trine::simt {

Cells::Cells(uint64_t bytes_of_memory) : mapped_((bytes_of_memory / 4 + 2) * sizeof(Cell)) {
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("check: no {} bytes to check {} bytes of memory for races", mapped_, bytes_of_memory));
  cells_ = static_cast<Cell*>(memory);
}

Cells::~Cells() { munmap(cells_, mapped_); }

}  // namespace trine::simt
