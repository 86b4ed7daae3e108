#include "dnn/measure_device.h"

#include <algorithm>

#include "trine/compute/graph.h"

namespace trine::dnn {
namespace {

constexpr int kMostCalls = 20, kMostRounds = 15;
constexpr double kWarmSeconds = 5e-3;
constexpr double kGraphSeconds = 2e-3;  // long beside the launch of a graph

struct Span {
  compute::Event begin, end;
  explicit Span(const compute::Device& device) : begin(device.create_event()), end(device.create_event()) {}
  double seconds() const { return end.seconds_since(begin); }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

double seconds_in_graph(const compute::Device& device, compute::Stream& stream, int calls, int rounds,
                        const std::function<void(int turn)>& submit, double warm_seconds) {
  stream.begin_capture();
  for (int i = 0; i < calls; ++i) submit(i);
  const compute::Graph graph = stream.end_capture();
  const auto once = [&] {
    const Span span(device);
    stream.record(span.begin);
    graph.launch(stream);
    stream.record(span.end);
    return span.seconds();
  };
  for (double spent = 0; spent < warm_seconds;) spent += std::max(once(), 1e-6);
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(once() / calls);
  return median(times);
}

double measure(const DeviceRow& row, const DeviceOperands& operands, const DeviceTraits& traits, ProvidedCall* provided,
               compute::DevicePrograms& programs, double seconds) {
  compute::DeviceCall call;
  if (!provided) call = device_call(row, operands.problem(), traits);
  const WayOperands way(operands, row, &call, provided ? provided->workspace_bytes() : call.workspace_bytes,
                        2 * traits.l2_bytes, kMostCalls);
  compute::Stream stream = operands.device().create_stream();
  const auto submit = [&](int turn) {
    if (provided) provided->run(way.addresses(turn), stream);
    else programs.submit(call, way.addresses(turn), stream);
  };
  submit(0);  // what is loaded on first use is not counted
  stream.synchronize();
  const Span once(operands.device());
  stream.record(once.begin);
  submit(1);
  stream.record(once.end);
  const double about = std::max(once.seconds(), 1e-6);
  if (about > seconds / 2) return about;
  const int most = traits.is_cpu ? 1 : kMostCalls;  // a CPU has no launches to hide
  const int calls = static_cast<int>(std::clamp(kGraphSeconds / about, 1.0, static_cast<double>(most)));
  const double rounds = std::clamp(seconds / (calls * about), 1.0, static_cast<double>(kMostRounds));
  const double warm = traits.is_cpu ? 0 : std::min(kWarmSeconds, seconds / 4);
  return seconds_in_graph(operands.device(), stream, calls, static_cast<int>(rounds), submit, warm);
}

}  // namespace trine::dnn
