// Times rows of contractions: every candidate of the layers of ResNet-50, MobileNetV2 and BERT-base in f16, by events
// around a graph of 20 launches.
//
//   bench_gpu_contractions [--device cuda:0] [--all] [NAME...]
//
// NAME: parts of names of layers. For each layer: the row that the cost model chooses and the fastest, with times;
// --all: every candidate, too. At the end for each network and batch: the sums over all its layers.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>

#include "base/float_formats.h"
#include "dnn/device_row.h"
#include "dnn/operands.h"
#include "trine/base/error.h"
#include "trine/compute/graph.h"

namespace trine::dnn {
namespace {

constexpr ElementTypes kF16{DType::f16, DType::f16, DType::f16};
constexpr Epilogue kRelu{.bias = true, .activation = Activation::relu};
constexpr Epilogue kSum{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
constexpr Epilogue kClip{.bias = true, .activation = Activation::clip, .alpha = 0, .beta = 6};
constexpr Epilogue kBias{.bias = true};

struct Layer {
  std::string network, name;
  int count;  // in the network
  Problem problem;
};

class Layers {
 public:
  explicit Layers(int64_t batch) : batch_(batch) {
    resnet();
    mobilenet();
    bert();
  }
  std::vector<Layer> all;

 private:
  void conv(int count, int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride, const Epilogue& e,
            int64_t groups = 1) {
    ConvProblem p{.n = batch_, .in_channels = in, .out_channels = out, .groups = groups, .in = {1, size, size}};
    p.kernel = {1, kernel, kernel}, p.stride = {1, stride, stride};
    p.pad_begin = {0, kernel / 2, kernel / 2};
    const int64_t o = (size + 2 * (kernel / 2) - kernel) / stride + 1;
    p.out = {1, o, o}, p.epilogue = e, p.types = kF16;
    char name[96];
    std::snprintf(name, sizeof name, "%s %ldx%ld/%ld %ld>%ld at %ld%s", network_, kernel, kernel, stride, in, out, size,
                  groups > 1 ? " depthwise" : "");
    add(name, count, p);
  }
  void product(int count, int64_t m, int64_t k, int64_t n, const Epilogue& e) {
    char name[96];
    std::snprintf(name, sizeof name, "%s %ld %ld>%ld", network_, m, k, n);
    add(name, count, MatmulProblem{.m = m, .n = n, .k = k, .b_constant = true, .epilogue = e, .types = kF16});
  }
  void add(const std::string& name, int count, const Problem& p) {
    all.push_back({std::string(network_) + " batch " + std::to_string(batch_),
                   name + " batch " + std::to_string(batch_), count, p});
  }

  void resnet() {
    network_ = "resnet50";
    conv(1, 224, 3, 64, 7, 2, kRelu);
    const int blocks[] = {3, 4, 6, 3};
    int64_t in = 64, size = 56;
    for (int stage = 0; stage < 4; ++stage) {
      const int64_t width = 64 << stage, out = width * 4, stride = stage ? 2 : 1, small = size / stride;
      conv(1, size, in, width, 1, 1, kRelu);
      conv(1, size, width, width, 3, stride, kRelu);
      conv(1, size, in, out, 1, stride, kBias);
      conv(blocks[stage], small, width, out, 1, 1, kSum);
      conv(blocks[stage] - 1, small, out, width, 1, 1, kRelu);
      conv(blocks[stage] - 1, small, width, width, 3, 1, kRelu);
      in = out, size = small;
    }
    product(1, batch_, 2048, 1000, kBias);
  }

  void mobilenet() {
    network_ = "mobilenetv2";
    conv(1, 224, 3, 32, 3, 2, kClip);
    conv(1, 112, 32, 32, 3, 1, kClip, 32);
    conv(1, 112, 32, 16, 1, 1, kBias);
    struct Stage {
      int64_t channels;
      int count;
      int64_t stride;
    };
    int64_t in = 16, size = 112;
    for (const Stage& s :
         {Stage{24, 2, 2}, Stage{32, 3, 2}, Stage{64, 4, 2}, Stage{96, 3, 1}, Stage{160, 3, 2}, Stage{320, 1, 1}}) {
      block(1, size, in, s.channels, s.stride);
      in = s.channels, size /= s.stride;
      if (s.count > 1) block(s.count - 1, size, in, in, 1);
    }
    conv(1, 7, 320, 1280, 1, 1, kClip);
    product(1, batch_, 1280, 1000, kBias);
  }
  void block(int count, int64_t size, int64_t in, int64_t out, int64_t stride) {
    conv(count, size, in, 6 * in, 1, 1, kClip);
    conv(count, size, 6 * in, 6 * in, 3, stride, kClip, 6 * in);
    const Epilogue sum{.bias = true, .residual = Residual::before_activation};
    conv(count, size / stride, 6 * in, out, 1, 1, in == out && stride == 1 ? sum : kBias);
  }

  void bert() {
    network_ = "bert";
    const int64_t rows = batch_ * 128;
    const Epilogue sum{.bias = true, .residual = Residual::before_activation};
    product(12, rows, 768, 2304, kBias);
    product(12, rows, 768, 768, sum);
    product(12, rows, 768, 3072, {.bias = true, .activation = Activation::gelu});
    product(12, rows, 3072, 768, sum);
  }

  int64_t batch_;
  const char* network_ = "";
};

// Random numbers from -1 to 1 in a pattern of 64 thousand; nobody else's period is that.
std::vector<char> content(DType type, int64_t n) {
  constexpr size_t kPeriod = 65521;
  std::mt19937 random(7);
  std::vector<char> pattern;
  for (size_t i = 0; i < kPeriod; ++i) {
    const float x = static_cast<float>(random()) * 0x1p-31f - 1;
    const uint16_t half = byte_size(type) == 2 ? small_float_bits(type, x) : 0;
    const char* from = byte_size(type) == 2 ? reinterpret_cast<const char*>(&half) : reinterpret_cast<const char*>(&x);
    pattern.insert(pattern.end(), from, from + byte_size(type));
  }
  std::vector<char> bytes(static_cast<size_t>(n) * byte_size(type));
  for (size_t at = 0; at < bytes.size(); at += pattern.size())
    std::memcpy(bytes.data() + at, pattern.data(), std::min(pattern.size(), bytes.size() - at));
  return bytes;
}

class Bench {
 public:
  explicit Bench(const std::string& device)
      : device_(compute::Device::open(device)),
        programs_(device_, device_headers()),
        stream_(device_.create_stream()),
        traits_(traits_of(device_)) {}

  void run(const Layer& layer, bool all) {
    const DeviceChoice choice = find_on_device(layer.problem, traits_, {.providers = false});
    const DeviceCandidate *chosen = nullptr, *best = nullptr;
    double chosen_seconds = 0, best_seconds = 0;
    for (const DeviceCandidate& c : choice.candidates) {
      const double seconds = measure(*c.row, layer.problem);
      if (all) print("   ", layer, c, seconds);
      if (!chosen) chosen = &c, chosen_seconds = seconds;
      if (!best || seconds < best_seconds) best = &c, best_seconds = seconds;
    }
    print("by model", layer, *chosen, chosen_seconds);
    if (best != chosen) print("fastest", layer, *best, best_seconds);
    Sums& sums = sums_[layer.network];
    sums.chosen += layer.count * chosen_seconds, sums.best += layer.count * best_seconds;
  }

  void print_sums() const {
    for (const auto& [network, sums] : sums_)
      std::printf("%-24s all layers: by model %.1f us, fastest %.1f us\n", network.c_str(), sums.chosen * 1e6,
                  sums.best * 1e6);
  }

 private:
  struct Sums {
    double chosen = 0, best = 0;
  };

  static void print(const char* what, const Layer& layer, const DeviceCandidate& c, double seconds) {
    std::printf("%-46s x%-2d %-9s %-30s %9.2f us, model %8.2f, %7.1f TFLOP/s, %7.1f GB/s\n", layer.name.c_str(),
                layer.count, what, std::string(c.row->name).c_str(), seconds * 1e6, c.seconds * 1e6,
                flops(layer.problem) / seconds * 1e-12, bytes(layer.problem) / seconds * 1e-9);
    std::fflush(stdout);
  }

  compute::Buffer uploaded(const std::vector<char>& from) {
    compute::Buffer buffer = device_.allocate(from.size() + 16);
    if (!from.empty()) stream_.upload(buffer, 0, from.data(), from.size());
    stream_.synchronize();
    return buffer;
  }

  double measure(const DeviceRow& row, const Problem& problem) {
    const OperandSizes s = operand_sizes(problem);
    const compute::DeviceCall call = device_call(row, problem, traits_);
    const std::vector<char> weights = content(s.weight_types[0], s.weights[0]);
    std::vector<char> packed_bytes(row.packed_bytes ? row.packed_bytes(row, problem) : 0);
    const void* given[kMostWeights] = {weights.data()};
    if (!packed_bytes.empty()) row.prepack(row, problem, std::span<const void* const>(given), packed_bytes.data());
    std::vector<compute::Buffer> constants;
    for (const Tensor& t : call.constants) {
      const auto* p = static_cast<const char*>(t.data());
      constants.push_back(uploaded({p, p + t.bytes()}));
    }
    const compute::Buffer in = uploaded(content(s.in_types[0], s.in[0])), packed = uploaded(packed_bytes);
    const compute::Buffer bias = uploaded(content(s.bias_type, s.bias));
    const compute::Buffer residual = uploaded(content(s.residual_type, s.residual));
    const compute::Buffer out = device_.allocate(static_cast<size_t>(s.out[0]) * byte_size(s.out_types[0]) + 16);
    const compute::Buffer workspace = device_.allocate(call.workspace_bytes + 16);
    return seconds_of(call, [&](const compute::OperandRole& role) -> void* {
      using Kind = compute::OperandRole::Kind;
      switch (role.kind) {
        case Kind::in: return in.data();
        case Kind::out: return out.data();
        case Kind::packed: return packed.data();
        case Kind::bias: return bias.data();
        case Kind::residual: return residual.data();
        case Kind::workspace: return workspace.data();
        case Kind::constant: return constants[static_cast<size_t>(role.index)].data();
        default: return nullptr;
      }
    });
  }

  double seconds_of(const compute::DeviceCall& call, const compute::OperandAddresses& address) {
    programs_.submit(call, address, stream_);
    stream_.synchronize();
    const int calls = traits_.is_cpu ? 1 : 20, rounds = traits_.is_cpu ? 1 : 15;
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
  DeviceTraits traits_;
  std::map<std::string, Sums> sums_;
};

int run(int argc, char** argv) {
  std::string device = "cuda:0";
  bool all = false;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) device = argv[++i];
    else if (word == "--all") all = true;
    else names.push_back(word);
  }
  Bench bench(device);
  for (int64_t batch : {1, 32})
    for (const Layer& layer : Layers(batch).all) {
      const auto asked = [&](const std::string& part) { return layer.name.find(part) != std::string::npos; };
      if (names.empty() || std::any_of(names.begin(), names.end(), asked)) bench.run(layer, all);
    }
  bench.print_sums();
  return 0;
}

}  // namespace
}  // namespace trine::dnn

int main(int argc, char** argv) {
  try {
    return trine::dnn::run(argc, argv);
  } catch (const trine::Error& e) {
    std::fprintf(stderr, "bench_gpu_contractions: %s\n", e.what());
    return 1;
  }
}
