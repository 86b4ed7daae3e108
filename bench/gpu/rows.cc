// Times device rows: each candidate of typical problems, by events around a graph of many launches.
//
//   bench_gpu_rows [--device cuda:0] [--best] [NAME...]
//
// NAME: parts of names of problems. --best: only the row that the cost model puts first. One line a row: median time of
// a call, the model's, and bytes and operations a second.
#include <cmath>
#include <cstdio>

#include "device_bench.h"

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

void time_problem(bench::DeviceBench& bench, const Named& named, bool best) {
  for (const DeviceCandidate& c : find_on_device(named.problem, bench.traits(), {.providers = false}).candidates) {
    const double seconds = bench.seconds_of(*c.row, named.problem);
    std::printf("%-40s %-32s %10.2f us  model %8.2f  %8.1f GB/s %8.2f TFLOP/s\n", named.name.c_str(),
                std::string(c.row->name).c_str(), seconds * 1e6, c.seconds * 1e6, bytes(named.problem) / seconds * 1e-9,
                flops(named.problem) / seconds * 1e-12);
    std::fflush(stdout);
    if (best) break;
  }
}

void run(const bench::Arguments& asked) {
  bench::DeviceBench bench(asked.device);
  for (const Named& named : problems())
    if (asked.ask_for(named.name)) time_problem(bench, named, asked.flag);
}

}  // namespace
}  // namespace trine::dnn

int main(int argc, char** argv) {
  return trine::bench::told("bench_gpu_rows", [&] { trine::dnn::run({argc, argv, "--best"}); });
}
