// DeviceExecutor: runs a plan on a device. Values live in arenas there; host steps get copies of just what they read,
// and what they make goes back when a kernel reads it. A stretch of calls without host steps becomes a graph the second
// time that it runs with the same sizes.
#pragma once

#include <memory>
#include <optional>

#include "plan/device/device_memory.h"
#include "plan/device/device_segment.h"
#include "plan/device/step_timer.h"
#include "plan/runner.h"
#include "plan/segments.h"

namespace trine {

// Events around stretches, and around `queued` more runs of the only one.
struct Spans {
  using Span = std::pair<compute::Event, compute::Event>;
  int queued = 0;
  std::vector<Span> runs;
  std::optional<Span> more;
};

// What the runners of a plan and of its bodies share.
struct DeviceContext {
  DeviceContext(std::shared_ptr<const DeviceTarget> t, std::shared_ptr<DeviceStore> s)
      : target(std::move(t)), store(std::move(s)), stream(store->device().create_stream()) {}
  std::shared_ptr<const DeviceTarget> target;
  std::shared_ptr<DeviceStore> store;
  compute::Stream stream;
  bool graphs = true;
  Spans* spans = nullptr;  // of what runs, when it is to be timed
};

class DeviceExecutor final : public Runner {
 public:
  DeviceExecutor(std::shared_ptr<const Plan> plan, std::shared_ptr<DeviceContext> context);
  ~DeviceExecutor() override;

  std::vector<Datum> run(const std::vector<Datum>& inputs) override;
  std::vector<Datum> run_timed(const std::vector<Datum>& inputs, int queued, RunTimes& times) override;
  void observe(Observer observer) override;
  size_t arena_bytes() const override;

 private:
  // Where the value of a root is on the device; on_host_ says whether the host has it.
  struct Place {
    void* address = nullptr;
    bool on_device = false;
    ValueId host = kNoValue;  // it lives in this one, so far behind its begin
    int64_t offset_bytes = 0;
  };

  std::vector<Datum> run_all(const std::vector<Datum>& inputs);
  DeviceSegment& ready(Segment& segment);
  void execute(const Segment& segment, DeviceSegment& ready);
  void set_places(const Segment& segment);
  void run_stretch(const Segment& segment, DeviceSegment& ready, Stretch& stretch);
  Spans::Span launch_timed(const Segment& segment, DeviceSegment& ready, Stretch& stretch, int times);
  void launch_stretch(const Segment& segment, DeviceSegment& ready, Stretch& stretch);
  void submit(const Segment& segment, const DeviceSegment& ready, const Stretch& stretch);
  void submit_call(const Segment& segment, const DeviceSegment& ready, size_t index);
  bool capture(const Segment& segment, const DeviceSegment& ready, Stretch& stretch);
  void run_observed(const Segment& segment, const DeviceSegment& ready, Stretch& stretch);
  void run_shown(const Segment& segment, const DeviceSegment& ready, size_t index);
  void run_host(const Segment& segment, const Call& call);
  void tell(const Segment& segment, const Call& call, double seconds, const std::vector<Datum>* inputs,
            const std::vector<Datum>* outputs);
  void tell_times(const Segment& segment);

  ValueId home(ValueId root) const { return place(root).host == kNoValue ? root : place(root).host; }
  void upload(const Segment& segment, ValueId root);
  void* address(const Segment& segment, const DeviceSegment& ready, ValueId id) const;
  void* operand(const Segment& segment, const DeviceSegment& ready, size_t index, size_t part,
                const compute::OperandRole& role) const;
  Tensor downloaded(const Segment& segment, ValueId root);
  Datum datum_of(const Segment& segment, ValueId id, bool keep);
  std::vector<Datum> data_of(const Segment& segment, const std::vector<ValueId>& ids, bool keep);
  void check_faults(const Segment& segment, const DeviceSegment& ready);
  std::vector<Datum> collect_outputs(const Segment& segment, const DeviceSegment& ready);
  DeviceExecutor& body(int node, int k);
  Place& place(ValueId id) { return places_[static_cast<size_t>(id)]; }
  Datum& on_host(ValueId id) { return on_host_[static_cast<size_t>(id)]; }
  void forget();
  const Place& place(ValueId id) const { return places_[static_cast<size_t>(id)]; }
  compute::Stream& stream() { return context_->stream; }

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<DeviceContext> context_;
  Segments segments_;
  DeviceMemory memory_;
  Observer observer_;
  std::vector<Place> places_;   // of every root
  std::vector<Datum> on_host_;  // likewise
  void* workspace_ = nullptr;
  StepTimer timer_;  // of calls that are observed
  std::map<std::pair<int, int>, std::unique_ptr<DeviceExecutor>> bodies_;
};

}  // namespace trine
