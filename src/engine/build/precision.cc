#include "engine/build/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "engine/build/verify.h"
#include "graph/infer.h"
#include "passes/passes.h"
#include "passes/use_halves.h"
#include "plan/executor.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr double kScoreSeconds = 20;  // for trying layers alone
constexpr size_t kFewestTries = 8, kMostTries = 256;
constexpr int kSamples = 2;  // sets of random inputs

using Keep = std::set<std::string>;
using Outputs = std::vector<std::vector<double>>;

template <class F>
void for_each_body(Graph& graph, const F& f) {
  for (Node& node : graph.nodes)
    if (node.op && !node.is("fused"))
      for (auto& body : node.bodies) f(*body);
}

void use_halves_everywhere(Graph& graph, const HalvesOptions& options, std::vector<KeptNode>* kept) {
  for_each_body(graph, [&](Graph& body) { use_halves_everywhere(body, options, kept); });
  use_halves(graph, options, kept);
}

void widen_everywhere(Graph& graph) {
  for_each_body(graph, widen_everywhere);
  widen_halves(graph);
}

std::vector<std::string> readers_everywhere(Graph& graph) {
  std::vector<std::string> names = readers_of_halves(graph);
  for_each_body(graph, [&](Graph& body) {
    for (std::string& name : readers_everywhere(body)) names.push_back(std::move(name));
  });
  return names;
}

Outputs numbers_of(const std::vector<Datum>& data) {
  Outputs out;
  for (const Datum& d : data)
    out.push_back(d.is_tensor() && is_float(d.tensor().dtype()) ? d.tensor().f64_values() : std::vector<double>());
  return out;
}

// The largest difference, relative to the largest finite value of the output; infinite where one is a number and the
// other is not.
double error_of(const Outputs& got, const Outputs& want) {
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    double largest = 0, off = 0;
    for (size_t k = 0; k < want[i].size(); ++k) {
      const double x = got[i].size() == want[i].size() ? got[i][k] : NAN, y = want[i][k];
      if (std::isfinite(y)) largest = std::max(largest, std::fabs(y));
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      off = std::isfinite(x) && std::isfinite(y) ? std::max(off, std::fabs(x - y)) : HUGE_VAL;
    }
    if (off > 0) worst = std::max(worst, off / std::max(largest, 1e-30));
  }
  return worst;
}

class Search {
 public:
  Search(const Graph& graph, const std::vector<Type>& types, const dnn::Limits& limits)
      : graph_(graph), types_(types), limits_(limits) {
    limits_.winograd = limits_.fast = false;  // f32 as exact as it gets
    limits_.measure_seconds = 0;
    limits_.timings = nullptr;
    for (int i = 0; i < kSamples; ++i) inputs_.push_back(random_inputs(types, static_cast<uint64_t>(i)));
    want_ = run(graph.deep_copy());
  }

  double measure(DType half, const Keep& keep) {
    Graph copy = graph_.deep_copy();
    use_halves_everywhere(copy, {.half = half, .keep = keep}, nullptr);
    infer_shapes(copy);
    const std::vector<Outputs> got = run(std::move(copy));
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, error_of(got[i], want_[i]));
    return worst;
  }

 private:
  // On this CPU, where products of halves are computed in f32 and rounded.
  std::vector<Outputs> run(Graph graph) {
    widen_everywhere(graph);
    infer_shapes(graph);
    const auto plan = make_plan(std::make_shared<const Graph>(std::move(graph)), limits_);
    choose_rows(*plan, types_);
    Executor executor(plan, &pool_);
    std::vector<Outputs> outputs;
    for (const auto& inputs : inputs_) outputs.push_back(numbers_of(executor.run(inputs)));
    return outputs;
  }

  const Graph& graph_;
  const std::vector<Type>& types_;
  dnn::Limits limits_;
  ThreadPool pool_{default_thread_count()};
  std::vector<std::vector<Datum>> inputs_;
  std::vector<Outputs> want_;
};

// Neighbouring layers that are tried together.
struct Block {
  std::vector<std::string> nodes;
  double error = 0;
};

std::vector<Block> blocks_of(const std::vector<std::string>& readers, double seconds_each) {
  const auto affordable = static_cast<size_t>(kScoreSeconds / std::max(seconds_each, 1e-6));
  const size_t tries = std::clamp(affordable, kFewestTries, kMostTries);
  const size_t each = (readers.size() + tries - 1) / tries;
  std::vector<Block> blocks;
  for (size_t i = 0; i < readers.size(); ++i) {
    if (i % each == 0) blocks.emplace_back();
    blocks.back().nodes.push_back(readers[i]);
  }
  return blocks;
}

Keep all_but(const std::vector<std::string>& readers, const Block& block) {
  Keep keep(readers.begin(), readers.end());
  for (const std::string& name : block.nodes) keep.erase(name);
  return keep;
}

Keep first_of(const std::vector<Block>& blocks, size_t count) {
  Keep keep;
  for (size_t i = 0; i < count; ++i) keep.insert(blocks[i].nodes.begin(), blocks[i].nodes.end());
  return keep;
}

// Of `blocks`, worst first, as few as it takes: doubled until it is enough, then halved between.
size_t fewest(Search& search, DType half, const std::vector<Block>& blocks, double tolerance, double& error) {
  size_t few = 0, many = 1;
  for (;; many = std::min(2 * many, blocks.size())) {
    error = search.measure(half, first_of(blocks, many));
    if (error <= tolerance || many == blocks.size()) break;
    few = many;
  }
  while (many - few > 1) {
    const size_t middle = (few + many) / 2;
    const double e = search.measure(half, first_of(blocks, middle));
    if (e <= tolerance) many = middle, error = e;
    else few = middle;
  }
  return many;
}

std::string reason_of(const Block& block, DType half, double tolerance) {
  return fmt::format("{}in {} {} error {:.2g} of the outputs' largest value, where all may make {:.2g}",
                     block.nodes.size() > 1 ? fmt::format("{} layers tried together: ", block.nodes.size()) : "",
                     half == DType::f16 ? "fp16" : "bf16", block.nodes.size() > 1 ? "they make" : "it alone makes",
                     block.error, tolerance);
}

void finish(Graph& graph, DType half, const Keep& keep, PrecisionReport& report) {
  std::vector<KeptNode> kept;
  use_halves_everywhere(graph, {.half = half, .keep = keep}, &kept);
  for (KeptNode& k : kept) report.kept.emplace(std::move(k.node), std::move(k.reason));
  report.half = half;
}

}  // namespace

PrecisionReport narrow_graph(Graph& graph, DType half) {
  PrecisionReport report;
  report.readers = readers_everywhere(graph).size();
  finish(graph, half, {}, report);
  return report;
}

PrecisionReport narrow_within(Graph& graph, const std::vector<Type>& types, const dnn::Limits& limits,
                              double tolerance) {
  using Clock = std::chrono::steady_clock;
  PrecisionReport report;
  const std::vector<std::string> readers = readers_everywhere(graph);
  report.readers = readers.size();
  if (!std::all_of(types.begin(), types.end(), can_be_random)) {
    report.problem = "its inputs cannot be made up";
    finish(graph, DType::f16, {}, report);
    return report;
  }
  try {
    Search search(graph, types, limits);
    const auto begin = Clock::now();
    report.error = search.measure(DType::f16, {});
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (*report.error <= tolerance || readers.empty()) {
      finish(graph, DType::f16, {}, report);
      return report;
    }
    // The range of fp16 may be the trouble, not its digits.
    if (const double coarse = search.measure(DType::bf16, {}); coarse <= tolerance) {
      report.error = coarse;
      finish(graph, DType::bf16, {}, report);
      return report;
    }
    std::vector<Block> blocks = blocks_of(readers, seconds);
    for (Block& block : blocks) block.error = search.measure(DType::f16, all_but(readers, block));
    std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.error > b.error; });
    double error = 0;
    const size_t count = fewest(search, DType::f16, blocks, tolerance, error);
    report.error = error;
    for (size_t i = 0; i < count; ++i)
      for (const std::string& name : blocks[i].nodes)
        report.kept.emplace(name, reason_of(blocks[i], DType::f16, tolerance));
    finish(graph, DType::f16, first_of(blocks, count), report);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::out_of_memory) throw;
    report = {.readers = readers.size(), .problem = e.what()};
    finish(graph, DType::f16, {}, report);
  }
  return report;
}

}  // namespace trine
