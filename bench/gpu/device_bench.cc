#include "device_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dnn/measure_device.h"

namespace trine::bench {

using namespace dnn;

DeviceBench::DeviceBench(const std::string& device)
    : device_(compute::Device::open(device)),
      programs_(device_, device_headers()),
      stream_(device_.create_stream()),
      traits_(traits_of(device_)) {}

compute::Buffer DeviceBench::uploaded(const std::vector<char>& from) {
  compute::Buffer buffer = room(from.size());
  if (!from.empty()) stream_.upload(buffer, 0, from.data(), from.size());
  stream_.synchronize();
  return buffer;
}

double DeviceBench::seconds_of(const std::function<void()>& submit, int repeats) {
  submit();
  stream_.synchronize();
  const int calls = traits_.is_cpu ? 1 : repeats, rounds = traits_.is_cpu ? 1 : 15;
  return seconds_in_graph(device_, stream_, calls, rounds, [&](int) { submit(); });
}

double DeviceBench::seconds_of(const DeviceRow& row, const Problem& problem) {
  const std::shared_ptr<ProvidedCall> provided = row.provide ? row.provide(row, problem, device_) : nullptr;
  if (row.provide && !provided) return INFINITY;
  const DeviceOperands operands(device_, problem);
  const compute::DeviceCall call = provided ? compute::DeviceCall{} : device_call(row, problem, traits_);
  const WayOperands way(operands, row, &call, provided ? provided->workspace_bytes() : call.workspace_bytes);
  return seconds_of([&] {
    if (provided) provided->run(way.addresses(0), stream_);
    else programs_.submit(call, way.addresses(0), stream_);
  });
}

Arguments::Arguments(int argc, char** argv, const std::string& flag_name) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) device = argv[++i];
    else if (word == flag_name) flag = true;
    else names.push_back(word);
  }
}

bool Arguments::ask_for(const std::string& name) const {
  const auto held = [&](const std::string& part) { return name.find(part) != std::string::npos; };
  return names.empty() || std::any_of(names.begin(), names.end(), held);
}

int told(const char* program, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 1;
  }
}

}  // namespace trine::bench
