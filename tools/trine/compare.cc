// trine compare A [B]: the same inputs through both; every value that both have is compared, in B's order of steps.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "difference.h"
#include "model_file.h"
#include "terminal.h"
#include "trine/base/error.h"
#include "trine/engine/session.h"
#include "usage.h"

namespace trine::cli {
namespace {

struct Options {
  std::string a, b;
  BuildFlags build;
  InputFlags inputs;
  double tolerance = kModelTolerance;
  bool all = false, json = false;
};

struct Row {
  std::string node, op, value;
  Difference difference;
};

// What runs a side: an engine, or a model by its operators' references.
class Side {
 public:
  Side(const std::string& path, const Options& options, bool build_it) {
    if (is_engine_file(path)) {
      engine_ = Engine::open(path);
    } else if (build_it) {
      engine_ = build_with_progress(load(path), build_options(options.build), "build", options.json);
    } else {
      model_ = load(path);
    }
    threads_ = options.build.threads;
  }
  const std::vector<IoInfo>& inputs() const { return engine_ ? engine_->inputs() : model_->inputs(); }
  const std::vector<IoInfo>& outputs() const { return engine_ ? engine_->outputs() : model_->outputs(); }
  std::map<std::string, std::string> metadata() const {
    return engine_ ? engine_->metadata() : std::map<std::string, std::string>();
  }
  std::string what() const { return engine_ ? "engine" : "reference"; }

  // `see` gets every value as it is made.
  std::vector<Datum> run(const std::vector<Datum>& inputs, const StepData& see) {
    if (!engine_) {
      return model_->evaluate(inputs, [&](const std::string& value, const Datum& datum) { see("", "", value, datum); });
    }
    Session session(*engine_, {.threads = threads_});
    return session.trace(inputs, see);
  }

 private:
  std::optional<Engine> engine_;
  std::optional<Model> model_;
  int threads_ = 0;
};

// [n, ..., c] -> [n, c, ...]: an optimised graph keeps channels last inside.
Tensor channels_first(const Tensor& in) {
  Dims dims = in.dims();
  const int64_t n = dims.front(), c = dims.back(), between = in.elements() / (n * c);
  dims.insert(dims.begin() + 1, c);
  dims.pop_back();
  const auto from = in.f64_values();
  std::vector<double> to(from.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t s = 0; s < between; ++s) {
      for (int64_t k = 0; k < c; ++k) {
        to[static_cast<size_t>((i * c + k) * between + s)] = from[static_cast<size_t>((i * between + s) * c + k)];
      }
    }
  }
  return Tensor::from_f64(in.dtype(), dims, to);
}

// The difference in whichever of the two layouts fits; in both (sizes may agree by chance) the smaller one.
Difference layout_blind_difference(const Datum& got, const Datum& wanted) {
  const Difference plain = difference(got, wanted);
  if (!got.is_tensor() || got.tensor().rank() < 3 || got.tensor().elements() == 0 || !is_float(got.tensor().dtype())) {
    return plain;
  }
  if (plain.kind.empty() && plain.max_rel < 1e-2) return plain;
  const Difference turned = difference(channels_first(got.tensor()), wanted);
  if (!turned.kind.empty()) return plain;
  return !plain.kind.empty() || turned.max_rel < plain.max_rel ? turned : plain;
}

nlohmann::ordered_json as_json(const Row& row) {
  return {{"node", row.node},
          {"op", row.op},
          {"value", row.value},
          {"max_rel_error", row.difference.max_rel},
          {"max_abs_error", row.difference.max_abs},
          {"what", row.difference.text()}};
}

void print_rows(const std::vector<Row>& rows) {
  Table table({"value", "operator", "node", "difference"});
  for (const Row& row : rows) table.add({row.value, row.op, row.node, row.difference.text()});
  fmt::print("{}", table.text());
}

// What the exit status goes by, in words.
std::string verdict(const Options& options, int64_t apart, bool good) {
  if (!good) return "the outputs differ";
  if (apart == 0) return "the outputs agree";
  return fmt::format("the outputs agree within {:g}; of the values before them, {} {} further apart", options.tolerance,
                     apart, apart == 1 ? "is" : "are");
}

int report(const Options& options, const std::vector<Row>& rows, const std::vector<Row>& outputs) {
  std::vector<Row> apart;
  for (const Row& row : rows) {
    if (options.all || !row.difference.within(options.tolerance)) apart.push_back(row);
  }
  const bool good = std::all_of(outputs.begin(), outputs.end(),
                                [&](const Row& row) { return row.difference.within(options.tolerance); });
  const auto apart_count =
      std::count_if(rows.begin(), rows.end(), [&](const Row& r) { return !r.difference.within(options.tolerance); });
  if (options.json) {
    nlohmann::ordered_json json = {{"compared", rows.size()}, {"differ", apart_count}, {"passed", good}};
    for (const Row& row : apart) json["values"].push_back(as_json(row));
    for (const Row& row : outputs) json["outputs"].push_back(as_json(row));
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} values compared, {} differ by more than {:g}\n", rows.size(), apart_count, options.tolerance);
    if (!options.all && apart.size() > 10) apart.resize(10);  // the first ones tell where it begins
    if (!apart.empty()) print_rows(apart);
    fmt::print("{}\n", styled("outputs", Style::bold));
    for (const Row& row : outputs) fmt::print("  {}  {}\n", row.value, row.difference.text());
    fmt::print("{}\n", verdict(options, apart_count, good));
  }
  if (good) return 0;
  throw Error(
      ErrorCode::mismatch,
      fmt::format("outputs differ by more than {:g}; the first value above is where they part", options.tolerance));
}

int run(const Options& options) {
  if (!options.b.empty()) refuse_build_flags(options.build, "where A and B are given nothing is built");
  else if (is_engine_file(options.a)) refuse_build_flags(options.build, options.a + " is an engine, built already");
  Side a(options.a, options, false), b(options.b.empty() ? options.a : options.b, options, options.b.empty());
  if (!options.json)
    fmt::print("A: {} ({}), B: {} ({})\n", options.a, a.what(), options.b.empty() ? options.a : options.b, b.what());
  const Inputs inputs = inputs_for(a.inputs(), options.inputs, options.build.shapes, a.metadata());
  std::map<std::string, Datum> wanted;
  const auto wanted_outputs =
      a.run(in_order(a.inputs(), inputs.tensors), [&](const std::string&, const std::string&, const std::string& value,
                                                      const Datum& datum) { wanted[value] = datum; });
  for (const IoInfo& info : b.inputs()) {
    if (!inputs.tensors.contains(info.name)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: has input '{}' and {} has not; compare models of equal inputs", options.b, info.name,
                              options.a));
    }
  }
  std::vector<Row> rows, outputs;
  const auto got = b.run(in_order(b.inputs(), inputs.tensors), [&](const std::string& node, const std::string& op,
                                                                   const std::string& value, const Datum& datum) {
    const auto found = wanted.find(value.substr(0, value.find('@')));  // "x@1" is x in another layout
    if (found == wanted.end()) return;
    const Difference d = layout_blind_difference(datum, found->second);
    const bool turned =
        value.find('@') != std::string::npos && !d.kind.empty();  // axes moved in a way that no comparison knows
    if (turned) return;
    if (!rows.empty() && rows.back().value == value)
      rows.pop_back();  // a step of several calls: the last one completes it
    rows.push_back({node, op, value, d});
  });
  for (size_t i = 0; i < got.size() && i < wanted_outputs.size(); ++i) {
    outputs.push_back({"", "", b.outputs()[i].name, difference(got[i], wanted_outputs[i])});
  }
  return report(options, rows, outputs);
}

}  // namespace

std::function<int()> setup_compare(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("A", o->a, "an engine, or an ONNX file: run by the operators' references")->required();
  app.add_option("B", o->b, "what is compared with A; left out: A, built");
  app.add_option("--tolerance", o->tolerance, "max |a - b| / max |b|")->check(at_least_zero)->capture_default_str();
  app.add_flag("--all", o->all, "show every value, not just those that differ");
  add_input_flags(app, o->inputs);
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
