// The pipeline: passes as rows. Each is skipped (TRINE_SKIP=name,...), timed, verified and traced (TRINE_DEBUG=5) in
// the same way, and reaches into the bodies of if, loop and scan.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace trine {

struct Pass {
  std::string_view name;
  std::string_view doc;
  bool (*run)(Graph& graph);  // types are inferred before and after; returns whether the graph changed
  // On which machines, and for which numbers, it runs.
  enum class For : uint8_t { all, cpu, cpu_fp32, cpu_bf16, device, device_fp16, device_bf16 } where = For::all;
};

// In order. A name may come more than once: skipping it skips every turn.
std::span<const Pass> passes();
const Pass* find_pass(std::string_view name);

struct PassRecord {
  std::string_view name;
  bool skipped = false;
  bool changed = false;
  double milliseconds = 0;
  size_t nodes = 0;  // afterwards, of the outer graph
};

struct PassOptions {
  bool bf16 = false;              // on CPUs: products read it; on devices all that flows
  bool device = false;            // the graph is for a device with kernels for halves
  bool fp16 = false;              // on devices
  std::vector<std::string> skip;  // besides TRINE_SKIP
  std::function<void(const PassRecord&, const Graph&)> see = {};  // called after each pass
};

// Runs all passes. The graph's inputs and outputs keep their order, names and types. Throws Error naming the pass when
// one breaks the graph, and Error{invalid_argument} for an unknown name in a skip list.
std::vector<PassRecord> run_passes(Graph& graph, const PassOptions& options = {});
// Runs one, with the same checks.
PassRecord run_pass(const Pass& pass, Graph& graph);

// Gives `graph` bodies of its own, so that changing them leaves copies of the graph alone.
void unshare_bodies(Graph& graph);

}  // namespace trine
