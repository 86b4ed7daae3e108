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
enum Library : int { kOurs, kPeers };

// How far two right results may part: absolute, and relative to the larger.
struct Tolerance {
  double absolute, relative;
};

// Real operands are below 1, so a sum of n products and all its partial sums are below n + 2; two summation orders part
// by rounding errors that add up as a random walk, sqrt(n) of them, each at most eps/2 of the sum so far. 16 for the
// transforms of Winograd kernels and the largest of millions of outputs. Sums of integers are exact, and below 2^9 once
// scaled. An output of few bits is rounded last: to either of two neighbours, where the results lie on both sides of
// their middle. Transforms that are rounded to bf16 add errors of their own, a random walk too.
Tolerance tolerance_of(const dnn::Problem& problem, dnn::Numerics numerics) {
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const dnn::ElementTypes types = dnn::types_of(problem);
  if (types.out == DType::i32) return {0, 0};
  if (types.out == DType::u8 || types.out == DType::i8) return {1, 0};
  const double n = terms(problem);
  double absolute = 16 * kEpsilon * (types.are_integers() ? 512 : std::sqrt(n) * std::sqrt(n + 2));
  if (numerics == dnn::Numerics::winograd_bf16) absolute += 0x1p-6 * std::sqrt(n);
  return {absolute, types.out == DType::bf16 ? 0x1p-7 : types.out == DType::f16 ? 0x1p-10 : 0};
}

// The largest difference that `allowed` does not explain; 0 when it explains all.
double unexplained_difference(const std::vector<float>& a, const std::vector<float>& b, const Tolerance& allowed) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i], d = std::abs(x - y);
    const bool explained = d <= allowed.absolute + allowed.relative * std::max(std::abs(x), std::abs(y));
    if (!explained && !(d <= largest)) largest = d;  // NaN counts
  }
  return largest;
}

}  // namespace

struct Bench::Contest {
  dnn::Problem problem;
  dnn::Choice choice;
  Operands operands;
  std::unique_ptr<OurRun> ours;
  std::vector<PeerRun> ways;  // of the peer; only the fastest once they are compared
  Measurement m;
};

Bench::Bench(const How& how, const Peer* peer) : how_(how), peer_(peer), peaks_(measure_peaks()), pool_(how.threads) {
  if (peer_) overhead_ = measure_rounds({{peer_->empty, kPeers}}, 0.2, how_.threads)[0].median();
}

std::vector<Measurement> Bench::measure(std::span<const Entry> variants, std::vector<std::string>& unsupported) {
  std::vector<std::unique_ptr<Contest>> contests;
  for (const Entry& entry : variants) {
    std::string why;
    if (auto contest = prepare(entry, why)) {
      contests.push_back(std::move(contest));
    } else {
      unsupported.push_back(fmt::format("unsupported: {} {}: {}\n", name(entry.driver), entry.text, why));
    }
  }
  if (contests.empty()) return {};
  measure_together(contests);
  const bool has_baseline = contests[0]->m.entry == &variants[0];
  const double baseline = has_baseline ? contests[0]->m.ours[0].median : 0;
  std::vector<Measurement> all;
  for (const auto& contest : contests) {
    if (contest->m.entry != &variants[0]) contest->m.baseline = baseline;
    measure_others(*contest);
    all.push_back(std::move(contest->m));
  }
  return all;
}

std::unique_ptr<Bench::Contest> Bench::prepare(const Entry& entry, std::string& why) {
  const Translated translated = to_problem(entry);
  why = translated.unsupported;
  if (!translated.problem) return nullptr;
  auto contest = std::make_unique<Contest>();
  Contest& c = *contest;
  c.problem = *translated.problem;
  c.choice = dnn::find(c.problem, {.threads = how_.threads, .measure_seconds = how_.find_seconds});
  if (c.choice.candidates.empty()) {
    why = c.choice.refusals.empty() ? "no kernel" : "no kernel: " + c.choice.refusals.front().reason;
    return nullptr;
  }
  c.operands = make_operands(c.problem, translated.quantization);
  const auto begin = std::chrono::steady_clock::now();
  c.ours = std::make_unique<OurRun>(*c.choice.best(), c.problem, c.operands, pool_);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  c.m.entry = &entry, c.m.flops = dnn::flops(c.problem), c.m.ops = benchdnn_ops(c.problem);
  c.m.peak_flops = peaks_.of(dnn::types_of(c.problem)) * how_.threads;
  c.m.ours.push_back({.implementation = std::string(c.ours->row().name), .create_ms = create.count()});
  if (peer_) prepare_peer(c);
  return contest;
}

// The peer's ways run once, to compare results, then in short rounds, of which the fastest goes on against ours.
void Bench::prepare_peer(Contest& c) {
  c.ways = peer_->prepare(c.problem, c.operands, c.m.remark);
  if (c.ways.empty()) {
    if (c.m.remark.empty()) c.m.remark = "the peer has no such kernel";
    return;
  }
  compare_results(c);
  if (c.ways.size() == 1) return;
  std::vector<Party> parties;
  for (const PeerRun& way : c.ways) parties.push_back({way.run, kPeers});
  const auto tried = measure_rounds(parties, how_.seconds / 4, how_.threads);
  size_t best = 0;
  for (size_t i = 1; i < tried.size(); ++i) best = tried[i].median() < tried[best].median() ? i : best;
  std::swap(c.ways[0], c.ways[best]);
  c.ways.resize(1);  // memory of the others goes
}

void Bench::compare_results(Contest& c) {
  c.ours->run();
  const std::vector<float> result = c.ours->output();
  const Tolerance allowed = tolerance_of(c.problem, c.ours->row().numerics);
  for (PeerRun& way : c.ways) {
    way.run();
    if (!way.output) continue;
    const double difference = unexplained_difference(result, way.output(), allowed);
    if (difference == 0) continue;
    c.m.remark += fmt::format("RESULTS DIFFER by {:.3g}: {}; ", difference, way.implementation);
    differ_ = true;
  }
}

// Turns: ours in each number type, the peer in each, the peer's empty run.
void Bench::measure_together(std::span<const std::unique_ptr<Contest>> contests) {
  std::vector<Party> parties;
  for (const auto& c : contests) parties.push_back({[&ours = *c->ours] { ours.run(); }, kOurs});
  for (const auto& c : contests) {
    if (!c->ways.empty()) parties.push_back({c->ways[0].run, kPeers});
  }
  const bool compared = parties.size() > contests.size();
  if (compared) parties.push_back({peer_->empty, kPeers});
  const std::vector<Samples> all = measure_rounds(parties, how_.seconds, how_.threads);
  const Samples& empty = all.back();
  const auto net = [](double time, double without) { return std::max(time - without, time * kLeastShare); };
  for (size_t i = 0, theirs = contests.size(); i < contests.size(); ++i) {
    Contest& c = *contests[i];
    c.m.ours[0].median = all[i].median(), c.m.ours[0].least = all[i].least();
    if (c.ways.empty()) continue;
    const Samples& peer = all[theirs++];
    c.m.peer.push_back({.implementation = c.ways[0].implementation,
                        .median = net(peer.median(), empty.median()),
                        .least = net(peer.least(), empty.least()),
                        .create_ms = c.ways[0].create_ms});
    c.m.exact = c.m.peer[0].median > empty.median() / 2;
  }
}

// --all: the kernels that were not chosen.
void Bench::measure_others(Contest& c) {
  for (size_t i = 1; how_.all && i < c.choice.candidates.size(); ++i) {
    OurRun other(*c.choice.candidates[i].row, c.problem, c.operands, pool_);
    const Samples s = measure_rounds({{[&] { other.run(); }, kOurs}}, how_.seconds, how_.threads)[0];
    c.m.ours.push_back({.implementation = std::string(other.row().name), .median = s.median(), .least = s.least()});
  }
}

}  // namespace trine::bench
