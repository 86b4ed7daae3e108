// trine inspect MODEL|ENGINE
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "command.h"
#include "destination.h"
#include "inspect_html.h"
#include "inspect_report.h"
#include "media/file.h"
#include "model_file.h"
#include "step_times.h"
#include "terminal.h"
#include "trine/base/error.h"

namespace trine::cli {
namespace {

struct Options {
  std::string model, html;
  BuildFlags build;
  bool graph = false, plan = false, memory = false, time = false, raw = false, json = false;
};

// The sizes of --shapes, by symbol.
std::map<std::string, int64_t> sizes_of(const Engine& engine, const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [name, dims] : parse_shapes(texts)) {
    for (const IoInfo& info : engine.inputs()) {
      if (info.name != name || info.type.shape.rank() != static_cast<int>(dims.size())) continue;
      for (int i = 0; i < info.type.shape.rank(); ++i) {
        const Dim& dim = info.type.shape[i];
        if (dim.is_symbol()) sizes[dim.text()] = dims[static_cast<size_t>(i)].opt;
      }
    }
  }
  return sizes;
}

void print(const Options& options, const Json& report, const std::string& text) {
  fmt::print("{}", options.json ? report.dump(2) + "\n" : text);
}

// Of the file alone: nothing is built.
int inspect_model(const Options& options) {
  refuse_build_flags(options.build, "nothing is built for this", "add --graph, --plan, --memory, --time or --html");
  const Model model = load(options.model);
  Json report = model_report(options.model, model);
  if (options.raw) report["graph"] = to_json(graph_info(model));
  print(options, report, options.raw ? model.graph_text() : report_text(report));
  return 0;
}

// On random inputs.
StepTimes times_of(const Options& options, const Engine& engine) {
  Session session(engine, {.threads = options.build.threads, .device = options.build.device});
  print_notes(session.notes(), options.json);
  return step_times(session, in_order(engine.inputs(), inputs_for(engine.inputs(), {}, options.build.shapes).tensors));
}

void write_page(const Options& options, const Engine& engine, const std::map<std::string, int64_t>& sizes,
                const StepTimes& times) {
  const std::string page = html_page(options.model, engine, sizes, times);
  media::write_file(options.html, std::span(reinterpret_cast<const uint8_t*>(page.data()), page.size()));
  fmt::print(stderr, "{}: written, {}\n", options.html, bytes_text(static_cast<double>(page.size())));
}

int inspect_engine(const Options& options) {
  const Engine engine = open_or_build(options.model, options.build, options.json);
  const auto sizes = sizes_of(engine, options.build.shapes);
  std::optional<StepTimes> times;
  if (options.time || !options.html.empty()) times = times_of(options, engine);
  if (!options.html.empty()) write_page(options, engine, sizes, *times);
  Json report = engine_report(options.model, engine, sizes, options.build.device);
  std::string text;
  if (options.graph) {
    report["graph"] = to_json(graph_info(engine));
    text += engine.graph_text();
  }
  if (options.json && (options.plan || options.memory)) {
    const PlanInfo plan = plan_info(engine, sizes, options.build.device);
    if (options.plan) report["plan"] = to_json(plan);
    if (options.memory) report["memory"] = arena_json(plan);
  }
  if (!options.json && options.plan) text += engine.plan_text(sizes, options.build.device);
  if (options.time) {
    report["times"] = totals_json(*times);
    report["times"]["steps"] = steps_json(*times);
    text += (text.empty() ? "" : "\n") + step_table(*times);
  }
  if (!options.json && options.memory) text += engine.memory_text(sizes, options.build.device);
  print(options, report, text.empty() ? report_text(report) : text);
  return 0;
}

int run(const Options& options) {
  const bool builds = options.graph || options.plan || options.memory || options.time || !options.html.empty() ||
                      !options.build.shapes.empty();
  if (options.raw) {
    refuse_engine(options.model, "--raw-graph");
    if (builds) {
      throw Error(ErrorCode::invalid_argument,
                  "--raw-graph: shows the file before anything is built; give it without --shapes, --graph, --plan, "
                  "--memory, --time and --html");
    }
  }
  if (!options.html.empty()) check_destination("--html", options.html, {options.model});
  return builds || is_engine_file(options.model) ? inspect_engine(options) : inspect_model(options);
}

}  // namespace

std::function<int()> setup_inspect(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "an ONNX file or an engine")->required();
  app.add_flag("--graph", o->graph, "the optimised graph");
  app.add_flag("--raw-graph", o->raw, "the graph of an ONNX file before any optimisation");
  app.add_flag("--plan", o->plan, "every step: kernel, fused operators, shapes, bytes, flops");
  app.add_flag("--memory", o->memory, "where each value lives in the arena");
  app.add_flag("--time", o->time, "what each step takes, on the device of --device");
  app.add_option("--html", o->html, "write one page with all of it, and the time of each step");
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
