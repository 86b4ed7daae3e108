#include "compute/backend_table.h"

#include <algorithm>

namespace trine::compute {
namespace {

std::vector<const BackendTable*>& registered() {
  static std::vector<const BackendTable*> list;
  return list;
}

}  // namespace

RegisterBackend::RegisterBackend(const BackendTable& table) { registered().push_back(&table); }

const BackendTable* find_backend(std::string_view name) {
  for (const BackendTable* table : registered())
    if (table->name == name) return table;
  return nullptr;
}

std::vector<const BackendTable*> all_backends() {
  std::vector<const BackendTable*> list = registered();
  std::sort(list.begin(), list.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return list;
}

}  // namespace trine::compute
