// trine run MODEL|ENGINE
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "destination.h"
#include "difference.h"
#include "media/npy.h"
#include "model_file.h"
#include "outputs.h"
#include "peers.h"
#include "terminal.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"
#include "usage.h"

namespace trine::cli {
namespace {

struct Options {
  std::string model;
  BuildFlags build;
  InputFlags inputs;
  std::vector<std::string> save;  // NAME=file.npy
  std::vector<std::string> check;
  double tolerance = kModelTolerance;
  std::string peer_model;
  size_t print = 0, top = 0;
  std::string labels, draw;
  DetectOptions detect;
  bool json = false;
};
constexpr size_t kUsualTop = 5;  // with --labels alone
using Outputs = std::map<std::string, Datum>;

const Datum& output_named(const Outputs& outputs, const std::string& name, const std::string& flag) {
  const auto found = outputs.find(name);
  if (found != outputs.end()) return found->second;
  std::string names;
  for (const auto& [other, value] : outputs) names += " " + other;
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: no output '{}'; the outputs:{}", flag, name, names));
}

// "NAME=FILE", or "FILE" when there is one output.
std::pair<std::string, std::string> name_and_file(const std::string& flag, const std::string& text,
                                                  const std::vector<IoInfo>& outputs) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos && outputs.size() == 1) return {outputs[0].name, text};
  const std::string name = text.substr(0, equals);
  for (const IoInfo& output : outputs)
    if (equals != std::string::npos && output.name == name) return {name, text.substr(equals + 1)};
  std::string names;
  for (const IoInfo& output : outputs) names += " " + output.name;
  throw Error(ErrorCode::invalid_argument,
              equals == std::string::npos
                  ? fmt::format("{} {}: which output?; write NAME=FILE with one of:{}", flag, text, names)
                  : fmt::format("{} {}: no output '{}'; the outputs:{}", flag, text, name, names));
}

// What can be known before the model is read.
void check_flags(const Options& options) {
  check_input_flags(options.inputs);
  if (!options.labels.empty()) read_labels(options.labels);
  if (!options.detect.head.empty()) media::head_from_name(options.detect.head);
  auto read = files_of(options.inputs.specs);
  read.push_back(options.model);
  for (const std::string& text : options.save) {
    const std::string file = text.substr(text.rfind('=') + 1);
    const std::string ending = std::filesystem::path(file).extension();
    check_destination("--output", file, read);
    if (!ending.empty() && ending != ".npy") {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--output {}: outputs are written as .npy; give a name that ends in .npy", text));
    }
  }
  if (!options.draw.empty()) check_destination("--draw", options.draw, read);
  for (const std::string& check : options.check)
    if (check == "reference" || is_peer(check)) source_model(options.model, options.peer_model);
}

// What can be known before it runs.
void check_names(const Options& options, const std::vector<IoInfo>& outputs) {
  for (const std::string& text : options.save) name_and_file("--output", text, outputs);
  for (const std::string& check : options.check) {
    if (check == "reference" || is_peer(check)) continue;
    if (check.find('=') == std::string::npos && !check.ends_with(".npy")) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--check {}: accepted: reference, {} or NAME=file.npy", check, peer_names()));
    }
    media::load_npy(name_and_file("--check", check, outputs).second);
  }
}

void save_outputs(const Options& options, const std::vector<IoInfo>& declared, const Outputs& outputs) {
  for (const std::string& text : options.save) {
    const auto [name, file] = name_and_file("--output", text, declared);
    const Datum& value = outputs.at(name);
    if (!value.is_tensor()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("--output {}: {}; only tensors fit a .npy", name, value_text(value)));
    }
    media::save_npy(file, value.tensor());
  }
}

// What the outputs should be, by --check: the operators' references, another runtime, or files.
Outputs wanted_outputs(const Options& options, const std::string& check, const std::vector<IoInfo>& declared,
                       const Inputs& inputs) {
  if (check == "reference") {
    const Model model = load(source_model(options.model, options.peer_model));
    const auto values = model.evaluate(in_order(model.inputs(), inputs.tensors));
    Outputs wanted;
    for (size_t i = 0; i < values.size(); ++i) wanted[model.outputs()[i].name] = values[i];
    return wanted;
  }
  if (is_peer(check)) {
    Peer peer(check, source_model(options.model, options.peer_model), 1, inputs.tensors);
    return as_data(peer.outputs());
  }
  const auto [name, file] = name_and_file("--check", check, declared);
  return {{name, media::load_npy(file)}};
}

// Prints one line per output; true when all are within the tolerance.
bool check_outputs(const Options& options, const std::vector<IoInfo>& declared, const Outputs& outputs,
                   const Inputs& inputs, nlohmann::ordered_json& report) {
  bool good = true;
  for (const std::string& check : options.check) {
    for (const auto& [name, wanted] : wanted_outputs(options, check, declared, inputs)) {
      const Difference d = difference(output_named(outputs, name, "--check"), wanted);
      const bool within = d.within(options.tolerance);
      good = good && within;
      report["checks"].push_back(
          {{"output", name}, {"against", check}, {"max_rel_error", d.max_rel}, {"passed", within}});
      if (!options.json) fmt::print("{} {} against {}: {}\n", within ? "ok" : "DIFFERS", name, check, d.text());
    }
  }
  return good;
}

void show_classes(const Options& options, const Datum& output, nlohmann::ordered_json& report) {
  if (!output.is_tensor())
    throw Error(ErrorCode::invalid_argument, "--top: the first output is no tensor; see trine inspect");
  const auto labels = options.labels.empty() ? std::vector<std::string>() : read_labels(options.labels);
  const Ranking ranking = best_classes(output.tensor(), options.top ? options.top : kUsualTop);
  report["softmax"] = ranking.softmax;
  if (ranking.softmax && !options.json) fmt::print("softmax of the scores:\n");
  for (const Ranked& r : ranking.classes) {
    report["top"].push_back({{"label", r.label}, {"name", label_text(labels, r.label)}, {"score", r.score}});
    if (!options.json) fmt::print("{:6.2f}%  {}\n", r.score * 100, label_text(labels, r.label));
  }
}

void show_boxes(const Options& options, const std::vector<Datum>& outputs, const Inputs& inputs,
                nlohmann::ordered_json& report) {
  if (!inputs.picture) throw Error(ErrorCode::invalid_argument, "--head: no input is a picture; give one with --input");
  std::vector<Tensor> tensors;
  for (const Datum& d : outputs) {
    if (d.is_tensor()) tensors.push_back(d.tensor());
  }
  const auto labels = options.labels.empty() ? std::vector<std::string>() : read_labels(options.labels);
  const auto boxes = detect(tensors, *inputs.picture, options.detect);
  for (const media::Box& b : boxes) {
    report["boxes"].push_back({{"label", b.label},
                               {"name", label_text(labels, b.label)},
                               {"score", b.score},
                               {"box", {b.x0, b.y0, b.x1, b.y1}}});
    if (!options.json) {
      fmt::print("{:5.2f}  {:<20} {:.0f},{:.0f} to {:.0f},{:.0f}\n", b.score, label_text(labels, b.label), b.x0, b.y0,
                 b.x1, b.y1);
    }
  }
  if (boxes.empty() && !options.json) fmt::print("no box of score {} or more\n", options.detect.min_score);
  if (!options.draw.empty()) draw_boxes(options.draw, *inputs.picture, boxes, labels);
}

void show_value(const Options& options, const std::string& name, const Datum& value) {
  fmt::print("{}  {}\n", styled(name, Style::bold), value_text(value));
  if (options.print == 0 || !value.is_tensor()) return;
  const auto shown = std::min(options.print, static_cast<size_t>(value.tensor().elements()));
  fmt::print("  first {}:{}\n", shown, first_values(value.tensor(), shown));
}

int run(const Options& options) {
  check_flags(options);
  BuildFlags build = options.build;
  const Engine engine = open_or_build(options.model, build, options.json);
  check_names(options, engine.outputs());
  const Inputs inputs = inputs_for(engine.inputs(), options.inputs, build.shapes, engine.metadata());
  Session session(engine, {.threads = build.threads, .device = build.device});
  print_notes(session.notes(), options.json);
  const auto values = session.run(in_order(engine.inputs(), inputs.tensors));
  Outputs outputs;
  nlohmann::ordered_json report = {{"model", options.model}};
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& name = engine.outputs()[i].name;
    outputs[name] = values[i];
    report["outputs"][name] = value_json(values[i], options.print);
    if (!options.json) show_value(options, name, values[i]);
  }
  save_outputs(options, engine.outputs(), outputs);
  const bool classes = options.top || (!options.labels.empty() && options.detect.head.empty());
  if (classes) show_classes(options, values.at(0), report);
  if (!options.detect.head.empty()) show_boxes(options, values, inputs, report);
  const bool good = check_outputs(options, engine.outputs(), outputs, inputs, report);
  if (options.json) fmt::print("{}\n", report.dump(2));
  if (good) return 0;
  throw Error(ErrorCode::mismatch, fmt::format("{}: outputs differ by more than {:g}; trine compare finds the layer",
                                               options.model, options.tolerance));
}

}  // namespace

std::function<int()> setup_run(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "an ONNX file or an engine")->required();
  add_input_flags(app, o->inputs);
  app.add_option("-o,--output", o->save, "save an output: NAME=file.npy")->allow_extra_args(false);
  app.add_option("--print", o->print, "print the first N values of each output, in the order of memory")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--top", o->top, "print the K best classes; scores that are no probabilities get a softmax")
      ->check(CLI::Range(1, 100000));
  app.add_option("--labels", o->labels, "file of class names, one a line; without --top and --head: --top 5");
  app.add_option("--head", o->detect.head, "layout of a detector's outputs: " + media::head_names());
  app.add_option("--min-score", o->detect.min_score, "of boxes")->capture_default_str();
  app.add_option("--iou", o->detect.iou, "boxes of one class that overlap more are one")->capture_default_str();
  app.add_option("--draw", o->draw, "write the picture with boxes to this PNG")->needs("--head");
  app.add_option("--check", o->check, "compare outputs: reference, onnxruntime, openvino, ncnn, torch or NAME=file.npy")
      ->allow_extra_args(false);
  app.add_option("--tolerance", o->tolerance, "of --check: max |a - b| / max |b|")
      ->check(at_least_zero)
      ->capture_default_str();
  app.add_option("--peer-model", o->peer_model, "the ONNX file behind an engine; default: beside it, ending in .onnx");
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
