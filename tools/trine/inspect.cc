// trine inspect MODEL|ENGINE
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "destination.h"
#include "inspect_html.h"
#include "media/file.h"
#include "model_file.h"
#include "terminal.h"
#include "trine/base/error.h"

namespace trine::cli {
namespace {

struct Options {
  std::string model, html;
  BuildFlags build;
  bool graph = false, plan = false, memory = false, raw = false, json = false;
};

std::string io_text(const std::vector<IoInfo>& infos, const char* title) {
  std::string text = styled(title, Style::bold) + "\n";
  for (const IoInfo& info : infos) text += fmt::format("  {}  {}\n", info.name, info.type.text());
  return text;
}

// Metadata such as a dictionary may be long: its beginning is enough here.
std::string shortened(const std::string& value) {
  std::string line = value.substr(0, 60);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return value.size() > 60 ? fmt::format("{}... ({} bytes)", line, value.size()) : line;
}

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

nlohmann::ordered_json as_json(const Options& options, const Engine& engine,
                               const std::map<std::string, int64_t>& sizes) {
  nlohmann::ordered_json report = {{"model", options.model}};
  for (const IoInfo& i : engine.inputs()) report["inputs"][i.name] = i.type.text();
  for (const IoInfo& o : engine.outputs()) report["outputs"][o.name] = o.type.text();
  report["metadata"] = engine.metadata();
  report["notes"] = engine.notes();
  report["weight_bytes"] = engine.weight_bytes();
  if (const auto memory = memory_of(engine, sizes)) {
    report["plan_weight_bytes"] = memory->weights;
    report["activation_bytes"] = memory->activations;
  }
  if (options.graph) report["graph"] = engine.graph_text();
  if (options.plan) report["plan"] = engine.plan_text(sizes);
  if (options.memory) report["memory"] = engine.memory_text(sizes);
  return report;
}

int run(const Options& options) {
  if (options.raw) {
    refuse_engine(options.model, "--raw-graph");
    fmt::print("{}", load(options.model).graph_text());
    return 0;
  }
  const Engine engine = open_or_build(options.model, options.build, options.json);
  const auto sizes = sizes_of(engine, options.build.shapes);
  if (!options.html.empty()) {
    check_destination("--html", options.html, {options.model});
    const std::string page = html_page(options.model, engine, sizes, options.build.shapes);
    media::write_file(options.html, std::span(reinterpret_cast<const uint8_t*>(page.data()), page.size()));
    fmt::print(stderr, "{}: written, {}\n", options.html, bytes_text(static_cast<double>(page.size())));
  }
  if (options.json) {
    fmt::print("{}\n", as_json(options, engine, sizes).dump(2));
    return 0;
  }
  if (options.graph) fmt::print("{}", engine.graph_text());
  if (options.plan) fmt::print("{}", engine.plan_text(sizes));
  if (options.memory) fmt::print("{}", engine.memory_text(sizes));
  if (options.graph || options.plan || options.memory) return 0;
  fmt::print("{}{}", io_text(engine.inputs(), "inputs"), io_text(engine.outputs(), "outputs"));
  fmt::print("{} {}", styled("weights", Style::bold), bytes_text(static_cast<double>(engine.weight_bytes())));
  if (const auto memory = memory_of(engine, sizes)) {
    fmt::print("; as kernels read them {}, activations {}", bytes_text(static_cast<double>(memory->weights)),
               bytes_text(static_cast<double>(memory->activations)));
  }
  fmt::print("\n");
  for (const auto& [key, value] : engine.metadata()) fmt::print("  {}: {}\n", key, shortened(value));
  return 0;
}

}  // namespace

std::function<int()> setup_inspect(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "an ONNX file or an engine")->required();
  app.add_flag("--graph", o->graph, "the optimised graph");
  app.add_flag("--raw-graph", o->raw, "the graph of an ONNX file before any optimisation");
  app.add_flag("--plan", o->plan, "every step: kernel, fused operators, shapes, bytes, flops");
  app.add_flag("--memory", o->memory, "where each value lives in the arena");
  app.add_option("--html", o->html, "write one page with all of it, and the time of each step");
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
