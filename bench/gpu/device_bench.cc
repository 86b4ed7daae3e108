#include "device_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>

#include "base/float_formats.h"
#include "dnn/operands.h"
#include "trine/compute/graph.h"

namespace trine::bench {

using namespace dnn;

std::vector<char> random_content(DType type, int64_t count) {
  constexpr int64_t kPeriod = 65521;  // nobody else's period is that
  std::mt19937 random(7);
  const size_t size = byte_size(type);
  std::vector<char> bytes(static_cast<size_t>(count) * size);
  const int64_t first = std::min(count, kPeriod);
  for (int64_t i = 0; i < first; ++i) {
    const float x = static_cast<float>(random()) * 0x1p-31f - 1;
    const uint16_t half = is_half(type) ? small_float_bits(type, x) : 0;
    const int64_t index = static_cast<int64_t>(random() % 100);
    const void* from = type == DType::f32 ? static_cast<const void*>(&x)
                       : is_half(type)    ? &half
                                          : static_cast<const void*>(&index);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * size, from, size);
  }
  const size_t pattern = static_cast<size_t>(first) * size;
  for (size_t at = pattern; at < bytes.size(); at += pattern)
    std::memcpy(bytes.data() + at, bytes.data(), std::min(pattern, bytes.size() - at));
  return bytes;
}

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
  stream_.begin_capture();
  for (int i = 0; i < calls; ++i) submit();
  const compute::Graph graph = stream_.end_capture();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const compute::Event begin = device_.create_event(), end = device_.create_event();
    stream_.record(begin);
    graph.launch(stream_);
    stream_.record(end);
    end.synchronize();
    times.push_back(end.seconds_since(begin) / calls);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<size_t>(rounds / 2)];
}

double DeviceBench::seconds_of(const DeviceRow& row, const Problem& problem) {
  const OperandSizes s = operand_sizes(problem);
  std::vector<compute::Buffer> in, out, constants;
  for (int i = 0; i < kMostOperands; ++i) {
    in.push_back(uploaded(random_content(s.integers[i] ? DType::i32 : s.in_types[i], s.in[i])));
    out.push_back(room(static_cast<size_t>(s.out[i]) * byte_size(s.out_types[i])));
  }
  const std::shared_ptr<ProvidedCall> provided = row.provide ? row.provide(row, problem, device_) : nullptr;
  if (row.provide && !provided) return INFINITY;
  const compute::DeviceCall call = provided ? compute::DeviceCall{} : device_call(row, problem, traits_);
  for (const Tensor& t : call.constants) {
    const auto* p = static_cast<const char*>(t.data());
    constants.push_back(uploaded({p, p + t.bytes()}));
  }
  std::vector<std::vector<char>> weights;
  std::vector<const void*> given;
  for (int i = 0; i < kMostWeights; ++i) weights.push_back(random_content(s.weight_types[i], s.weights[i]));
  for (const std::vector<char>& w : weights) given.push_back(w.data());
  std::vector<char> packed_bytes(row.packed_bytes ? row.packed_bytes(row, problem) : 0);
  if (!packed_bytes.empty()) row.prepack(row, problem, given, packed_bytes.data());
  // Weights that no row packs stand behind the other inputs.
  const auto plain = static_cast<size_t>(std::count_if(s.in, s.in + kMostOperands, [](int64_t n) { return n > 0; }));
  std::vector<compute::Buffer> raw;
  if (!row.packed_bytes)
    for (const std::vector<char>& w : weights) raw.push_back(uploaded(w));
  const compute::Buffer packed = uploaded(packed_bytes),
                        workspace = room(provided ? provided->workspace_bytes() : call.workspace_bytes);
  const compute::Buffer bias = uploaded(random_content(s.bias_type, s.bias));
  const compute::Buffer residual = uploaded(random_content(s.residual_type, s.residual));
  const auto address = [&](const compute::OperandRole& role) -> void* {
    using Kind = compute::OperandRole::Kind;
    const auto i = static_cast<size_t>(role.index);
    switch (role.kind) {
      case Kind::in: return i < plain ? in[i].data() : i - plain < raw.size() ? raw[i - plain].data() : nullptr;
      case Kind::out: return s.out[i] ? out[i].data() : nullptr;
      case Kind::packed: return packed.data();
      case Kind::bias: return s.bias ? bias.data() : nullptr;
      case Kind::residual: return s.residual ? residual.data() : nullptr;
      case Kind::workspace: return workspace.data();
      case Kind::constant: return constants[i].data();
      default: return nullptr;
    }
  };
  return seconds_of([&] {
    if (provided) provided->run(address, stream_);
    else programs_.submit(call, address, stream_);
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
