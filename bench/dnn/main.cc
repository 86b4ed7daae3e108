// Speed of the dnn rows on problem lists, beside oneDNN's: GFLOP/s, share of the measured peak, chosen kernel, ratio.
//
//   bench_dnn --list resnet_50 [--list FILE ...] [--threads N] [--against onednn] [--all] [--csv] [FILTER]
//
// A list is a name in bench/dnn/lists or a file in benchdnn's format (batch_file.h). docs/bench.md explains the table.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "batch_file.h"
#include "measure_entry.h"
#include "peak.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"
#include "trine/dnn/find.h"

namespace trine::bench {
namespace {

constexpr const char* kUsage =
    "bench_dnn --list NAME|FILE [--list ...] [--driver NAME] [--threads N] [--mb N] [--dt T|S:W:D] [--against onednn]\n"
    "          [--all] [--csv] [--duration SECONDS] [--measure SECONDS] [FILTER]\n"
    "  --list      a list of bench/dnn/lists, or a file in benchdnn's format\n"
    "  --driver    the driver of files that do not say: conv, matmul, ...\n"
    "  --mb        batch size of problems that are not written as tensors\n"
    "  --all       every kernel that fits, not only the chosen one\n"
    "  --csv       benchdnn's perf lines\n"
    "  --duration  seconds of measuring for each problem and party (0.3)\n"
    "  --measure   let find time candidates for this long, rather than estimate\n"
    "  FILTER      only problems whose text or name holds it\n";

struct Options {
  std::vector<std::string> lists;
  Driver driver = Driver::none;
  std::string dt, filter, against;
  int64_t mb = 0;  // 0: the list's
  bool csv = false;
  How how;
};

[[noreturn]] void usage_error(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("bench_dnn: {}\n{}", what, kUsage));
}

double number(const std::string& option, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || !(value >= least && value <= most)) {
    usage_error(fmt::format("{} {}; accepted: {} to {}", option, text, least, most));
  }
  return value;
}

Options parse(int argc, char** argv) {
  Options o;
  const std::vector<std::string> args(argv + 1, argv + argc);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == args.size()) usage_error(arg + " without a value");
      return args[++i];
    };
    if (arg == "--list") {
      o.lists.push_back(value());
    } else if (arg == "--driver") {
      o.driver = driver_named(value());
      if (o.driver == Driver::none) usage_error(fmt::format("--driver {}; accepted: {}", args[i], driver_names()));
    } else if (arg == "--threads") {
      o.how.threads = static_cast<int>(number(arg, value(), 1, 1024));
    } else if (arg == "--duration") {
      o.how.seconds = number(arg, value(), 0, 3600);
    } else if (arg == "--measure") {
      o.how.find_seconds = number(arg, value(), 0, 3600);
    } else if (arg == "--mb") {
      o.mb = static_cast<int64_t>(number(arg, value(), 1, 1 << 20));
    } else if (arg == "--dt") {
      o.dt = value();
    } else if (arg == "--against") {
      o.against = value();
      if (o.against != "onednn") usage_error(fmt::format("--against {}; accepted: onednn", o.against));
    } else if (arg == "--all") {
      o.how.all = true;
    } else if (arg == "--csv") {
      o.csv = true;
    } else if (arg == "--help" || arg == "-h") {
      fmt::print("{}", kUsage);
      std::exit(0);
    } else if (arg.starts_with("-")) {
      usage_error(fmt::format("no option {}", arg));
    } else {
      o.filter = arg;
    }
  }
  if (o.lists.empty()) usage_error("no --list");
  return o;
}

std::string without_underscores(std::string text) {
  std::erase(text, '_');
  return text;
}

// A path, or a name in the source's lists (resnet50 is resnet_50).
std::string list_path(const std::string& list) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(list)) return list;
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(fs::path(TRINE_SOURCE_DIR) / "bench" / "dnn" / "lists")) {
    names.push_back(file.path().filename().string());
    if (without_underscores(names.back()) == without_underscores(list)) return file.path().string();
  }
  std::sort(names.begin(), names.end());
  usage_error(fmt::format("--list {}; accepted: a file, or one of {}", list, fmt::join(names, ", ")));
}

void set_batch(Entry& e, int64_t mb) {
  if (mb == 0 || e.driver >= kFirstOfTensors) return;
  e.sizes.mb = mb;
  e.text = std::regex_replace(e.text, std::regex("mb[0-9]+"), fmt::format("mb{}", mb));
}

std::vector<Entry> read_lists(const Options& o) {
  std::vector<Entry> all;
  for (const std::string& list : o.lists) {
    for (Entry& e : read_batch_file(list_path(list), o.driver)) {
      if (!o.dt.empty()) e.options["dt"] = o.dt;
      set_batch(e, o.mb);
      const bool wanted = e.text.find(o.filter) != e.text.npos || e.name.find(o.filter) != e.name.npos;
      if (wanted) all.push_back(std::move(e));
    }
  }
  return all;
}

// All parties share the same processors, as many as threads: libraries that start a thread per processor then start the
// same number.
void keep_to_processors(int count) {
  cpu_set_t allowed, kept;
  CPU_ZERO(&kept);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE && count > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &kept);
    --count;
  }
  ::sched_setaffinity(0, sizeof kept, &kept);
}

int run(const Options& o) {
  const std::vector<Entry> entries = read_lists(o);
  keep_to_processors(o.how.threads);
  const Peer* peer = o.against.empty() ? nullptr : &open_onednn();
  const double peak = peak_flops_per_core();
  const Machine machine{peak * o.how.threads, peer != nullptr};
  fmt::print("{}: {:.1f} GFLOP/s per core measured, threads {}\n", cpu_info().fingerprint(), peak * 1e-9,
             o.how.threads);
  Bench bench(o.how, peer);
  if (peer) {
    fmt::print("oneDNN {}; what its runtime takes for an empty run, {:.1f} us, is subtracted from its times\n",
               peer->version, bench.peer_overhead() * 1e6);
  }
  if (!o.csv) fmt::print("{}", header(machine));
  std::vector<Measurement> all;
  std::vector<std::string> unsupported;
  for (const Entry& entry : entries) {
    std::string why;
    const auto measured = bench.measure(entry, why);
    if (!measured) {
      unsupported.push_back(fmt::format("unsupported: {} {}: {}\n", name(entry.driver), entry.text, why));
      continue;
    }
    fmt::print("{}", o.csv ? perf_lines(*measured) : lines(*measured, machine));
    std::fflush(stdout);
    all.push_back(*measured);
  }
  for (const std::string& line : unsupported) fmt::print("{}", line);
  if (!all.empty()) fmt::print("{}", summary(all, machine));
  return bench.results_differ() ? 1 : 0;
}

}  // namespace
}  // namespace trine::bench

int main(int argc, char** argv) {
  try {
    return trine::bench::run(trine::bench::parse(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 2;
  }
}
