// Times rows of contractions: the candidates of the layers of ResNet-50, MobileNetV2, BERT-base and ViT-B/16 in f16 and
// of square products, vendors' libraries among them, by events around a graph of 20 launches.
//
//   bench_gpu_contractions [--device cuda:0] [--all] [NAME...]
//
// NAME: parts of names of layers. For each layer: the row that the cost model chooses, the fastest and the fastest of
// our own, with times; --all: every candidate that by the model takes at most 8 times as long as the best, too. At the
// end for each network and batch: the sums over all its layers.
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "device_bench.h"

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
    transformer("bert", 128, {.bias = true, .activation = Activation::gelu});
    transformer("vit", 197, {.bias = true, .activation = Activation::gelu});
    if (batch_ == 1) squares();
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

  void transformer(const char* network, int64_t tokens, const Epilogue& wide) {
    network_ = network;
    const int64_t rows = batch_ * tokens;
    const Epilogue sum{.bias = true, .residual = Residual::before_activation};
    product(12, rows, 768, 2304, kBias);
    product(12, rows, 768, 768, sum);
    product(12, rows, 768, 3072, wide);
    product(12, rows, 3072, 768, sum);
  }

  void squares() {
    network_ = "square";
    for (const int64_t side : {1024, 2048, 4096, 8192}) product(1, side, side, side, {});
  }

  int64_t batch_;
  const char* network_ = "";
};

class Sums {
 public:
  using Three = std::array<double, 3>;  // by the model, fastest, fastest of our own
  void add(const std::string& network, const Three& seconds) {
    for (size_t i = 0; i < 3; ++i) sums_[network][i] += seconds[i];
  }
  void print() const {
    for (const auto& [network, sums] : sums_)
      std::printf("%-24s all layers: by model %.1f us, fastest %.1f us, own %.1f us\n", network.c_str(), sums[0] * 1e6,
                  sums[1] * 1e6, sums[2] * 1e6);
  }

 private:
  std::map<std::string, Three> sums_;
};

void print(const char* what, const Layer& layer, const DeviceCandidate& c, double seconds) {
  std::printf("%-46s x%-2d %-9s %-30s %9.2f us, model %8.2f, %7.1f TFLOP/s, %7.1f GB/s\n", layer.name.c_str(),
              layer.count, what, std::string(c.row->name).c_str(), seconds * 1e6, c.seconds * 1e6,
              flops(layer.problem) / seconds * 1e-12, bytes(layer.problem) / seconds * 1e-9);
  std::fflush(stdout);
}

void time_layer(bench::DeviceBench& bench, const Layer& layer, bool all, Sums& sums) {
  constexpr double kHopeless = 8;
  struct Timed {
    const DeviceCandidate* candidate = nullptr;
    double seconds = INFINITY;
  } chosen, best, own;
  const DeviceChoice choice = find_on_device(layer.problem, bench.traits());
  for (const DeviceCandidate& c : choice.candidates) {
    if (c.seconds > kHopeless * choice.candidates.front().seconds) break;
    const Timed now{&c, bench.seconds_of(*c.row, layer.problem)};
    if (std::isinf(now.seconds)) continue;  // a library that has no such way
    if (all) print("   ", layer, c, now.seconds);
    if (!chosen.candidate) chosen = now;
    if (now.seconds < best.seconds) best = now;
    if (!c.row->provide && now.seconds < own.seconds) own = now;
  }
  print("by model", layer, *chosen.candidate, chosen.seconds);
  if (best.candidate != chosen.candidate) print("fastest", layer, *best.candidate, best.seconds);
  if (own.candidate != best.candidate && own.candidate) print("own", layer, *own.candidate, own.seconds);
  sums.add(layer.network, {layer.count * chosen.seconds, layer.count * best.seconds, layer.count * own.seconds});
}

void run(const bench::Arguments& asked) {
  bench::DeviceBench bench(asked.device);
  Sums sums;
  for (int64_t batch : {1, 32})
    for (const Layer& layer : Layers(batch).all)
      if (asked.ask_for(layer.name)) time_layer(bench, layer, asked.flag, sums);
  sums.print();
}

}  // namespace
}  // namespace trine::dnn

int main(int argc, char** argv) {
  return trine::bench::told("bench_gpu_contractions", [&] { trine::dnn::run({argc, argv, "--all"}); });
}
