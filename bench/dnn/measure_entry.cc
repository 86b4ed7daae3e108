#include "measure_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "ours.h"
#include "rounds.h"
#include "to_problem.h"
#include "trine/dnn/find.h"

namespace trine::bench {
namespace {

// Of a peer's time, what is left at least when its runtime's share is taken off: below it is noise.
constexpr double kLeastShare = 0.05;

// Terms of one output's sum.
double terms(const dnn::Problem& problem) {
  if (const auto* p = std::get_if<dnn::ConvProblem>(&problem)) {
    return static_cast<double>(p->in_per_group() * p->kernel[0] * p->kernel[1] * p->kernel[2]);
  }
  if (const auto* p = std::get_if<dnn::MatmulProblem>(&problem)) return static_cast<double>(p->k);
  if (const auto* p = std::get_if<dnn::PoolProblem>(&problem))
    return static_cast<double>(p->kernel[0] * p->kernel[1] * p->kernel[2]);
  if (const auto* p = std::get_if<dnn::AttentionProblem>(&problem)) return static_cast<double>(p->head_dim + p->kv_len);
  return 8;  // resizing, or nothing to compare with
}

// Operands are below 1, so a sum of n products and all its partial sums are below n + 2; two summation orders part by
// rounding errors that add up as a random walk, sqrt(n) of them, each at most eps/2 of the sum so far. 16 for the
// transforms of Winograd kernels and the largest of millions of outputs.
double allowed_difference(const dnn::Problem& problem) {
  const double n = terms(problem);
  return 16 * std::numeric_limits<float>::epsilon() * std::sqrt(n) * std::sqrt(n + 2);
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = d <= largest ? largest : d;  // NaN counts
  }
  return largest;
}

std::string label_of(const Entry& e) {
  std::string label = e.name.empty() ? e.text : e.name + " " + e.text;
  if (label.size() > 58) label = label.substr(0, 55) + "...";
  return label;
}

}  // namespace

Bench::Bench(const How& how, const Peer* peer) : how_(how), peer_(peer), pool_(how.threads) {
  if (peer_) overhead_ = measure_rounds({peer_->empty}, 0.2, how_.threads)[0].median();
}

std::optional<Measurement> Bench::measure(const Entry& entry, std::string& why) {
  const Translated translated = to_problem(entry);
  why = translated.unsupported;
  if (!translated.problem) return std::nullopt;
  const dnn::Problem& problem = *translated.problem;
  const dnn::Choice choice = dnn::find(problem, {.threads = how_.threads, .measure_seconds = how_.find_seconds});
  if (choice.candidates.empty()) {
    why = choice.refusals.empty() ? "no kernel" : "no kernel: " + choice.refusals.front().reason;
    return std::nullopt;
  }
  Measurement m;
  m.entry = &entry, m.label = label_of(entry), m.flops = dnn::flops(problem), m.ops = benchdnn_ops(problem);
  const Operands operands = make_operands(problem);
  const auto begin = std::chrono::steady_clock::now();
  OurRun ours(*choice.best(), problem, operands, pool_);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  m.ours.push_back({.implementation = std::string(ours.row().name), .create_ms = create.count()});
  std::vector<PeerRun> runs;
  const bool f32 = dnn::types_of(problem).are_f32();
  if (peer_ && f32) runs = peer_->prepare(problem, operands, m.remark);
  if (peer_ && !f32) m.remark = "the peer is measured in f32 only; ";
  if (runs.empty()) {
    measure_ours(ours, m.ours[0]);
  } else {
    measure_peer(problem, ours, runs, m);
  }
  for (size_t i = 1; how_.all && i < choice.candidates.size(); ++i) {
    OurRun other(*choice.candidates[i].row, problem, operands, pool_);
    m.ours.push_back({.implementation = std::string(other.row().name)});
    measure_ours(other, m.ours.back());
  }
  return m;
}

void Bench::measure_ours(OurRun& ours, Side& side) {
  const Samples s = measure_rounds({[&] { ours.run(); }}, how_.seconds, how_.threads)[0];
  side.median = s.median(), side.least = s.least();
}

// The peer's ways run first once, to compare results, then in short rounds, of which the best goes on against ours.
void Bench::measure_peer(const dnn::Problem& problem, OurRun& ours, std::vector<PeerRun>& runs, Measurement& m) {
  ours.run();
  const std::vector<float> result = ours.output();
  for (PeerRun& run : runs) {
    run.run();
    const double difference = run.output ? largest_difference(result, run.output()) : 0;
    if (difference <= allowed_difference(problem)) continue;
    m.remark += fmt::format("RESULTS DIFFER by {:.3g}: {}; ", difference, run.implementation);
    differ_ = true;
  }
  std::vector<std::function<void()>> ways;
  for (PeerRun& run : runs) ways.push_back(run.run);
  size_t best = 0;
  if (ways.size() > 1) {
    const auto tried = measure_rounds(ways, how_.seconds / 4, how_.threads);
    for (size_t i = 1; i < tried.size(); ++i) best = tried[i].median() < tried[best].median() ? i : best;
  }
  const auto all = measure_rounds({[&] { ours.run(); }, ways[best], peer_->empty}, how_.seconds, how_.threads);
  m.ours[0].median = all[0].median(), m.ours[0].least = all[0].least();
  const auto net = [&](double time, double empty) { return std::max(time - empty, time * kLeastShare); };
  m.peer.push_back({.implementation = runs[best].implementation,
                    .median = net(all[1].median(), all[2].median()),
                    .least = net(all[1].least(), all[2].least()),
                    .create_ms = runs[best].create_ms});
  m.exact = m.peer[0].median > all[2].median() / 2;
}

}  // namespace trine::bench
