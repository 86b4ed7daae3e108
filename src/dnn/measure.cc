// Times a row on made-up data. Values are random but small, so that no activation saturates everything and no sum meets
// denormals.
#include <algorithm>
#include <ctime>
#include <memory>
#include <random>

#include "base/float_formats.h"
#include "dnn/kernel_row.h"
#include "dnn/operands.h"
#include "trine/base/tensor.h"
#include "trine/base/thread_pool.h"

namespace trine::dnn {
namespace {

// One thread is timed by what it spent on the CPU: busy neighbours do not lengthen that.
double now(int threads) {
  timespec time;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct MadeUp {
  std::vector<Tensor> kept;
  std::unique_ptr<Quantization> quantization = std::make_unique<Quantization>();
  Args args;

  void* bytes(size_t size) {
    kept.emplace_back(DType::u8, Dims{static_cast<int64_t>(size)});
    return kept.back().mutable_data();
  }
  // Reals between -1 and 1, integers of 8 bits.
  void* values(DType type, int64_t count) {
    if (count == 0) return nullptr;
    void* data = bytes(static_cast<size_t>(count) * byte_size(type));
    std::minstd_rand random(1);
    for (int64_t i = 0; i < count; ++i) {
      float real = static_cast<float>(random() % 2001) * 1e-3f - 1;
      if (type == DType::f32) static_cast<float*>(data)[i] = real;
      else if (byte_size(type) == 2) static_cast<uint16_t*>(data)[i] = small_float_bits(type, real);
      else if (type == DType::i32) static_cast<int32_t*>(data)[i] = static_cast<int32_t>(random() % 256);
      else if (byte_size(type) == 1) static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(random() >> 8);
    }
    return data;
  }
  const void* integers(int64_t count, int32_t value) {
    if (count == 0) return nullptr;
    auto* data = static_cast<int32_t*>(bytes(static_cast<size_t>(count) * sizeof(int32_t)));
    std::fill_n(data, count, value);
    return data;
  }
  float* floats(int64_t count) { return static_cast<float*>(values(DType::f32, count)); }
};

MadeUp make_up(const KernelRow& row, const Problem& problem, ThreadPool& pool) {
  MadeUp m;
  OperandSizes sizes = operand_sizes(problem);
  for (int i = 0; i < kMostOperands; ++i)
    m.args.in[i] =
        sizes.integers[i] ? m.integers(sizes.in[i], *sizes.integers[i]) : m.values(sizes.in_types[i], sizes.in[i]);
  if (!m.args.in[0]) m.args.in[0] = m.bytes(1);
  for (int i = 0; i < kMostOperands; ++i) m.args.out[i] = m.values(sizes.out_types[i], sizes.out[i]);
  if (op_kind(problem) == OpKind::gather && sizes.in[1])
    std::fill_n(static_cast<uint64_t*>(const_cast<void*>(m.args.in[1] = m.bytes(static_cast<size_t>(sizes.in[1]) * 8))),
                sizes.in[1], 0);
  m.args.bias = m.values(sizes.bias_type, sizes.bias);
  m.args.residual = m.values(sizes.residual_type, sizes.residual);
  m.quantization->scale = m.floats(sizes.scales);
  if (sizes.scales) m.args.quantization = m.quantization.get();
  if (size_t size = packed_bytes(row, problem)) {
    const void* weights[kMostWeights] = {};
    for (int i = 0; i < kMostWeights; ++i) weights[i] = m.values(sizes.weight_types[i], sizes.weights[i]);
    if (!weights[0]) weights[0] = m.bytes(1);
    void* packed = m.bytes(size);
    row.prepack(problem, std::span<const void* const>(weights), packed);
    m.args.packed = packed;
  }
  if (size_t size = workspace_bytes(row, problem, pool.threads())) m.args.workspace = m.bytes(size);
  m.args.pool = &pool;
  return m;
}

}  // namespace

double measure(const KernelRow& row, const Problem& problem, int threads, double budget_seconds) {
  constexpr size_t kEnough = 30;
  ThreadPool pool(threads);
  MadeUp m = make_up(row, problem, pool);
  row.run(problem, m.args);  // page faults and cold caches are not counted
  std::vector<double> times;
  for (double end = now(threads) + budget_seconds; times.empty() || (times.size() < kEnough && now(threads) < end);) {
    double begin = now(threads);
    row.run(problem, m.args);
    times.push_back(now(threads) - begin);
  }
  auto quartile = times.begin() + static_cast<long>(times.size() / 4);
  std::nth_element(times.begin(), quartile, times.end());
  return *quartile;
}

}  // namespace trine::dnn
