#include "ops/node_error.h"

#include "base/memory.h"

namespace trine {

size_t value_count(const Dims& dims) {
  const int64_t count = element_count(dims);
  need_memory(static_cast<double>(count) * sizeof(double));
  return static_cast<size_t>(count);
}

}  // namespace trine
