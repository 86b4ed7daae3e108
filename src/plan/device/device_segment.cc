#include "plan/device/device_segment.h"

#include <fmt/format.h>

#include <set>

#include "trine/base/error.h"

namespace trine {
namespace {

struct FaultWords {
  int64_t met, value;
};

const Node& node_of(const Segment& segment, const Call& call) {
  return segment.typed.nodes[static_cast<size_t>(call.node)];
}

ValueId root_of(const Segment& segment, ValueId id) { return segment.root[static_cast<size_t>(id)]; }

}  // namespace

std::vector<Tensor> weights_of(const Graph& typed, const Call& call) {
  const Node& node = typed.nodes[static_cast<size_t>(call.node)];
  std::vector<Tensor> weights;
  for (int i : call.what.weights) {
    const bool has =
        i >= 0 && static_cast<size_t>(i) < node.inputs.size() && node.inputs[static_cast<size_t>(i)] != kNoValue;
    weights.push_back(has ? typed.value(node.inputs[static_cast<size_t>(i)]).constant : Tensor());
  }
  return weights;
}

DeviceSegment::DeviceSegment(const Plan& plan, const Segment& segment, DeviceStore& store)
    : packed_(segment.calls.size()), constants_(segment.calls.size()) {
  std::vector<const compute::DeviceCall*> programs;
  for (const Call& call : segment.calls)
    if (call.device)
      for (const compute::DeviceCall& c : work_of(call).calls) programs.push_back(&c);
  store.programs().prepare(programs);
  cut(segment);
  upload_constants(plan, segment, store);
  note_faults(segment, store);
}

void DeviceSegment::cut(const Segment& segment) {
  for (size_t c = 0; c < segment.calls.size(); ++c) {
    const Call& call = segment.calls[c];
    const bool host = call.kind == Call::Kind::host;
    if (host || stretches.empty() || stretches.back().on_host) stretches.push_back({c, c, host});
    stretches.back().last = c + 1;
  }
  for (Stretch& stretch : stretches) {
    std::set<ValueId> reads;
    for (size_t c = stretch.first; !stretch.on_host && c < stretch.last; ++c)
      for (ValueId id : node_of(segment, segment.calls[c]).inputs) {
        if (id == kNoValue || segment.typed.value(root_of(segment, id)).constant.defined()) continue;
        reads.insert(root_of(segment, id));
      }
    stretch.reads.assign(reads.begin(), reads.end());
  }
}

void DeviceSegment::upload_constants(const Plan& plan, const Segment& segment, DeviceStore& store) {
  const auto own = [&]() -> DeviceStore& {
    if (!own_) own_ = std::make_shared<DeviceStore>(store.device(), nullptr);
    return *own_;
  };
  for (size_t c = 0; c < segment.calls.size(); ++c) {
    const Call& call = segment.calls[c];
    if (!call.device) continue;
    const std::vector<int> packs = call.packed_bytes > 0 ? call.what.weights : std::vector<int>();
    const Node& node = node_of(segment, call);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool is_packed = std::find(packs.begin(), packs.end(), static_cast<int>(i)) != packs.end();
      if (node.inputs[i] == kNoValue || is_packed) continue;
      const ValueId root = root_of(segment, node.inputs[i]);
      const Tensor& value = segment.typed.value(root).constant;
      if (!value.defined() || values_.contains(root)) continue;
      const bool lasting = plan.graph->value(root).constant.defined();
      values_[root] = (lasting ? store : own()).constant(value);
    }
    if (call.packed_bytes > 0) packed_[c] = store.packed(plan, call, weights_of(segment.typed, call));
    for (const compute::DeviceCall& part : work_of(call).calls) {
      std::vector<void*>& addresses = constants_[c].emplace_back();
      for (const Tensor& t : part.constants) addresses.push_back(own().constant(t));
    }
  }
}

void DeviceSegment::note_faults(const Segment& segment, DeviceStore& store) {
  for (size_t c = 0; c < segment.calls.size(); ++c)
    for (size_t part = 0; segment.calls[c].device && part < work_of(segment.calls[c]).calls.size(); ++part)
      if (!work_of(segment.calls[c]).calls[part].fault.empty()) may_fault_.emplace_back(c, part);
  if (may_fault_.empty()) return;
  faults_ = store.device().allocate(may_fault_.size() * sizeof(FaultWords));
  compute::Stream stream = store.device().create_stream();
  stream.fill(*faults_, 0);
  stream.synchronize();
}

void* DeviceSegment::fault(size_t call, size_t part) const {
  const auto it = std::find(may_fault_.begin(), may_fault_.end(), std::pair(call, part));
  if (it == may_fault_.end()) return nullptr;
  return static_cast<FaultWords*>(faults_->data()) + (it - may_fault_.begin());
}

void DeviceSegment::fetch_faults(void* words, compute::Stream& stream) const {
  stream.download(words, *faults_, 0, faults_->bytes());
}

void DeviceSegment::judge_faults(const Segment& segment, const void* words, compute::Stream& stream) const {
  const auto* fault = static_cast<const FaultWords*>(words);
  for (const auto& [c, part] : may_fault_) {
    const auto [met, value] = *fault++;
    if (!met) continue;
    stream.fill(*faults_, 0);
    stream.synchronize();
    const Call& call = segment.calls[c];
    throw Error(ErrorCode::invalid_argument,
                fmt::format("node '{}': {}", node_of(segment, call).name,
                            fmt::format(fmt::runtime(work_of(call).calls[part].fault), value)));
  }
}

void* DeviceSegment::constant_value(ValueId root) const {
  const auto it = values_.find(root);
  return it == values_.end() ? nullptr : it->second;
}

}  // namespace trine
