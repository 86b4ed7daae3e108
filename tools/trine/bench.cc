// trine bench MODEL|ENGINE: run times of this engine, and of other runtimes in the same call: rounds of each in turn,
// so that what the machine does meanwhile falls on all of them alike.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.h"
#include "destination.h"
#include "difference.h"
#include "latency.h"
#include "media/file.h"
#include "model_file.h"
#include "peers.h"
#include "step_times.h"
#include "terminal.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"
#include "usage.h"

namespace trine::cli {
namespace {

constexpr int kRounds = 10;
// onnxruntime's idle threads spin for 50 ms: a runtime measured right after another would share its cores with them.
constexpr auto kSettle = std::chrono::milliseconds(80);

struct Options {
  std::string model, peer_model, json;
  BuildFlags build;
  InputFlags inputs;
  double duration = 3;
  int warmup = 2;
  int iterations = 0;  // > 0: so many runs instead of a duration
  int streams = 1;
  bool layers = false;
  std::vector<std::string> against;
};
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double timed_run(Session& session, const std::vector<Datum>& inputs) {
  const auto begin = Clock::now();
  session.run(inputs);
  return milliseconds_since(begin);
}

// The most memory that this process has held, from the kernel.
int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

struct Measured {
  std::string name, version;
  std::vector<double> ms;
  double max_rel_error = 0;
};

// Rounds of measuring; a few iterations need no more rounds than they are.
int rounds_of(const Options& options) {
  return options.iterations > 0 ? std::min(options.iterations, kRounds) : kRounds;
}

// How often one party runs in a round: its share of the iterations, or what fills its share of the time.
int runs_in_round(const Options& options, int round, double once_ms, size_t parties) {
  const int64_t n = options.iterations, rounds = rounds_of(options);
  if (n > 0) return static_cast<int>(n * (round + 1) / rounds - n * round / rounds);
  const double share_ms = options.duration * 1e3 / kRounds / static_cast<double>(parties);
  return std::max(1, static_cast<int>(share_ms / std::max(once_ms, 1e-3)));
}

// Runs that do not count; the time of the last one.
double warm_up(const Options& options, Session& session, const std::vector<Datum>& inputs) {
  double ms = 0;
  for (int i = 0; i < options.warmup; ++i) ms = timed_run(session, inputs);
  return ms;
}

double worst_error(const std::map<std::string, Tensor>& theirs, const Engine& engine, const std::vector<Datum>& ours) {
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto found = theirs.find(engine.outputs()[i].name);
    if (found == theirs.end()) continue;
    const Difference d = difference(ours[i], found->second);
    worst = std::max(worst, d.kind.empty() ? d.max_rel : INFINITY);
  }
  return worst;
}

// First entry: this engine; then each peer, its rounds between ours.
std::vector<Measured> measure(const Options& options, Session& session, const Inputs& inputs) {
  const auto ordered = in_order(session.engine().inputs(), inputs.tensors);
  std::vector<Measured> all{{.name = "trine"}};
  std::vector<std::unique_ptr<Peer>> peers;
  const auto ours = session.run(ordered);
  for (const std::string& name : options.against) {
    peers.push_back(std::make_unique<Peer>(name, source_model(options.model, options.peer_model), session.threads(),
                                           inputs.tensors));
    all.push_back({name, peers.back()->version(), {}, worst_error(peers.back()->outputs(), session.engine(), ours)});
  }
  std::vector<double> once_ms{warm_up(options, session, ordered)};
  for (const auto& peer : peers) once_ms.push_back(peer->run(options.warmup).back());
  Progress progress("bench", !options.json.empty());
  for (int round = 0; round < rounds_of(options); ++round) {
    progress.update(static_cast<double>(round) / rounds_of(options));
    if (!peers.empty()) std::this_thread::sleep_for(kSettle);
    timed_run(session, ordered);  // wakes the threads, warms the caches
    for (int i = runs_in_round(options, round, once_ms[0], all.size()); i > 0; --i)
      all[0].ms.push_back(timed_run(session, ordered));
    for (size_t p = 0; p < peers.size(); ++p) {
      std::this_thread::sleep_for(kSettle);
      const auto ms = peers[p]->run(runs_in_round(options, round, once_ms[p + 1], all.size()) + 1);
      all[p + 1].ms.insert(all[p + 1].ms.end(), ms.begin() + 1, ms.end());
    }
  }
  return all;
}

// Milliseconds with at least three digits that tell something.
std::string ms_text(double ms) { return fmt::format("{:.{}f}", ms, ms < 0.01 ? 6 : ms < 0.1 ? 5 : ms < 1 ? 4 : 3); }

// What a device does of a run, by its clock, with one graph and call by call.
struct DeviceMeasured {
  std::vector<double> compute_ms, queued_ms, with_copies_ms, latency_ms;
};

// Runs right behind each other: enough for the start of the first not to count, in 50 ms.
int queued_runs(double compute_seconds) { return static_cast<int>(std::clamp(0.05 / compute_seconds, 1.0, 50.0)); }

DeviceMeasured measure_device(const Options& options, Session& session, const std::vector<Datum>& inputs) {
  DeviceMeasured all;
  DeviceTimes times;
  const auto begin = Clock::now();
  for (int i = 0; i < options.warmup + 2; ++i) session.run_timed(inputs, times);  // graphs are made the second time
  const int wanted = options.iterations > 0 ? options.iterations : 1 << 20;
  for (int i = 0; i < wanted; ++i) {
    const auto run_begin = Clock::now();
    session.run_timed(inputs, times);
    all.latency_ms.push_back(milliseconds_since(run_begin));
    all.compute_ms.push_back(times.compute * 1e3);
    all.with_copies_ms.push_back(times.with_copies * 1e3);
    if (options.iterations == 0 && milliseconds_since(begin) > options.duration * 1e3 / kRounds) break;
  }
  const int queued = queued_runs(summarise(all.compute_ms).median / 1e3);
  for (int i = 0; i < 5; ++i) {
    session.run_timed(inputs, times, queued);
    if (times.queued > 0) all.queued_ms.push_back(times.queued * 1e3);
    if (milliseconds_since(begin) > options.duration * 1e3) break;  // a slow device
  }
  return all;
}

// The report's "gpu" and a few lines of text. The latencies here hold the time of the clock itself.
std::string report_device(const Options& options, Session& session, const std::vector<Datum>& inputs, Json& report) {
  Session plain(session.engine(), {.threads = options.build.threads, .device = options.build.device, .graphs = false});
  Table table({"on the device", "kernels ms", "queued ms", "with copies ms", "end to end ms", "runs"});
  for (const auto& [name, which] : {std::pair("graph", &session), std::pair("no_graph", &plain)}) {
    const DeviceMeasured m = measure_device(options, *which, inputs);
    const Latency compute = summarise(m.compute_ms), copies = summarise(m.with_copies_ms),
                  all = summarise(m.latency_ms);
    report["gpu"][name] = {
        {"compute_ms", to_json(compute)}, {"with_copies_ms", to_json(copies)}, {"latency_ms", to_json(all)}};
    std::string queued = "-";
    if (!m.queued_ms.empty()) {
      const Latency each = summarise(m.queued_ms);
      report["gpu"][name]["queued_ms"] = to_json(each);
      queued = ms_text(each.median);
    }
    table.add(
        {name, ms_text(compute.median), queued, ms_text(copies.median), ms_text(all.median), fmt::format("{}", all.n)});
  }
  return table.text();
}

// What the inputs' symbols stand for.
std::map<std::string, int64_t> sizes_of(const Engine& engine, const Inputs& inputs) {
  std::map<std::string, int64_t> sizes;
  for (const IoInfo& info : engine.inputs()) {
    const Dims dims = inputs.tensors.at(info.name).dims();
    for (int i = 0; info.type.shape.has_rank() && i < info.type.shape.rank(); ++i)
      if (info.type.shape[i].is_symbol()) sizes[info.type.shape[i].text()] = dims[static_cast<size_t>(i)];
  }
  return sizes;
}

// Several sessions at once, each with its own threads; their run times together, and runs per second.
Measured measure_streams(const Options& options, const Engine& engine, const Inputs& inputs, double& per_second) {
  std::vector<std::vector<double>> ms(static_cast<size_t>(options.streams));
  std::vector<std::exception_ptr> failures(ms.size());
  std::vector<std::thread> threads;
  const auto ordered = in_order(engine.inputs(), inputs.tensors);
  std::atomic<int> waiting{options.streams};
  for (size_t i = 0; i < ms.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        Session session(engine, {.threads = std::max(1, options.build.threads), .device = options.build.device});
        warm_up(options, session, ordered);
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        const auto begin = Clock::now();
        const auto goes_on = [&] {
          if (options.iterations > 0) return ms[i].size() < static_cast<size_t>(options.iterations);
          return milliseconds_since(begin) < options.duration * 1e3;
        };
        while (goes_on()) ms[i].push_back(timed_run(session, ordered));
      } catch (...) {
        failures[i] = std::current_exception();
        --waiting;
      }
    });
  }
  while (waiting > 0) std::this_thread::yield();
  const auto begin = Clock::now();
  for (std::thread& t : threads) t.join();
  const double elapsed = milliseconds_since(begin) / 1e3;  // with the runs that were begun within the duration
  Measured all{.name = "trine"};
  for (size_t i = 0; i < ms.size(); ++i) {
    if (failures[i]) std::rethrow_exception(failures[i]);
    all.ms.insert(all.ms.end(), ms[i].begin(), ms[i].end());
  }
  per_second = static_cast<double>(all.ms.size()) / elapsed;
  return all;
}

std::string latency_table(const std::vector<Measured>& all) {
  Table table({"", "median ms", "p10", "p90", "p99", "runs", "ratio", "max rel error"});
  const Latency ours = summarise(all[0].ms);
  for (const Measured& m : all) {
    const Latency l = summarise(m.ms);
    std::vector<std::string> row = {m.version.empty() ? m.name : m.name + " " + m.version,
                                    ms_text(l.median),
                                    ms_text(l.p10),
                                    ms_text(l.p90),
                                    ms_text(l.p99),
                                    fmt::format("{}", l.n)};
    if (&m != &all[0]) {
      const bool apart = l.p10 > ours.p90 || l.p90 < ours.p10;
      row.push_back(fmt::format("{:.2f}{}", l.median / ours.median, apart ? "" : " (spreads overlap)"));
      row.push_back(fmt::format("{:.1e}", m.max_rel_error));
    }
    table.add(row);
  }
  return table.text();
}

Json report_of(const Options& options, const std::vector<Measured>& all, int threads) {
  const Latency ours = summarise(all[0].ms);
  Json report = {{"model", options.model},      {"device", options.build.device}, {"threads", threads},
                 {"latency_ms", to_json(ours)}, {"peak_bytes", peak_bytes()},     {"peers", Json::object()}};
  for (size_t i = 1; i < all.size(); ++i) {
    const Latency l = summarise(all[i].ms);
    report["peers"][all[i].name] = {{"version", all[i].version},
                                    {"latency_ms", to_json(l)},
                                    {"ratio", l.median / ours.median},
                                    {"max_rel_error", all[i].max_rel_error}};
  }
  return report;
}

void write_report(const Options& options, const Json& report, const std::string& text) {
  const std::string json = report.dump(2) + "\n";
  if (options.json == "-") {
    fmt::print("{}", json);
    return;
  }
  if (!options.json.empty()) {
    media::write_file(options.json, std::span(reinterpret_cast<const uint8_t*>(json.data()), json.size()));
  }
  fmt::print("{}", text);
}

int run(const Options& options) {
  const bool many = options.streams > 1;
  if (many && !options.against.empty()) {
    throw Error(ErrorCode::invalid_argument, "--streams with --against; peers are measured one stream at a time");
  }
  if (!options.json.empty() && options.json != "-") {
    auto read = files_of(options.inputs.specs);
    read.push_back(options.model);
    check_destination("--json", options.json, read);
  }
  check_input_flags(options.inputs);
  for (const std::string& name : options.against) check_peer(name);
  if (!options.against.empty()) source_model(options.model, options.peer_model);
  const auto begin = Clock::now();
  const Engine engine = open_or_build(options.model, options.build, options.json == "-");
  const double open_ms = milliseconds_since(begin);
  const Inputs inputs = inputs_for(engine.inputs(), options.inputs, options.build.shapes, engine.metadata());
  Session session(engine, {.threads = options.build.threads, .device = options.build.device});
  print_notes(session.notes(), options.json == "-");
  const auto ordered = in_order(engine.inputs(), inputs.tensors);
  const double first_ms = timed_run(session, ordered);
  double per_second = 0;
  const auto all = many ? std::vector<Measured>{measure_streams(options, engine, inputs, per_second)}
                        : measure(options, session, inputs);
  Json report = report_of(options, all, session.threads());
  std::string shapes;
  for (const IoInfo& info : engine.inputs()) {
    const std::string type = inputs.tensors.at(info.name).type_text();
    report["inputs"][info.name] = type;
    shapes += fmt::format("{}{} {}", shapes.empty() ? "" : ", ", info.name, type);
  }
  report["open_ms"] = open_ms;
  report["first_run_ms"] = first_ms;
  report["weight_bytes"] = engine.weight_bytes();
  if (const auto memory = memory_of(engine, sizes_of(engine, inputs), options.build.device)) {
    report["plan_weight_bytes"] = memory->weights;
    report["activation_bytes"] = memory->activations;
  }
  report["arena_bytes"] = session.arena_bytes();
  std::string text = fmt::format("{}: {}; {} threads, opened in {}, first run {}, peak memory {}\n", options.model,
                                 shapes, session.threads(), seconds_text(open_ms / 1e3), seconds_text(first_ms / 1e3),
                                 bytes_text(static_cast<double>(peak_bytes())));
  text += latency_table(all);
  if (options.build.device != "cpu") text += report_device(options, session, ordered, report);
  if (!many) per_second = 1e3 / std::max(summarise(all[0].ms).median, 1e-6);
  report["streams"] = options.streams;
  report["runs_per_second"] = per_second;
  text += fmt::format("{} stream{}: {:.4g} runs per second\n", options.streams, many ? "s" : "", per_second);
  if (options.layers) {
    StepTimes times = step_times(session, ordered);
    sort_slowest_first(times);
    text += "\n" + step_table(times);
    report["layers"] = steps_json(times);
    report["layers_total"] = totals_json(times);
  }
  write_report(options, report, text);
  return 0;
}

}  // namespace

std::function<int()> setup_bench(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "an ONNX file or an engine")->required();
  auto* duration = app.add_option("--duration", o->duration, "seconds of measuring, shared by all runtimes")
                       ->check(above_zero)
                       ->capture_default_str();
  app.add_option("--warmup", o->warmup, "runs of each runtime that come first and do not count")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--iterations", o->iterations, "measure so many runs of each runtime, however long they take")
      ->check(CLI::Range(1, 100000000))
      ->excludes(duration);
  app.add_option("--streams", o->streams, "sessions at once, each with --threads threads")->check(CLI::Range(1, 1024));
  app.add_flag("--layers", o->layers, "time of every step");
  app.add_option("--against", o->against, "other runtimes to measure in turn: " + peer_names())->delimiter(',');
  app.add_option("--peer-model", o->peer_model, "the ONNX file behind an engine; default: beside it, ending in .onnx");
  app.add_option("--json", o->json, "write the report as JSON to this file; - is stdout");
  add_input_flags(app, o->inputs);
  add_build_flags(app, o->build);
  return [o] { return run(*o); };
}

}  // namespace trine::cli
