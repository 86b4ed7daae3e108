#include "compute/kernel_table.h"

namespace trine::compute {
namespace {

std::vector<const KernelTable*>& registered() {
  static std::vector<const KernelTable*> list;
  return list;
}

}  // namespace

RegisterKernels::RegisterKernels(const KernelTable& table) { registered().push_back(&table); }

const KernelTable* find_kernel_table(std::string_view backend) {
  for (const KernelTable* table : registered())
    if (table->backend == backend) return table;
  return nullptr;
}

}  // namespace trine::compute
