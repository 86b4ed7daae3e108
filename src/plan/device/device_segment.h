// A segment made ready for a device: kernels compiled, what never changes uploaded, and its calls cut into stretches
// without host steps.
#pragma once

#include <optional>

#include "plan/device/device_store.h"
#include "trine/compute/graph.h"

namespace trine {

// Calls [first, last) of the device, or one host step.
struct Stretch {
  size_t first = 0, last = 0;
  bool on_host = false;
  std::vector<ValueId> reads;  // roots of operands that are no constants
  int runs = 0;
  std::optional<compute::Graph> graph;  // of all its calls
  uint64_t generation = 0;              // of the memory that the graph names
  bool refused = false;                 // it cannot be captured
};

class DeviceSegment {
 public:
  DeviceSegment(const Plan& plan, const Segment& segment, DeviceStore& store);

  std::vector<Stretch> stretches;

  // Device addresses; null for what the call has not.
  void* constant_value(ValueId root) const;
  void* packed(size_t call) const { return packed_[call]; }
  void* constant(size_t call, size_t part, int index) const {
    return constants_[call][part][static_cast<size_t>(index)];
  }

  // Two words for each part of a call that data can hold bad values for; zeros between runs.
  void* fault(size_t call, size_t part) const;
  size_t fault_bytes() const { return faults_ ? faults_->bytes() : 0; }
  // Copies them to `words` on the stream.
  void fetch_faults(void* words, compute::Stream& stream) const;
  // When they have come: throws Error that names the node, with all of them cleared.
  void judge_faults(const Segment& segment, const void* words, compute::Stream& stream) const;

 private:
  void cut(const Segment& segment);
  void upload_constants(const Plan& plan, const Segment& segment, DeviceStore& store);
  void note_faults(const Segment& segment, DeviceStore& store);

  std::map<ValueId, void*> values_;                         // constant operands, by root
  std::vector<void*> packed_;                               // by call
  std::vector<std::vector<std::vector<void*>>> constants_;  // by call, part of it, index
  std::vector<std::pair<size_t, size_t>> may_fault_;        // calls and their parts
  std::optional<compute::Buffer> faults_;
  std::shared_ptr<DeviceStore> own_;  // constants of these sizes alone
};

// The inputs of the node that a call's weights are.
std::vector<Tensor> weights_of(const Graph& typed, const Call& call);

}  // namespace trine
