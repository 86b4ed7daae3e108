// Speed of the dnn rows on the problems of well-known networks: GFLOP/s, share of the measured peak, and the chosen
// row.
//
//   bench_dnn [--threads N] [--all] [FILTER]     --all: every row that fits, not only the chosen one
//
// The peak is that of fused multiply-adds in registers, measured on one core at the start. Weights are warm.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "trine/base/thread_pool.h"
#include "dnn/kernel_row.h"

namespace trine::dnn {
namespace {

struct Item {
  std::string name;
  Problem problem;
  int count = 1;  // in the network
};

Item conv(std::string_view net, int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride, int count,
          int64_t groups = 1, Epilogue epilogue = {.bias = true, .activation = Activation::relu}) {
  ConvProblem p;
  p.in_channels = in, p.out_channels = out, p.groups = groups;
  p.in = {1, size, size}, p.kernel = {1, kernel, kernel}, p.stride = {1, stride, stride};
  p.pad_begin = {0, kernel / 2, kernel / 2};
  p.out = {1, (size - 1) / stride + 1, (size - 1) / stride + 1};
  p.epilogue = epilogue;
  std::string kind = groups == in && groups > 1 ? "dw" : groups > 1 ? "group" : "conv";
  return {fmt::format("{} {}{}x{}s{} {} {}-{}", net, kind, kernel, kernel, stride, size, in, out), p, count};
}

Item matmul(std::string_view net, int64_t m, int64_t k, int64_t n, int count,
            Activation activation = Activation::none) {
  MatmulProblem p{.m = m, .n = n, .k = k, .b_constant = true, .epilogue = {.bias = true, .activation = activation}};
  return {fmt::format("{} matmul {}x{}x{}", net, m, k, n), p, count};
}

Item attention(std::string_view net, int64_t length, int64_t heads, int64_t dim, int count) {
  AttentionProblem p;
  p.heads = p.kv_heads = heads, p.q_len = p.kv_len = length, p.head_dim = p.v_head_dim = dim, p.scale = 0.125;
  p.q_stride = p.k_stride = p.v_stride = {0, dim, 3 * heads * dim};
  p.out_stride = {0, dim, heads * dim};
  return {fmt::format("{} attention {} {}x{}", net, length, heads, dim), p, count};
}

std::vector<Item> items() {
  std::vector<Item> list;
  auto add = [&](Item item) { list.push_back(std::move(item)); };
  Epilogue residual{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  add(conv("resnet50", 224, 3, 64, 7, 2, 1));
  PoolProblem pool{.n = 1,
                   .channels = 64,
                   .in = {1, 112, 112},
                   .out = {1, 56, 56},
                   .kernel = {1, 3, 3},
                   .stride = {1, 2, 2},
                   .pad_begin = {0, 1, 1},
                   .pad_end = {0, 1, 1}};
  add({"resnet50 maxpool 112 64", pool});
  add(conv("resnet50", 56, 64, 64, 1, 1, 1));
  add(conv("resnet50", 56, 64, 64, 3, 1, 3));
  add(conv("resnet50", 56, 64, 256, 1, 1, 4, 1, residual));
  add(conv("resnet50", 56, 256, 64, 1, 1, 2));
  add(conv("resnet50", 56, 256, 128, 1, 1, 1));
  add(conv("resnet50", 56, 128, 128, 3, 2, 1));
  add(conv("resnet50", 28, 128, 512, 1, 1, 4, 1, residual));
  add(conv("resnet50", 56, 256, 512, 1, 2, 1));
  add(conv("resnet50", 28, 512, 128, 1, 1, 3));
  add(conv("resnet50", 28, 128, 128, 3, 1, 3));
  add(conv("resnet50", 28, 512, 256, 1, 1, 1));
  add(conv("resnet50", 28, 256, 256, 3, 2, 1));
  add(conv("resnet50", 14, 256, 1024, 1, 1, 6, 1, residual));
  add(conv("resnet50", 28, 512, 1024, 1, 2, 1));
  add(conv("resnet50", 14, 1024, 256, 1, 1, 5));
  add(conv("resnet50", 14, 256, 256, 3, 1, 5));
  add(conv("resnet50", 14, 1024, 512, 1, 1, 1));
  add(conv("resnet50", 14, 512, 512, 3, 2, 1));
  add(conv("resnet50", 7, 512, 2048, 1, 1, 3, 1, residual));
  add(conv("resnet50", 14, 1024, 2048, 1, 2, 1));
  add(conv("resnet50", 7, 2048, 512, 1, 1, 2));
  add(conv("resnet50", 7, 512, 512, 3, 1, 2));
  add(matmul("resnet50", 1, 2048, 1000, 1));
  Epilogue relu6{.bias = true, .activation = Activation::clip, .alpha = 0, .beta = 6};
  Epilogue plain{.bias = true};
  Epilogue silu{.bias = true, .activation = Activation::silu};
  add(conv("mobilenetv2", 224, 3, 32, 3, 2, 1, 1, relu6));
  add(conv("mobilenetv2", 112, 32, 32, 3, 1, 1, 32, relu6));
  add(conv("mobilenetv2", 112, 32, 16, 1, 1, 1, 1, plain));
  add(conv("mobilenetv2", 112, 16, 96, 1, 1, 1, 1, relu6));
  add(conv("mobilenetv2", 112, 96, 96, 3, 2, 1, 96, relu6));
  add(conv("mobilenetv2", 56, 96, 24, 1, 1, 1, 1, plain));
  add(conv("mobilenetv2", 56, 24, 144, 1, 1, 2, 1, relu6));
  add(conv("mobilenetv2", 56, 144, 144, 3, 1, 1, 144, relu6));
  add(conv("mobilenetv2", 28, 192, 192, 3, 1, 2, 192, relu6));
  add(conv("mobilenetv2", 14, 64, 384, 1, 1, 4, 1, relu6));
  add(conv("mobilenetv2", 14, 384, 384, 3, 1, 4, 384, relu6));
  add(conv("mobilenetv2", 14, 384, 64, 1, 1, 4, 1, plain));
  add(conv("mobilenetv2", 7, 960, 960, 3, 1, 3, 960, relu6));
  add(conv("mobilenetv2", 7, 320, 1280, 1, 1, 1, 1, relu6));
  add(conv("efficientnet", 56, 24, 144, 1, 1, 2, 1, silu));
  add(conv("efficientnet", 56, 144, 144, 5, 2, 1, 144, silu));
  add(conv("efficientnet", 28, 240, 240, 5, 1, 1, 240, silu));
  add(conv("efficientnet", 14, 672, 672, 5, 1, 2, 672, silu));
  add(conv("yolov5s", 640, 3, 32, 6, 2, 1, 1, silu));
  add(conv("yolov5s", 320, 32, 64, 3, 2, 1, 1, silu));
  add(conv("yolov5s", 80, 64, 64, 3, 1, 3, 1, silu));
  add(conv("resnext", 28, 256, 256, 3, 1, 1, 32));
  add(matmul("bert", 128, 768, 2304, 12));
  add(attention("bert", 128, 12, 64, 12));
  add(matmul("bert", 128, 768, 768, 12));
  add(matmul("bert", 128, 768, 3072, 12, Activation::gelu));
  add(matmul("bert", 128, 3072, 768, 12));
  add(attention("vit", 197, 12, 64, 12));
  add(matmul("vit", 197, 768, 3072, 12, Activation::gelu));
  add(attention("long", 2048, 8, 64, 1));
  add(matmul("llm", 1, 4096, 4096, 1));
  for (int64_t hidden : {64, 128, 256, 512})
    add({fmt::format("lstm {}", hidden), RnnProblem{.steps = 50, .input = hidden, .hidden = hidden}});
  add({"lstm bidirectional 256",
       RnnProblem{.direction = RnnDirection::bidirectional, .steps = 50, .input = 256, .hidden = 256}});
  add({"gru 128",
       RnnProblem{.kind = RnnKind::gru, .steps = 50, .input = 128, .hidden = 128, .linear_before_reset = true}});
  ResizeProblem up{
      .mode = ResizeMode::linear, .channels = 64, .in = {1, 40, 40}, .out = {1, 80, 80}, .scale = {1, 2, 2}};
  add({"resize linear 40-80 64", up});
  add({"nchw to nhwc 3x224x224", CopyProblem::transpose({1, 3, 224, 224}, {0, 2, 3, 1}, 4)});
  add({"nchw to nhwc 64x112x112", CopyProblem::transpose({1, 64, 112, 112}, {0, 2, 3, 1}, 4)});
  add({"nhwc to nchw 64x112x112", CopyProblem::transpose({1, 112, 112, 64}, {0, 3, 1, 2}, 4)});
  return list;
}

// GFLOP/s of one core: the best of the measured products, whose operands stay in L1.
double measure_peak() {
  Problem p = MatmulProblem{.m = 48, .n = 64, .k = 512, .b_constant = true};
  double best = 1;
  for (int i = 0; i < 5; ++i) best = std::min(best, measure(*find(p).best(), p, 1, 0.02));
  return flops(p) / best * 1e-9;
}

void report(const Item& item, const KernelRow& row, int threads, double peak) {
  double seconds = measure(row, item.problem, threads, 0.15);
  double rate = flops(item.problem) / seconds * 1e-9;
  fmt::print("{:34} {:9.1f} us {:7.1f} GFLOP/s {:4.0f} % {:6.1f} GB/s  {}\n", item.name, seconds * 1e6, rate,
             rate / peak / threads * 100, bytes(item.problem) / seconds * 1e-9, row.name);
  std::fflush(stdout);
}

}  // namespace
}  // namespace trine::dnn

int main(int argc, char** argv) {
  using namespace trine::dnn;
  int threads = 1;
  bool all = false;
  std::string filter;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--threads" && i + 1 < argc) {
      threads = std::max(1, std::atoi(argv[++i]));
    } else if (arg == "--all") {
      all = true;
    } else {
      filter = arg;
    }
  }
  double peak = measure_peak();
  fmt::print("{}: {:.1f} GFLOP/s per core in cache, threads {}\n", trine::cpu_info().fingerprint(), peak, threads);
  for (const Item& item : items()) {
    if (item.name.find(filter) == std::string::npos) continue;
    Choice choice = find(item.problem, {.threads = threads});
    for (const Candidate& candidate : choice.candidates) {
      report(item, *candidate.row, threads, peak);
      if (!all) break;
    }
  }
}
