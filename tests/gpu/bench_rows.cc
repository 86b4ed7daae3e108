// Times device rows: each candidate of typical problems, by events around a graph of many launches.
//
//   bench_gpu_rows [--device cuda:0] [--best] [NAME...]
//
// NAME: parts of names of problems. --best: only the row that the cost model puts first. One line a row: median time of
// a call, the model's, and bytes and operations a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/float_formats.h"
#include "dnn/device_row.h"
#include "dnn/operands.h"
#include "trine/base/error.h"
#include "trine/compute/graph.h"

namespace trine::dnn {
namespace {

struct Named {
  std::string name;
  Problem problem;
};

AttentionProblem attention(int64_t batch, int64_t heads, int64_t q_len, int64_t kv_len, int64_t dim, int64_t kv_heads) {
  AttentionProblem p{.batch = batch, .heads = heads, .kv_heads = kv_heads};
  p.q_len = q_len, p.kv_len = kv_len, p.head_dim = p.v_head_dim = dim;
  p.scale = 1 / std::sqrt(static_cast<float>(dim));
  p.q_stride = p.out_stride = {q_len * heads * dim, dim, heads * dim};  // [B, S, H, D]
  p.k_stride = p.v_stride = {kv_len * kv_heads * dim, dim, kv_heads * dim};
  p.type = DType::f16;
  return p;
}

void add_attention(std::vector<Named>& to) {
  for (int64_t batch : {1, 32}) {
    const std::string b = " batch " + std::to_string(batch);
    to.push_back({"attention bert 12x128x64" + b, attention(batch, 12, 128, 128, 64, 12)});
    AttentionProblem masked = attention(batch, 12, 128, 128, 64, 12);
    masked.mask = MaskKind::additive, masked.mask_stride = {128, 0, 0, 1};
    to.push_back({"attention bert masked 12x128x64" + b, masked});
    to.push_back({"attention vit 12x197x64" + b, attention(batch, 12, 197, 197, 64, 12)});
    to.push_back({"attention decode 32 of 8 x4096x128" + b, attention(batch, 32, 1, 4096, 128, 8)});
  }
  for (bool causal : {true, false}) {
    AttentionProblem p = attention(1, 16, 4096, 4096, 128, 16);
    p.causal = causal;
    to.push_back({std::string("attention long 16x4096x128") + (causal ? " causal" : ""), p});
  }
  AttentionProblem p = attention(4, 16, 2048, 2048, 64, 16);
  to.push_back({"attention long 16x2048x64 batch 4", p});
}

PoolProblem pool(PoolKind kind, int64_t n, int64_t channels, int64_t in, int64_t kernel, int64_t stride, int64_t pad) {
  PoolProblem p{.kind = kind, .n = n, .channels = channels, .in = {1, in, in}, .kernel = {1, kernel, kernel}};
  p.stride = {1, stride, stride}, p.pad_begin = p.pad_end = {0, pad, pad};
  const int64_t out = (in + 2 * pad - kernel) / stride + 1;
  p.out = {1, out, out}, p.type = DType::f16;
  return p;
}

std::vector<Named> problems() {
  std::vector<Named> all;
  add_attention(all);
  for (int64_t n : {1, 32}) {
    const std::string b = " batch " + std::to_string(n);
    all.push_back({"pool max 3x3/2 64x112" + b, pool(PoolKind::max, n, 64, 112, 3, 2, 1)});
    all.push_back({"pool average 3x3 192x35" + b, pool(PoolKind::average, n, 192, 35, 3, 1, 1)});
    all.push_back({"pool global 2048x7" + b, pool(PoolKind::average, n, 2048, 7, 7, 1, 0)});
    all.push_back({"copy nchw to nhwc 64x56x56" + b, CopyProblem::transpose({n, 64, 56 * 56}, {0, 2, 1}, 2)});
    all.push_back({"copy heads 197x12x64" + b, CopyProblem::transpose({n, 197, 12, 64}, {0, 2, 1, 3}, 2)});
    ResizeProblem r{.mode = ResizeMode::linear, .n = n, .channels = 256, .in = {1, 28, 28}, .out = {1, 56, 56}};
    r.scale = {1, 2, 2}, r.type = DType::f16;
    all.push_back({"resize linear 256x28 to 56" + b, r});
  }
  for (int64_t size : {1024, 4096})
    all.push_back({"copy transpose " + std::to_string(size), CopyProblem::transpose({size, size}, {1, 0}, 2)});
  all.push_back({"copy contiguous 64 MB", CopyProblem{{32 << 20}, {1}, {1}, 2}});
  all.push_back({"gather 128 of 30522x768", GatherProblem{1, 30522, 1536, 128, DType::i64}});
  for (RnnKind kind : {RnnKind::lstm, RnnKind::gru})
    all.push_back({kind == RnnKind::lstm ? "rnn lstm 128x1x1024" : "rnn gru 128x1x1024",
                   RnnProblem{.kind = kind, .steps = 128, .input = 1024, .hidden = 1024, .type = DType::f16}});
  return all;
}

// Random numbers from -1 to 1, indices that are there.
std::vector<char> content(DType type, int64_t n, std::mt19937& random) {
  std::vector<char> bytes(static_cast<size_t>(n) * byte_size(type));
  for (int64_t i = 0; i < n; ++i) {
    const float x = static_cast<float>(random()) * 0x1p-31f - 1;
    const uint16_t half = byte_size(type) == 2 ? small_float_bits(type, x) : 0;
    const int64_t index = static_cast<int64_t>(random() % 100);
    const size_t size = byte_size(type);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * size,
                type == DType::f32 ? static_cast<const void*>(&x)
                : size == 2        ? static_cast<const void*>(&half)
                                   : &index,
                size);
  }
  return bytes;
}

class Bench {
 public:
  explicit Bench(const std::string& device)
      : device_(compute::Device::open(device)),
        programs_(device_, device_headers()),
        stream_(device_.create_stream()) {}

  void run(const Named& named, bool best) {
    const DeviceTraits traits = traits_of(device_);
    const DeviceChoice choice = find_on_device(named.problem, traits, {.providers = false});
    for (const DeviceCandidate& c : choice.candidates) {
      const double seconds = measure(*c.row, named.problem, traits);
      std::printf("%-40s %-32s %10.2f us  model %8.2f  %8.1f GB/s %8.2f TFLOP/s\n", named.name.c_str(),
                  std::string(c.row->name).c_str(), seconds * 1e6, c.seconds * 1e6,
                  bytes(named.problem) / seconds * 1e-9, flops(named.problem) / seconds * 1e-12);
      std::fflush(stdout);
      if (best) break;
    }
  }

 private:
  compute::Buffer uploaded(const std::vector<char>& from, size_t least = 16) {
    compute::Buffer buffer = device_.allocate(std::max(from.size(), least));
    if (!from.empty()) stream_.upload(buffer, 0, from.data(), from.size());
    stream_.synchronize();
    return buffer;
  }

  double measure(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
    const OperandSizes s = operand_sizes(problem);
    std::mt19937 random(7);
    std::vector<compute::Buffer> in, out, constants;
    std::vector<std::vector<char>> weights;
    for (int i = 0; i < kMostOperands; ++i) {
      in.push_back(uploaded(content(s.integers[i] ? DType::i32 : s.in_types[i], s.in[i], random)));
      out.push_back(uploaded({}, static_cast<size_t>(s.out[i]) * byte_size(s.out_types[i]) + 16));
    }
    for (int i = 0; i < kMostWeights; ++i) weights.push_back(content(s.weight_types[i], s.weights[i], random));
    const compute::DeviceCall call = row.call(row, problem, traits);
    for (const Tensor& t : call.constants) {
      const auto* p = static_cast<const char*>(t.data());
      constants.push_back(uploaded({p, p + t.bytes()}));
    }
    std::vector<char> packed_bytes(row.packed_bytes ? row.packed_bytes(row, problem) : 0);
    const void* given[kMostWeights];
    for (size_t i = 0; i < kMostWeights; ++i) given[i] = weights[i].data();
    if (!packed_bytes.empty()) row.prepack(row, problem, std::span<const void* const>(given), packed_bytes.data());
    const compute::Buffer packed = uploaded(packed_bytes), workspace = uploaded({}, call.workspace_bytes + 16);
    const auto address = [&](const compute::OperandRole& role) -> void* {
      using Kind = compute::OperandRole::Kind;
      const auto i = static_cast<size_t>(role.index);
      if (role.kind == Kind::in) return s.in[i] ? in[i].data() : nullptr;
      if (role.kind == Kind::out) return s.out[i] ? out[i].data() : nullptr;
      if (role.kind == Kind::packed) return packed.data();
      if (role.kind == Kind::workspace) return workspace.data();
      return role.kind == Kind::constant ? constants[i].data() : nullptr;
    };
    return seconds_of(call, address);
  }

  double seconds_of(const compute::DeviceCall& call, const compute::OperandAddresses& address) {
    programs_.submit(call, address, stream_);
    stream_.synchronize();
    const int calls = traits_of(device_).is_cpu ? 1 : 20, rounds = traits_of(device_).is_cpu ? 3 : 25;
    stream_.begin_capture();
    for (int i = 0; i < calls; ++i) programs_.submit(call, address, stream_);
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

  compute::Device device_;
  compute::DevicePrograms programs_;
  compute::Stream stream_;
};

int run(int argc, char** argv) {
  std::string device = "cuda:0";
  bool best = false;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) device = argv[++i];
    else if (word == "--best") best = true;
    else names.push_back(word);
  }
  Bench bench(device);
  for (const Named& named : problems()) {
    const auto asked = [&](const std::string& part) { return named.name.find(part) != std::string::npos; };
    if (names.empty() || std::any_of(names.begin(), names.end(), asked)) bench.run(named, best);
  }
  return 0;
}

}  // namespace
}  // namespace trine::dnn

int main(int argc, char** argv) {
  try {
    return trine::dnn::run(argc, argv);
  } catch (const trine::Error& e) {
    std::fprintf(stderr, "bench_gpu_rows: %s\n", e.what());
    return 1;
  }
}
