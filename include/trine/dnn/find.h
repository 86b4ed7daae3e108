// find: which rows can compute a problem, fastest first, and why the others cannot.
#pragma once

#include <memory>
#include <vector>

#include "trine/base/cpu.h"
#include "trine/dnn/problem.h"
#include "trine/dnn/timings.h"

namespace trine::dnn {

struct KernelRow;  // one way to compute a kind of problem; rows stand in the backends' tables
class Tuner;       // times rows in the background: trine/dnn/tuner.h

// How results may differ from sums in f32 of the definition's own terms.
enum class Numerics : uint8_t {
  exact,          // the definition's products, f32 sums in some fixed order
  winograd,       // sums of transformed inputs: other products; the bound stands in docs/dnn.md
  strassen,       // sums of sums: error of the order of the largest elements, whatever the others
  winograd_bf16,  // winograd with transformed inputs and filters rounded to bf16: 2.5 times the error of exact bf16
};
std::string_view name(Numerics numerics);

// Weights of a network seldom find themselves in a cache: each byte less saves about so much, which the cost of a row,
// taken alone, does not see.
constexpr double kStreamed = 1 / 40e9;

struct Limits {
  CpuLevel level = cpu_level();
  CpuFeatures features = cpu_features();
  int threads = 1;
  size_t workspace_bytes = SIZE_MAX;
  bool winograd = true;  // allows Numerics::winograd, winograd_bf16; false is what `--strict-fp32` asks for
  bool fast = false;     // allows Numerics::strassen
  std::vector<std::string> drop = {};     // names of rows that must not be used
  double measure_seconds = 0;             // > 0: time the best candidates on random data, and wait for it so long
  std::shared_ptr<Timings> timings = {};  // times known already; also bounds and remembers what is measured
  std::shared_ptr<Tuner> tuner = {};      // Primitive chooses by its times, without waiting for any
  bool deterministic = false;             // the choice depends on no time measured and on no number of threads
  double seconds_per_byte = kStreamed;    // what saving a byte of packed weights may cost in time
  bool tf32 = false;                      // devices: f32 products may be rounded to tf32 first
  bool providers = true;                  // devices: vendors' libraries may compete
};

struct Candidate {
  const KernelRow* row;
  std::string_view name;  // "conv_f32_f32_winograd4x3_avx512"
  Numerics numerics;
  double seconds;  // the cost model's, or measured
  bool measured;   // now, or earlier and remembered in Limits::timings
  size_t packed_bytes, workspace_bytes;
};

struct Refusal {
  const KernelRow* row;
  std::string_view name;
  std::string reason;
};

struct Choice {
  Problem problem;
  std::vector<Candidate> candidates;  // fastest first
  std::vector<Refusal> refusals;

  const KernelRow* best() const { return candidates.empty() ? nullptr : candidates.front().row; }
  std::string text() const;  // a line per candidate and per reason
};

// With TRINE_DEBUG=3 the choice is printed to stderr.
Choice find(const Problem& problem, const Limits& limits = {});

// The lower quartile of the times of `row` on random data, of at most 30 runs within `budget_seconds`.
double measure(const KernelRow& row, const Problem& problem, int threads, double budget_seconds);

}  // namespace trine::dnn
