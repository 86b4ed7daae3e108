// Where values are: addresses of operands, and ways between host and device.
#include <fmt/format.h>

#include <cstring>

#include "plan/device/device_executor.h"
#include "plan/host_step.h"
#include "trine/base/error.h"

namespace trine {
namespace {

ValueId root_of(const Segment& segment, ValueId id) { return segment.root[static_cast<size_t>(id)]; }

size_t bytes_of(const Type& type) {
  return static_cast<size_t>(element_count(type.shape.static_dims())) * byte_size(type.dtype);
}

ValueId at(const std::vector<ValueId>& ids, int i) {
  return i >= 0 && static_cast<size_t>(i) < ids.size() ? ids[static_cast<size_t>(i)] : kNoValue;
}

// The operand of the node that a role means; kNoValue: none. Weights that are not packed follow the others in `in`.
ValueId value_of(const Node& node, const Call& call, const compute::OperandRole& role) {
  using Kind = compute::OperandRole::Kind;
  const bool in = role.kind == Kind::in;
  if (call.kind == Call::Kind::loop) return at(in ? node.inputs : node.outputs, role.index);
  const KernelCall& what = call.what;
  const int plain = static_cast<int>(what.in.size());
  switch (role.kind) {
    case Kind::in:
      return at(node.inputs, role.index < plain ? at(what.in, role.index) : at(what.weights, role.index - plain));
    case Kind::out: return at(node.outputs, at(what.out, role.index));
    case Kind::bias: return at(node.inputs, what.bias);
    case Kind::residual: return at(node.inputs, what.residual);
    default: return kNoValue;
  }
}

}  // namespace

void* DeviceExecutor::address(const Segment& segment, const DeviceSegment& prepared, ValueId id) const {
  if (id == kNoValue) return nullptr;
  const ValueId root = root_of(segment, id);
  if (void* constant = prepared.constant_value(root)) return constant;
  char* at_home = static_cast<char*>(place(home(root)).address);
  return at_home ? at_home + place(root).offset_bytes : nullptr;
}

void* DeviceExecutor::operand(const Segment& segment, const DeviceSegment& prepared, size_t index, size_t part,
                              const compute::OperandRole& role) const {
  using Kind = compute::OperandRole::Kind;
  const Call& call = segment.calls[index];
  switch (role.kind) {
    case Kind::packed: return prepared.packed(index);
    case Kind::workspace: return workspace_;
    case Kind::constant: return prepared.constant(index, part, role.index);
    case Kind::fault: return prepared.fault(index, part);
    case Kind::scale: return nullptr;  // engines have no calls with scales
    default: break;
  }
  const Node& node = segment.typed.nodes[static_cast<size_t>(call.node)];
  char* base = static_cast<char*>(address(segment, prepared, value_of(node, call, role)));
  if (!base || call.kind != Call::Kind::kernel || role.index != 0) return base;
  if (role.kind == Kind::in) return base + call.what.in_offset_bytes;
  return role.kind == Kind::out ? base + call.what.out_offset_bytes : base;
}

void DeviceExecutor::upload(const Segment& segment, ValueId root) {
  Place& p = place(root);
  const Tensor& constant = segment.typed.value(root).constant;
  const Tensor from = on_host(root).is_tensor() ? on_host(root).tensor() : constant;
  TRINE_CHECK(from.defined(), segment.typed.value(root).name);
  const MemoryUse use{MemoryUse::Kind::input, root};
  p.address = memory_.room(use, from.bytes(), stream());
  void* staged = memory_.staging(use, from.bytes(), stream());
  if (from.bytes()) {
    std::memcpy(staged, from.data(), from.bytes());
    stream().upload(p.address, staged, from.bytes());
  }
  p.on_device = true;
}

// A root's bytes, under its own shape.
Tensor DeviceExecutor::downloaded(const Segment& segment, ValueId root) {
  const Type& type = segment.typed.type(root);
  const Place &p = place(root), &at_home = place(home(root));
  const auto lodging = segment.lodgings.find(root);
  const bool apart = lodging != segment.lodgings.end() && !lodging->second.is_dense();
  if (apart || !at_home.on_device) {
    const Datum all = at_home.on_device ? Datum(downloaded(segment, p.host)) : on_host(home(root));
    const Lodging dense{p.host, p.offset_bytes, static_cast<int64_t>(bytes_of(type)),
                        static_cast<int64_t>(bytes_of(type))};
    return gathered(apart ? lodging->second : dense, type, all.tensor().as<char>() + p.offset_bytes);
  }
  Tensor out(type.dtype, type.shape.static_dims());
  if (out.bytes())
    stream().download(out.mutable_data(), static_cast<char*>(at_home.address) + p.offset_bytes, out.bytes());
  stream().synchronize();
  return out;
}

// `keep`: the value is complete, and further host steps may read the same copy.
Datum DeviceExecutor::datum_of(const Segment& segment, ValueId id, bool keep) {
  if (id == kNoValue) return {};
  const ValueId root = root_of(segment, id);
  const Type& type = segment.typed.type(id);
  const bool sized = type.is_tensor() && type.shape.is_static();
  Datum& held = on_host(root);
  if (held.is_sequence()) return held;
  Tensor tensor = held.is_tensor() ? held.tensor() : segment.typed.value(root).constant;
  if (!tensor.defined()) {
    if (!sized) return {};  // an empty optional
    if (element_count(type.shape.static_dims()) == 0 && type.dtype != DType::string)
      return Tensor(type.dtype, type.shape.static_dims());
    tensor = downloaded(segment, root);
    if (keep) held = tensor;
  }
  if (segment.planar.contains(id)) return interleaved(type, tensor.data());
  return sized ? Datum(tensor.reshaped(type.shape.static_dims())) : Datum(tensor);
}

std::vector<Datum> DeviceExecutor::data_of(const Segment& segment, const std::vector<ValueId>& ids, bool keep) {
  std::vector<Datum> data;
  for (ValueId id : ids) data.push_back(datum_of(segment, id, keep));
  return data;
}

// Waits, when there is something to ask for.
void DeviceExecutor::check_faults(const Segment& segment, const DeviceSegment& prepared) {
  const size_t bytes = prepared.fault_bytes();
  if (!bytes) return;
  void* words = memory_.staging({MemoryUse::Kind::workspace}, bytes, stream());
  prepared.fetch_faults(words, stream());
  stream().synchronize();
  prepared.judge_faults(segment, words, stream());
}

// What the device made comes by way of staging memory, all of it before the host waits.
std::vector<Datum> DeviceExecutor::collect_outputs(const Segment& segment, const DeviceSegment& prepared) {
  const std::vector<ValueId>& ids = plan_->graph->outputs;
  std::vector<void*> staged(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const ValueId root = root_of(segment, ids[i]);
    const Place& p = place(root);  // what lives elsewhere is nobody's output
    if (!p.on_device || on_host(root).is_tensor() || segment.planar.contains(ids[i])) continue;
    const size_t bytes = bytes_of(segment.typed.type(root));
    staged[i] = memory_.staging({MemoryUse::Kind::output, static_cast<int>(i)}, bytes, stream());
    if (bytes) stream().download(staged[i], p.address, bytes);
  }
  check_faults(segment, prepared);
  stream().synchronize();
  std::vector<Datum> out;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!staged[i]) {
      out.push_back(detached(datum_of(segment, ids[i], true)));
      continue;
    }
    const Type& type = segment.typed.type(ids[i]);
    Tensor made(type.dtype, type.shape.static_dims());
    if (made.bytes()) std::memcpy(made.mutable_data(), staged[i], made.bytes());
    out.push_back(made);
  }
  return out;
}

}  // namespace trine
