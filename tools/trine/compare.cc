// trine compare A [B]: the same inputs through both; every value that both have is compared, in B's order of steps.
// With A alone B is A made into what runs, and A its reference: of a model the file's graph, of an engine the optimised
// one that it holds.
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

// What runs a side: an engine, or operators' references over a model's or an engine's graph.
class Side {
 public:
  enum class How : uint8_t { as_it_is, built, reference };

  Side(const std::string& path, const Options& options, How how)
      : threads_(options.build.threads), device_(options.build.device) {
    if (is_engine_file(path)) {
      engine_ = Engine::open(path);
      reference_ = how == How::reference;
    } else if (how == How::built) {
      engine_ = build_with_progress(load(path), build_options(options.build), "build", options.json);
    } else {
      model_ = load(path);
    }
  }
  const std::vector<IoInfo>& inputs() const { return engine_ ? engine_->inputs() : model_->inputs(); }
  const std::vector<IoInfo>& outputs() const { return engine_ ? engine_->outputs() : model_->outputs(); }
  std::map<std::string, std::string> metadata() const {
    return engine_ ? engine_->metadata() : std::map<std::string, std::string>();
  }
  std::string what() const {
    if (reference_) return "the graph it holds, run by the operators' references";
    return engine_ ? "engine" : "reference";
  }

  nlohmann::ordered_json json(const std::string& path) const {
    return {{"file", path},
            {"run_by", engine_ && !reference_ ? "engine" : "reference"},
            {"graph", engine_ ? "optimised" : "model"}};
  }

  // `see` gets every value as it is made.
  std::vector<Datum> run(const std::vector<Datum>& inputs, const StepData& see) {
    const auto see_value = [&](const std::string& value, const Datum& datum) { see("", "", value, datum); };
    if (model_) return model_->evaluate(inputs, see_value);
    if (reference_) return engine_->evaluate(inputs, see_value);
    Session session(*engine_, {.threads = threads_, .device = device_});
    return session.trace(inputs, see);
  }

 private:
  std::optional<Engine> engine_;
  std::optional<Model> model_;
  bool reference_ = false;
  int threads_ = 0;
  std::string device_;
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
  if (!good) return fmt::format("FAILED: outputs differ by more than {:g}", options.tolerance);
  const std::string passed = fmt::format("passed: the outputs agree within {:g}", options.tolerance);
  if (apart == 0) return passed;
  return fmt::format("{}; of the values before them, {} {} further apart, which does not count", passed, apart,
                     apart == 1 ? "is" : "are");
}

int report(const Options& options, const nlohmann::ordered_json& sides, const std::vector<Row>& rows,
           const std::vector<Row>& outputs) {
  std::vector<Row> apart;
  for (const Row& row : rows) {
    if (options.all || !row.difference.within(options.tolerance)) apart.push_back(row);
  }
  const bool good = std::all_of(outputs.begin(), outputs.end(),
                                [&](const Row& row) { return row.difference.within(options.tolerance); });
  const auto apart_count =
      std::count_if(rows.begin(), rows.end(), [&](const Row& r) { return !r.difference.within(options.tolerance); });
  if (options.json) {
    nlohmann::ordered_json json = sides;
    json.update({{"compared", rows.size()}, {"differ", apart_count}, {"passed", good}});
    for (const Row& row : apart) json["values"].push_back(as_json(row));
    for (const Row& row : outputs) json["outputs"].push_back(as_json(row));
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} values compared, {} of them further apart than {:g}\n", rows.size(), apart_count, options.tolerance);
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

bool has(const std::vector<IoInfo>& infos, const std::string& name) {
  return std::any_of(infos.begin(), infos.end(), [&](const IoInfo& info) { return info.name == name; });
}

// Where B has A's output i: by name, else by place where neither name is the other side's; else B's count.
size_t place_in(const std::vector<IoInfo>& b, const std::vector<IoInfo>& a, size_t i) {
  for (size_t place = 0; place < b.size(); ++place)
    if (b[place].name == a[i].name) return place;
  return i < b.size() && !has(a, b[i].name) ? i : b.size();
}

// An output that one side lacks is a difference.
std::vector<Row> compare_outputs(const std::vector<IoInfo>& a, const std::vector<Datum>& wanted,
                                 const std::vector<IoInfo>& b, const std::vector<Datum>& got) {
  std::vector<Row> rows;
  std::vector<bool> met(b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t place = place_in(b, a, i);
    if (place < b.size()) met[place] = true;
    rows.push_back(
        {"", "", a[i].name, place < b.size() ? difference(got[place], wanted[i]) : Difference{.kind = "B lacks it"}});
  }
  for (size_t place = 0; place < b.size(); ++place)
    if (!met[place]) rows.push_back({"", "", b[place].name, {.kind = "A lacks it"}});
  return rows;
}

void check_inputs(const Options& options, const Side& a, const Side& b) {
  for (const IoInfo& info : b.inputs()) {
    if (has(a.inputs(), info.name)) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: has input '{}' and {} has not; compare models of equal inputs", options.b, info.name,
                            options.a));
  }
}

int run(const Options& options) {
  const bool alone = options.b.empty();
  if (!alone) refuse_build_flags(options.build, "where A and B are given nothing is built");
  else if (is_engine_file(options.a)) refuse_build_flags(options.build, options.a + " is an engine, built already");
  Side a(options.a, options, alone ? Side::How::reference : Side::How::as_it_is);
  Side b(alone ? options.a : options.b, options, alone ? Side::How::built : Side::How::as_it_is);
  if (!options.json)
    fmt::print("A: {} ({}), B: {} ({})\n", options.a, a.what(), alone ? options.a : options.b, b.what());
  check_inputs(options, a, b);
  const Inputs inputs = inputs_for(a.inputs(), options.inputs, options.build.shapes, a.metadata());
  std::map<std::string, Datum> wanted;
  const auto wanted_outputs =
      a.run(in_order(a.inputs(), inputs.tensors), [&](const std::string&, const std::string&, const std::string& value,
                                                      const Datum& datum) { wanted[value] = datum; });
  std::vector<Row> rows;
  const auto got = b.run(in_order(b.inputs(), inputs.tensors), [&](const std::string& node, const std::string& op,
                                                                   const std::string& value, const Datum& datum) {
    auto found = wanted.find(value);
    if (found == wanted.end()) found = wanted.find(value.substr(0, value.find('@')));  // "x@1" is x in another layout
    if (found == wanted.end()) return;
    const Difference d = layout_blind_difference(datum, found->second);
    const bool turned =
        value.find('@') != std::string::npos && !d.kind.empty();  // axes moved in a way that no comparison knows
    if (turned) return;
    if (!rows.empty() && rows.back().value == value)
      rows.pop_back();  // a step of several calls: the last one completes it
    rows.push_back({node, op, value, d});
  });
  const nlohmann::ordered_json sides = {{"a", a.json(options.a)}, {"b", b.json(alone ? options.a : options.b)}};
  return report(options, sides, rows, compare_outputs(a.outputs(), wanted_outputs, b.outputs(), got));
}

}  // namespace

std::function<int()> setup_compare(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("A", o->a, "an engine, or an ONNX file: run by the operators' references")->required();
  app.add_option(
      "B", o->b,
      "what is compared with A; left out: A built, or the run of an engine A with the reference run of its graph");
  app.add_option("--tolerance", o->tolerance, "max |a - b| / max |b|")->check(at_least_zero)->capture_default_str();
  app.add_flag("--all", o->all, "show every value, not just those that differ");
  add_input_flags(app, o->inputs);
  add_build_flags(app, o->build);
  app.add_flag("--json", o->json, "report as JSON");
  return [o] { return run(*o); };
}

}  // namespace trine::cli
