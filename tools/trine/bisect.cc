// trine bisect MODEL: which pass or kernel makes the result wrong. Builds the model again and again, each time with
// less.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "difference.h"
#include "model_file.h"
#include "peers.h"
#include "terminal.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"
#include "usage.h"

namespace trine::cli {
namespace {

struct Options {
  std::string model, against = "reference";
  BuildFlags build;
  InputFlags inputs;
  double tolerance = kModelTolerance;
  bool json = false;
};

struct Culprit {
  std::string kind, name;  // "pass", "kernel", "code", "numerics"
  std::string fix;         // flag that avoids it
  std::string step = {};   // kernel: the node whose result it makes wrong
};

class Bisection {
 public:
  Bisection(const Options& options, const Model& model, const Inputs& inputs)
      : options_(options), model_(model), inputs_(in_order(model.inputs(), inputs.tensors)) {
    base_ = build_options(options.build);
    base_.verify = Verify::off;  // it would drop the wrong kernel before we see it
    if (options.against == "reference") {
      wanted_ = model.evaluate(inputs_);
      return;
    }
    const auto theirs = Peer(options.against, options.model, 1, inputs.tensors).outputs();
    for (const IoInfo& info : model.outputs())
      wanted_.push_back(theirs.contains(info.name) ? theirs.at(info.name) : Datum());
  }

  // The worst difference of the outputs when built this way.
  Difference error_of(const BuildOptions& build) {
    Session session(trine::build(model_, build), {.threads = build.threads, .device = build.device});
    const auto got = session.run(inputs_);
    Difference worst;
    for (size_t i = 0; i < got.size(); ++i) {
      if (wanted_[i].is_none()) continue;
      const Difference d = difference(got[i], wanted_[i]);
      if (!d.within(options_.tolerance) && (worst.within(options_.tolerance) || d.max_rel > worst.max_rel)) worst = d;
    }
    ++builds_;
    return worst;
  }
  bool good(const BuildOptions& build) { return error_of(build).within(options_.tolerance); }

  // A wrong kernel may hide behind the pass that brings it in, so kernels come first.
  std::optional<Culprit> find() {
    if (auto culprit = bad_kernel()) return culprit;
    for (const auto& [option, culprit] : switches()) {
      if (good(option)) return culprit;
    }
    const auto passes = pass_names();
    BuildOptions without = base_;
    without.skip_passes = passes;
    if (good(without)) return bad_pass(passes);
    return std::nullopt;
  }

  const BuildOptions& base() const { return base_; }
  int builds() const { return builds_; }

 private:
  // The first k passes give a right result for k = lo and a wrong one for k = hi.
  Culprit bad_pass(const std::vector<std::string>& passes) {
    size_t lo = 0, hi = passes.size();
    while (hi - lo > 1) {
      const size_t middle = (lo + hi) / 2;
      BuildOptions build = base_;
      build.skip_passes.assign(passes.begin() + static_cast<std::ptrdiff_t>(middle), passes.end());
      (good(build) ? lo : hi) = middle;
    }
    return {"pass", passes[hi - 1], "--skip " + passes[hi - 1]};
  }

  std::vector<std::pair<BuildOptions, Culprit>> switches() const {
    BuildOptions interpreted = base_, strict = base_;
    interpreted.code = false;
    strict.strict_fp32 = true;
    return {{interpreted, {"code", "generated machine code", "--no-code"}},
            {strict, {"numerics", "Winograd convolution", "--strict-fp32"}}};
  }

  // What each step makes, in the order of the run; an output may be another step's input unchanged.
  struct Step {
    std::string node, kernel;
    std::vector<Datum> outputs;
  };
  std::vector<Step> steps_of(const BuildOptions& build) {
    ++builds_;
    Session session(trine::build(model_, build), {.threads = build.threads, .device = build.device});
    std::vector<Step> steps;
    std::vector<StepTime> times;
    session.profile(inputs_, times);
    for (const StepTime& t : times) steps.push_back({t.name, t.kernel, {}});
    session.trace(inputs_, [&](const std::string& node, const std::string&, const std::string&, const Datum& value) {
      for (Step& step : steps)
        if (step.node == node) step.outputs.push_back(value);
    });
    return steps;
  }

  std::optional<Culprit> bad_kernel() {
    const std::vector<Step> steps = steps_of(base_);
    std::set<std::string> kernels;
    for (const Step& step : steps)
      if (is_row(step.kernel)) kernels.insert(step.kernel);
    for (const std::string& kernel : kernels) {
      BuildOptions build = base_;
      build.drop.push_back(kernel);
      if (good(build)) return Culprit{"kernel", kernel, "--drop " + kernel, first_wrong(steps, kernel, build)};
    }
    return std::nullopt;
  }

  static bool is_row(const std::string& kernel) { return kernel != "host" && !kernel.starts_with("loop"); }

  // The first step of `kernel` whose result differs without it.
  std::string first_wrong(const std::vector<Step>& with, const std::string& kernel, const BuildOptions& build) {
    const std::vector<Step> without = steps_of(build);
    for (const Step& step : with) {
      if (step.kernel != kernel) continue;
      const auto other =
          std::find_if(without.begin(), without.end(), [&](const Step& s) { return s.node == step.node; });
      if (other == without.end()) continue;
      for (size_t i = 0; i < std::min(step.outputs.size(), other->outputs.size()); ++i)
        if (!difference(step.outputs[i], other->outputs[i]).within(options_.tolerance)) return step.node;
    }
    return "";
  }

  const Options& options_;
  const Model& model_;
  std::vector<Datum> inputs_, wanted_;
  BuildOptions base_;
  int builds_ = 0;
};

int run(const Options& options) {
  refuse_engine(options.model, "bisect");
  const Model model = load(options.model);
  const Inputs inputs = inputs_for(model.inputs(), options.inputs, options.build.shapes);
  Bisection bisection(options, model, inputs);
  const Difference whole = bisection.error_of(bisection.base());
  const bool good = whole.within(options.tolerance);
  const auto culprit = good ? std::nullopt : bisection.find();
  if (options.json) {
    nlohmann::ordered_json json = {
        {"model", options.model}, {"passed", good}, {"difference", whole.text()}, {"builds", bisection.builds()}};
    if (culprit) {
      json["culprit"] = {{"kind", culprit->kind}, {"name", culprit->name}, {"avoid", culprit->fix}};
      if (!culprit->step.empty()) json["culprit"]["step"] = culprit->step;
    }
    fmt::print("{}\n", json.dump(2));
  } else if (good) {
    fmt::print("{}: outputs agree with {} within {:g}; nothing to find\n", options.model, options.against,
               options.tolerance);
  } else if (culprit) {
    const std::string where = culprit->step.empty() ? "" : fmt::format(" in step '{}'", culprit->step);
    fmt::print("{} {} makes it wrong{} ({}); {} avoids it. {} builds\n", culprit->kind,
               styled(culprit->name, Style::bold), where, whole.text(), culprit->fix, bisection.builds());
  }
  if (good) return 0;
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: outputs differ from {}: {}; {}", options.model, options.against, whole.text(),
                          culprit ? culprit->fix + " avoids it"
                                  : "no single pass or kernel explains it, see trine compare " + options.model));
}

}  // namespace

std::function<int()> setup_bisect(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "an ONNX file")->required();
  app.add_option("--against", o->against, "what is right: reference, or another runtime")
      ->check(CLI::IsMember({"reference", "onnxruntime", "openvino", "ncnn", "torch"}))
      ->capture_default_str();
  app.add_option("--tolerance", o->tolerance, "max |a - b| / max |b|")->check(at_least_zero)->capture_default_str();
  add_input_flags(app, o->inputs);
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
