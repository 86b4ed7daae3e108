// trine run MODEL|ENGINE
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "difference.h"
#include "media/npy.h"
#include "model_file.h"
#include "outputs.h"
#include "peers.h"
#include "terminal.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"

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
  size_t top = 0;
  std::string labels, draw;
  DetectOptions detect;
  bool json = false;
};
using Outputs = std::map<std::string, Datum>;

const Datum& output_named(const Outputs& outputs, const std::string& name, const std::string& flag) {
  const auto found = outputs.find(name);
  if (found != outputs.end()) return found->second;
  std::string names;
  for (const auto& [other, value] : outputs) names += " " + other;
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: no output '{}'; the outputs:{}", flag, name, names));
}

// "NAME=FILE", or "FILE" when there is one output.
std::pair<std::string, std::string> name_and_file(const std::string& text, const Outputs& outputs) {
  const size_t equals = text.rfind('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  if (outputs.size() == 1) return {outputs.begin()->first, text};
  throw Error(ErrorCode::invalid_argument,
              fmt::format("'{}': which of {} outputs?; write NAME=FILE", text, outputs.size()));
}

void save_outputs(const Options& options, const Outputs& outputs) {
  for (const std::string& text : options.save) {
    const auto [name, file] = name_and_file(text, outputs);
    const Datum& value = output_named(outputs, name, "--output");
    if (!value.is_tensor()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("--output {}: {}; only tensors fit a .npy", name, value_text(value)));
    }
    media::save_npy(file, value.tensor());
  }
}

// What the outputs should be, by --check: the operators' references, another runtime, or files.
Outputs wanted_outputs(const Options& options, const std::string& check, const Outputs& outputs, const Inputs& inputs) {
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
  const auto [name, file] = name_and_file(check, outputs);
  return {{name, media::load_npy(file)}};
}

// Prints one line per output; true when all are within the tolerance.
bool check_outputs(const Options& options, const Outputs& outputs, const Inputs& inputs,
                   nlohmann::ordered_json& report) {
  bool good = true;
  for (const std::string& check : options.check) {
    for (const auto& [name, wanted] : wanted_outputs(options, check, outputs, inputs)) {
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
  for (const Ranked& r : best_classes(output.tensor(), options.top)) {
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

int run(const Options& options) {
  BuildFlags build = options.build;
  const Engine engine = open_or_build(options.model, build, options.json);
  const Inputs inputs = inputs_for(engine.inputs(), options.inputs, build.shapes);
  Session session(engine, {.threads = build.threads});
  const auto values = session.run(in_order(engine.inputs(), inputs.tensors));
  Outputs outputs;
  nlohmann::ordered_json report = {{"model", options.model}};
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& name = engine.outputs()[i].name;
    outputs[name] = values[i];
    report["outputs"][name] = value_text(values[i]);
    if (!options.json) fmt::print("{}  {}\n", styled(name, Style::bold), value_text(values[i]));
  }
  save_outputs(options, outputs);
  if (options.top) show_classes(options, values.at(0), report);
  if (!options.detect.head.empty()) show_boxes(options, values, inputs, report);
  const bool good = check_outputs(options, outputs, inputs, report);
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
  app.add_option("-o,--output", o->save, "save an output: NAME=file.npy");
  app.add_option("--top", o->top, "print the K best classes")->check(CLI::Range(1, 100000));
  app.add_option("--labels", o->labels, "file of class names, one a line");
  app.add_option("--head", o->detect.head, "layout of a detector's outputs: " + media::head_names());
  app.add_option("--min-score", o->detect.min_score, "of boxes")->capture_default_str();
  app.add_option("--iou", o->detect.iou, "boxes of one class that overlap more are one")->capture_default_str();
  app.add_option("--draw", o->draw, "write the picture with boxes to this PNG")->needs("--head");
  app.add_option("--check", o->check, "compare outputs: reference, onnxruntime, openvino, torch or NAME=file.npy");
  app.add_option("--tolerance", o->tolerance, "of --check: max |a - b| / max |b|")->capture_default_str();
  app.add_option("--peer-model", o->peer_model, "the ONNX file behind an engine; default: beside it, ending in .onnx");
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
