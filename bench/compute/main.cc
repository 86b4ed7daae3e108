// The examples' kernels (examples/compute/*.cu) on a device of trine::compute, beside the same in OpenCL C through
// PoCL, plain loops in C++, and for divergent kernels their scalar form. docs/bench.md explains the table.
#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>

#include "measure.h"
#include "report.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::bench_compute {
namespace {

struct Options {
  std::string device = "cpu", json;
  std::vector<std::string> against, only;
  std::string programs, pack_for;
  int threads = 0;
  uint32_t seed = 0;
  bool small = false, list = false;
  double seconds = 0.3;
};

constexpr const char* kExamples = R"(Examples:
  bench_compute --against pocl,cxx                     the table; every party on all processors
  bench_compute --against cxx --only nbody,fft --threads 1
  bench_compute --device cuda:0 --json h200.json       ours alone, on a GPU
  bench_compute --programs DIR --pack sm_90            compiles for a GPU into DIR, and
  bench_compute --programs DIR --device cuda:0         measures that where there is no compiler)";

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app("Measures the kernels of examples/compute.", "bench_compute");
  app.footer(kExamples);
  app.add_option("--against", o.against, "who to compare with: pocl, cxx")
      ->delimiter(',')
      ->check(CLI::IsMember({"pocl", "cxx"}));
  app.add_option("--device", o.device, "cpu or cuda:N")->capture_default_str();
  app.add_option("--only", o.only, "names of examples (--list)")->delimiter(',');
  app.add_option("--threads", o.threads, "threads of every party; 0: as many as processors")
      ->check(CLI::Range(0, 1024));
  app.add_option("--seconds", o.seconds, "of measuring for each party and kernel")->capture_default_str();
  app.add_option("--seed", o.seed, "of the inputs; 0: another each time");
  app.add_option("--json", o.json, "file that receives the table");
  app.add_flag("--small", o.small, "small sizes, for tests");
  app.add_flag("--list", o.list, "prints the names and ends");
  app.add_option("--programs", o.programs, "folder of compiled examples, instead of compiling them");
  app.add_option("--pack", o.pack_for, "fills that folder for an architecture: sm_90");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  if (o.device != "cpu" && !o.against.empty())
    throw Error(ErrorCode::invalid_argument, "bench_compute: --against with a GPU; accepted with --device cpu");
  for (const std::string& name : o.only)
    if (std::none_of(case_rows().begin(), case_rows().end(), [&](const CaseRow& row) { return name == row.name; }))
      throw Error(ErrorCode::invalid_argument, fmt::format("bench_compute: --only {}; --list prints the names", name));
  return o;
}

bool wanted(const Options& o, const std::string& name) {
  return o.only.empty() || std::find(o.only.begin(), o.only.end(), name) != o.only.end();
}

// All parties share the same processors, as many as threads.
int keep_to_processors(int count) {
  cpu_set_t allowed, kept;
  CPU_ZERO(&kept);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  int kept_count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && (count == 0 || kept_count < count); ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &kept);
    ++kept_count;
  }
  ::sched_setaffinity(0, sizeof kept, &kept);
  return kept_count;
}

Peers open_peers(const Options& o, int threads) {
  Peers peers;
  std::string why_not;
  for (const std::string& name : o.against) {
    if (name == "pocl") peers.pocl = open_pocl(threads, why_not);
    else peers.loops = open_loops(threads, why_not);
    if (name == "pocl" ? !peers.pocl : !peers.loops) fmt::print("{} is left out: {}\n", name, why_not);
  }
  if (peers.pocl) fmt::print("pocl: {}\n", describe(*peers.pocl));
  if (peers.loops) fmt::print("cxx: {}\n", describe(*peers.loops));
  return peers;
}

int pack_all(const Options& o) {
  if (o.programs.empty())
    throw Error(ErrorCode::invalid_argument, "bench_compute: --pack without --programs; accepted with a folder");
  std::mt19937 random(1);
  for (const CaseRow& row : case_rows())
    if (wanted(o, row.name)) pack(row.make(random, {.small = true}), o.programs, o.pack_for);
  return 0;
}

int run(const Options& o) {
  if (o.list) {
    for (const CaseRow& row : case_rows()) fmt::print("{}\n", row.name);
    return 0;
  }
  if (!o.pack_for.empty()) return pack_all(o);
  const int threads = keep_to_processors(o.threads);
  const uint32_t seed = o.seed ? o.seed : std::random_device{}();
  const Machine machine = describe_machine(o.device, threads);
  fmt::print("{}\nseed {}\n", machine.text, seed);
  const Peers peers = open_peers(o, threads);
  const How how{.device = o.device, .threads = threads, .seconds = o.seconds, .programs = o.programs};
  fmt::print("{}", header(peers));
  std::vector<Measurement> all;
  for (const CaseRow& row : case_rows()) {
    if (!wanted(o, row.name)) continue;
    std::mt19937 random(seed);
    all.push_back(measure(row.make(random, {.small = o.small}), peers, how));
    fmt::print("{}", line(all.back(), machine, peers));
    std::fflush(stdout);
  }
  fmt::print("{}", summary(all, peers));
  if (!o.json.empty()) std::ofstream(o.json) << json(all, machine);
  return std::any_of(all.begin(), all.end(), [](const Measurement& m) { return !m.differs.empty(); }) ? 1 : 0;
}

}  // namespace
}  // namespace trine::bench_compute

int main(int argc, char** argv) {
  try {
    return trine::bench_compute::run(trine::bench_compute::parse(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 2;
  }
}
