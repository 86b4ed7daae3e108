// The table of operators, filled by RegisterOp before main and sorted on first use.
#include <algorithm>
#include <map>
#include <vector>

#include "graph/op_def.h"
#include "trine/base/error.h"

namespace trine {
namespace {

std::vector<const OpDef*>& registered() {
  static std::vector<const OpDef*> list;
  return list;
}

struct Table {
  std::vector<const OpDef*> all;
  std::map<std::string_view, const OpDef*> by_name, by_onnx;

  Table() : all(registered()) {
    std::sort(all.begin(), all.end(), [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
    for (const OpDef* def : all) {
      TRINE_CHECK(by_name.emplace(def->name, def).second, std::string(def->name) + " is registered twice");
      if (!def->onnx.empty()) TRINE_CHECK(by_onnx.emplace(def->onnx, def).second, std::string(def->onnx));
    }
  }
};

const Table& table() {
  static const Table t;
  return t;
}

const OpDef* lookup(const std::map<std::string_view, const OpDef*>& map, std::string_view key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : it->second;
}

}  // namespace

RegisterOp::RegisterOp(const OpDef& def) { registered().push_back(&def); }

const OpDef* find_op(std::string_view name) { return lookup(table().by_name, name); }
const OpDef* find_onnx_op(std::string_view onnx_name) { return lookup(table().by_onnx, onnx_name); }
std::span<const OpDef* const> all_ops() { return table().all; }

const OpDef& op(std::string_view name) {
  const OpDef* def = find_op(name);
  TRINE_CHECK(def, "no operator " + std::string(name));
  return *def;
}

}  // namespace trine
