#include "plan/segments.h"

#include <algorithm>

#include "graph/eval.h"

namespace trine {
namespace {

constexpr size_t kRememberedSizes = 16;

std::string key_of(const std::vector<Type>& types) {
  std::string key;
  for (const Type& t : types) key += t.text() + ";";
  return key;
}

}  // namespace

Segment& Segments::first(const std::vector<Type>& types, Batch batch) {
  const std::string key = key_of(types);
  const auto it = std::find_if(first_.begin(), first_.end(), [&](const auto& entry) { return entry.first == key; });
  if (it != first_.end()) return *it->second;
  std::unique_ptr<Segment> made =
      prepare(*plan_, with_input_types(*plan_, types), nullptr, threads_, &packed_, batch, target_);
  if (first_.size() >= kRememberedSizes) first_.erase(first_.begin());
  first_.emplace_back(key, std::move(made));
  return *first_.back().second;
}

Segment& Segments::next(Segment& segment, const std::vector<Datum>& made, Batch batch) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(segment.last - 1)];
  std::vector<Type> types;
  for (ValueId id : node.outputs)
    if (id != kNoValue) types.push_back(type_of(made[static_cast<size_t>(id)]));
  const std::string key = key_of(types);
  if (const auto it = segment.next.find(key); it != segment.next.end()) return *it->second;
  if (segment.next.size() > kRememberedSizes) segment.next.clear();
  Graph typed = segment.typed.deep_copy();
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Datum& datum = made[static_cast<size_t>(id)];
    if (datum.is_tensor()) typed.value(id).type = type_of(datum);
  }
  return *(segment.next[key] = prepare(*plan_, std::move(typed), &segment, threads_, &packed_, batch, target_));
}

}  // namespace trine
