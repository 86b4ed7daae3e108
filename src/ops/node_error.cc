#include "ops/node_error.h"

#include <unistd.h>

namespace trine {

size_t value_count(const Dims& dims) {
  static const int64_t memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const int64_t count = element_count(dims);
  if (count > memory / 2 / static_cast<int64_t>(sizeof(double)))
    throw Error(ErrorCode::out_of_memory, fmt::format("a tensor of [{}] would take {} MiB; this machine has {} MiB", to_string(dims),
                                                      count * 8 >> 20, memory >> 20));
  return static_cast<size_t>(count);
}

}  // namespace trine
