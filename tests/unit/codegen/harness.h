// Runs a graph as loop kernels on every CPU level and compares with the reference interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "codegen/loop_kernel.h"
#include "codegen/lower.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::test {

constexpr CpuLevel kLevels[] = {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512};

inline uint32_t seed() {
  static const uint32_t value = [] {
    const uint32_t s = std::random_device{}();
    std::printf("seed %u\n", s);
    return s;
  }();
  return value;
}

// Random values of any type; integers small enough for exact sums, no zeros.
inline Tensor random_tensor(DType type, Dims dims, std::mt19937& rng) {
  const auto n = static_cast<size_t>(element_count(dims));
  if (is_float(type)) {
    std::normal_distribution<double> normal;
    std::vector<double> v(n);
    for (double& x : v) x = normal(rng);
    return Tensor::from_f64(type, std::move(dims), v);
  }
  std::vector<int64_t> v(n);
  const int64_t low = type == DType::boolean ? 0 : integer_min(type) < 0 ? -9 : 1;
  std::uniform_int_distribution<int64_t> pick(low, type == DType::boolean ? 1 : 9);
  for (int64_t& x : v) {
    do x = pick(rng);
    while (x == 0 && type != DType::boolean);
  }
  return Tensor::from_i64(type, std::move(dims), v);
}

// Runs every kernel, in one piece or in `pieces`.
inline std::vector<Tensor> run_kernels(const codegen::Lowered& lowered, const Bindings& bindings,
                                       const std::vector<Tensor>& inputs, const std::vector<Tensor>& like,
                                       int pieces = 1, codegen::LoopEntry (*entry)(uint64_t hash) = nullptr) {
  std::vector<const void*> in;
  for (const Tensor& t : inputs) in.push_back(t.data());
  std::vector<Tensor> outputs;
  std::vector<void*> out;
  for (const Tensor& t : like) {
    outputs.emplace_back(t.dtype(), t.dims());
    std::memset(outputs.back().mutable_data(), 0x5a, outputs.back().bytes());
    out.push_back(outputs.back().mutable_data());
  }
  for (const auto& k : lowered.kernels) {
    const auto bound = codegen::bind(k, bindings, entry ? entry(k.hash) : nullptr);
    for (int p = 0; p < pieces; ++p) bound.run(in, out, bound.units() * p / pieces, bound.units() * (p + 1) / pieces);
  }
  return outputs;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

// |got - want| <= tolerance * (1 + |want|); NaN equals NaN.
inline void expect_close(const Tensor& got, const Tensor& want, double tolerance, const std::string& where) {
  ASSERT_EQ(got.dims(), want.dims()) << where;
  const auto g = got.f64_values(), w = want.f64_values();
  for (size_t i = 0; i < w.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (g[i] == w[i]) continue;
    ASSERT_LE(std::abs(g[i] - w[i]), tolerance * (1 + std::abs(w[i])))
        << where << " element " << i << ": got " << g[i] << ", want " << w[i];
  }
}

inline Bindings no_symbols() {
  return [](std::string_view) { return std::optional<int64_t>(); };
}

// The graph through kernels (every level, whole and in pieces) against the reference.
inline void expect_matches(const Graph& graph, const std::vector<Tensor>& inputs, double tolerance,
                           const Bindings& bindings = no_symbols()) {
  const codegen::Lowered lowered = codegen::lower_group(graph);
  ASSERT_TRUE(lowered) << lowered.refusal;
  std::vector<Tensor> want;
  for (Datum& d : evaluate(graph, {inputs.begin(), inputs.end()})) want.push_back(d.tensor());
  for (CpuLevel level : kLevels) {
    if (level > cpu_info().level) continue;
    limit_cpu_level(level);
    const auto got = run_kernels(lowered, bindings, inputs, want);
    const auto pieces = run_kernels(lowered, bindings, inputs, want, 3);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string where = "output " + std::to_string(i) + " on " + std::string(name(level)) + "\n" +
                                lowered.kernels[0].text() + graph.text();
      expect_close(got[i], want[i], tolerance, where);
      EXPECT_TRUE(same_bits(got[i], pieces[i])) << "in pieces: " << where;
    }
    limit_cpu_level(std::nullopt);
    if (::testing::Test::HasFailure()) return;
  }
}

inline Graph parse(const std::string& text) {
  Graph g = Graph::parse(text);
  infer_shapes(g);
  return g;
}

inline void expect_matches(const std::string& text, const std::vector<Tensor>& inputs, double tolerance,
                           const Bindings& bindings = no_symbols()) {
  expect_matches(parse(text), inputs, tolerance, bindings);
}

}  // namespace trine::test
