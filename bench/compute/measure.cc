#include "measure.h"

#include <fmt/format.h>

#include "rounds.h"

namespace trine::bench_compute {
namespace {

Contents results(const Party& party) {
  party.reset();
  party.run();
  return party.outputs();
}

void compare_all(const Case& problem, const std::vector<Party>& parties, Measurement& m) {
  const Contents ours = results(parties[0]);
  for (size_t i = 1; i < parties.size(); ++i)
    if (const std::string what = compare(problem, ours, results(parties[i])); !what.empty())
      m.differs += fmt::format("{}{}: {}", m.differs.empty() ? "" : "; ", parties[i].name, what);
  for (const Party& party : parties) party.reset();
}

}  // namespace

Measurement measure(const Case& problem, const Peers& peers, const How& how) {
  Measurement m{.name = problem.name,
                .size = problem.size,
                .flops = problem.flops,
                .bytes = problem.bytes,
                .divergent = problem.divergent};
  const Ours ours(how.device, problem, compute::CpuMode::automatic, how.programs);
  m.refusals = ours.refusals();
  std::vector<Party> parties{ours.party("ours")};
  std::vector<double*> times{&m.ours};
  if (problem.divergent && how.device == "cpu") {
    parties.push_back(Ours(how.device, problem, compute::CpuMode::threads).party("scalar"));
    times.push_back(&m.scalar);
  }
  if (peers.pocl) {
    parties.push_back(pocl_party(peers.pocl, problem));
    m.pocl_block = parties.back().note;
    times.push_back(&m.pocl);
  }
  if (peers.loops) {
    parties.push_back(loops_party(peers.loops, problem));
    times.push_back(&m.cxx);
  }
  compare_all(problem, parties, m);

  std::vector<bench::Party> timed;
  for (size_t i = 0; i < parties.size(); ++i)
    timed.push_back({.run = parties[i].run, .library = times[i] == &m.pocl ? 1 : times[i] == &m.cxx ? 2 : 0});
  const std::vector<bench::Samples> samples = bench::measure_rounds(timed, how.seconds, how.threads);
  for (size_t i = 0; i < samples.size(); ++i) *times[i] = samples[i].median();
  return m;
}

}  // namespace trine::bench_compute
