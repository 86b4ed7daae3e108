// The registry of rows: what the linked backends brought, and what a test planted before them.
#include "dnn/kernel_row.h"

#include <algorithm>
#include <mutex>

#include "trine/base/error.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kPackingNames[] = {"none",
                                              "panels16",
                                              "panels16_by_phase",
                                              "depthwise",
                                              "winograd2",
                                              "winograd4",
                                              "recurrent",
                                              "recurrent_layers",
                                              "panels16_bf16",
                                              "panels16_int8",
                                              "depthwise_int8",
                                              "strassen",
                                              "rows16_bf16",
                                              "rows16_int8",
                                              "winograd2_bf16",
                                              "depthwise_words_bf16",
                                              "depthwise_words_int8"};

int rank(const KernelRow& row) {
  return static_cast<int>(row.needs) * 4 + row.also_needs.vnni * 2 + row.also_needs.bf16;
}

struct Registry {
  std::mutex mutex;
  std::vector<const KernelRow*> planted;
  std::vector<const KernelRow*> rows;

  std::vector<const KernelRow*> list() {
    std::lock_guard lock(mutex);
    std::vector<const KernelRow*> all = planted;
    all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }
};

Registry& registry() {
  static Registry* instance = new Registry;  // never destroyed: tables of other files may outlive a static
  return *instance;
}

}  // namespace

std::string_view name(Packing packing) { return kPackingNames[static_cast<size_t>(packing)]; }

RegisterRows::RegisterRows(std::span<const KernelRow> rows) {
  std::lock_guard lock(registry().mutex);
  for (const KernelRow& row : rows) registry().rows.push_back(&row);
  // Tables arrive in link order; the better machines first, otherwise as they stand.
  std::stable_sort(registry().rows.begin(), registry().rows.end(),
                   [](const KernelRow* a, const KernelRow* b) { return rank(*a) > rank(*b); });
}

ScopedRow::ScopedRow(const KernelRow& row) : row_(&row) {
  std::lock_guard lock(registry().mutex);
  registry().planted.insert(registry().planted.begin(), row_);
}

ScopedRow::~ScopedRow() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().planted, row_);
}

std::vector<const KernelRow*> all_rows() { return registry().list(); }

std::vector<const KernelRow*> rows_of(OpKind op) {
  std::vector<const KernelRow*> rows = registry().list();
  std::erase_if(rows, [op](const KernelRow* row) { return row->op != op; });
  return rows;
}

const KernelRow* find_row(std::string_view name) {
  for (const KernelRow* row : registry().list())
    if (row->name == name) return row;
  return nullptr;
}

}  // namespace trine::dnn
