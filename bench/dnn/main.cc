// Speed of the dnn rows on problem lists, beside oneDNN's: GFLOP/s, share of the measured peak, chosen kernel, ratio.
//
//   bench_dnn --list resnet_50 [--list FILE ...] [--dt f32,bf16] [--threads N] [--against onednn] [--markdown] [FILTER]
//
// A list is a name in bench/dnn/lists or a file in benchdnn's format (batch_file.h). docs/bench.md explains the table.
#include <fmt/format.h>
#include <sched.h>

#include <cstdlib>

#include "cases.h"
#include "measure_entry.h"
#include "totals.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::bench {
namespace {

constexpr const char* kUsage =
    "bench_dnn --list NAME|FILE [--list ...] [--driver NAME] [--threads N] [--mb N] [--dt T|S:W:D,...]\n"
    "          [--against onednn] [--all] [--csv | --markdown] [--duration SECONDS] [--measure SECONDS] [FILTER]\n"
    "  --list      a list of bench/dnn/lists, all of them (all), or a file in benchdnn's format\n"
    "  --driver    the driver of files that do not say: conv, matmul, ...\n"
    "  --mb        batch size\n"
    "  --dt        number types: f32, bf16, u8:s8:u8; several take turns and are compared with the first\n"
    "  --all       every kernel that fits, not only the chosen one\n"
    "  --csv       benchdnn's perf lines\n"
    "  --markdown  at the end tables for a page: a row for each list, and every problem below 0.8\n"
    "  --duration  seconds of measuring for each problem and party (0.3)\n"
    "  --measure   let find time candidates for this long, rather than estimate\n"
    "  FILTER      only problems whose text or name holds it\n";

struct Options {
  Wanted wanted;
  std::string against;
  bool csv = false, markdown = false;
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
      o.wanted.lists.push_back(value());
    } else if (arg == "--driver") {
      o.wanted.driver = driver_named(value());
      if (o.wanted.driver == Driver::none)
        usage_error(fmt::format("--driver {}; accepted: {}", args[i], driver_names()));
    } else if (arg == "--threads") {
      o.how.threads = static_cast<int>(number(arg, value(), 1, 1024));
    } else if (arg == "--duration") {
      o.how.seconds = number(arg, value(), 0, 3600);
    } else if (arg == "--measure") {
      o.how.find_seconds = number(arg, value(), 0, 3600);
    } else if (arg == "--mb") {
      o.wanted.mb = static_cast<int64_t>(number(arg, value(), 1, 1 << 20));
    } else if (arg == "--dt") {
      o.wanted.types = split(value(), ',');
    } else if (arg == "--against") {
      o.against = value();
      if (o.against != "onednn") usage_error(fmt::format("--against {}; accepted: onednn", o.against));
    } else if (arg == "--all") {
      o.how.all = true;
    } else if (arg == "--csv") {
      o.csv = true;
    } else if (arg == "--markdown") {
      o.markdown = true;
    } else if (arg == "--help" || arg == "-h") {
      fmt::print("{}", kUsage);
      std::exit(0);
    } else if (arg.starts_with("-")) {
      usage_error(fmt::format("no option {}", arg));
    } else {
      o.wanted.filter = arg;
    }
  }
  if (o.wanted.lists.empty()) usage_error("no --list");
  return o;
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

void print_machine(const Options& o, const Bench& bench, const Peer* peer) {
  const Peaks& p = bench.peaks();
  fmt::print("{}: {:.1f} GFLOP/s per core measured in f32, {:.1f} in bf16, {:.1f} in 8-bit integers; threads {}\n",
             cpu_info().fingerprint(), p.f32 * 1e-9, p.bf16 * 1e-9, p.int8 * 1e-9, o.how.threads);
  if (!peer) return;
  fmt::print("oneDNN {}; what its runtime takes for an empty run, {:.1f} us, is subtracted from its times\n",
             peer->version, bench.peer_overhead() * 1e6);
}

int run(const Options& o) {
  const std::vector<Case> cases = read_cases(o.wanted);
  keep_to_processors(o.how.threads);
  const Peer* peer = o.against.empty() ? nullptr : &open_onednn();
  const Columns columns{peer != nullptr, o.wanted.types.size() > 1 ? o.wanted.types[0] : ""};
  Bench bench(o.how, peer);
  print_machine(o, bench, peer);
  fmt::print("{}", o.csv ? perf_header() : header(columns));
  std::vector<Measurement> all;
  std::vector<std::string> unsupported;
  for (const Case& variants : cases) {
    for (Measurement& m : bench.measure(variants, unsupported)) {
      fmt::print("{}", o.csv ? perf_lines(m) : lines(m, columns));
      all.push_back(std::move(m));
    }
    std::fflush(stdout);
  }
  for (const std::string& line : unsupported) fmt::print("{}", line);
  if (!all.empty()) fmt::print("{}", summary(all, columns));
  if (!all.empty() && o.markdown) fmt::print("\n{}", markdown(all, columns));
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
