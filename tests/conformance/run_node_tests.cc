// Runs the backend node tests that onnx_backend.py wrote.
//
//   run_node_tests DATA [--mode reference|engine|interpreter] [--filter TEXT] [--json FILE] [--failures FILE]
//   [--markdown FILE]
//                  [--min PERCENT] [--jobs N] [--title TEXT] [--device cpu]
//
// Prints `onnx backend node tests: P of N passed` (or another title). A case that cannot be imported, run or compared
// has failed; nothing is skipped. The exit status is 1 when fewer than PERCENT (95 unless told) passed.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "cases.h"
#include "compare.h"
#include "data.h"
#include "graph/eval.h"
#include "import/onnx/import.h"
#include "isolate.h"
#include "options.h"
#include "trine/base/error.h"
#include "trine/engine/build.h"
#include "trine/engine/session.h"

namespace trine::conformance {
namespace {

struct Arguments {
  std::string data, mode = "reference", filter, json, failures, markdown, title = "onnx backend node tests",
                    device = "cpu";
  double least_percent = 95;
  uint64_t jobs = 1;
};

struct Outcome {
  std::vector<Case> cases;
  std::vector<std::string> reasons;  // empty: passed
  std::string onnx_version, mode;

  size_t passed() const { return static_cast<size_t>(std::count(reasons.begin(), reasons.end(), "")); }
};

Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  a.data = read_options(argc, argv,
                        {{"--mode", &a.mode},
                         {"--filter", &a.filter},
                         {"--json", &a.json},
                         {"--failures", &a.failures},
                         {"--markdown", &a.markdown},
                         {"--min", &a.least_percent},
                         {"--jobs", &a.jobs},
                         {"--title", &a.title},
                         {"--device", &a.device}});
  if (a.mode != "reference" && a.mode != "engine" && a.mode != "interpreter")
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--mode {}: reference, engine and interpreter are accepted", a.mode));
  return a;
}

std::string check_outputs(const ImportedModel& model, const std::vector<Datum>& got, const std::string& prefix,
                          const std::vector<Type>& types, const Tolerance& tolerance) {
  for (size_t i = 0; i < model.graph.outputs.size(); ++i) {
    const Datum want = read_datum(fmt::format("{}_output_{}.pb", prefix, i), types[i]);
    if (std::string d = difference(got[i], want, tolerance); !d.empty())
      return fmt::format("output '{}' {}", model.graph.value(model.graph.outputs[i]).name, d);
  }
  return "";
}

std::vector<Type> types_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Type> types;
  for (ValueId id : ids) types.push_back(graph.type(id));
  return types;
}

// The operators' references, or an engine with machine code, or one whose loops are interpreted; built, written, read
// back.
using Runner = std::function<std::vector<Datum>(std::vector<Datum>)>;
Runner runner_of(const std::string& path, const ImportedModel& model, const std::string& mode,
                 const std::string& device) {
  if (mode == "reference") return [&](std::vector<Datum> in) { return evaluate(model.graph, std::move(in)); };
  const Engine built =
      build(load(path), {.device = device, .threads = 1, .verify = Verify::fast, .code = mode == "engine"});
  const std::vector<uint8_t> file = built.to_bytes();
  const Engine engine = Engine::from_bytes(file.data(), file.size());
  auto session = std::make_shared<Session>(engine, SessionOptions{.threads = 1, .device = device});
  if (device == "cpu") return [session](std::vector<Datum> in) { return session->run(in); };
  return [session](std::vector<Datum> in) {  // by launches, then as graphs
    for (int i = 0; i < 2; ++i) session->run(in);
    return session->run(in);
  };
}

// Empty when the case passed.
std::string run_case(const std::string& folder, const Case& c, const std::string& mode, const std::string& device) {
  ImportedModel model = import_onnx(folder + "/model.onnx", {.name = c.name});
  const std::vector<Type> inputs = types_of(model.graph, model.graph.inputs), outputs = model.declared_outputs;
  const Runner run = runner_of(folder + "/model.onnx", model, mode, device);
  for (int set = 0; set < c.sets; ++set) {
    const std::string prefix = fmt::format("{}/{}", folder, set);
    std::vector<Datum> in;
    for (size_t i = 0; i < inputs.size(); ++i)
      in.push_back(read_datum(fmt::format("{}_input_{}.pb", prefix, i), inputs[i]));
    const std::vector<Datum> got = run(std::move(in));
    if (std::string d = check_outputs(model, got, prefix, outputs, c.tolerance); !d.empty()) return d;
  }
  return "";
}

std::string run_case_guarded(const std::string& data, const Case& c, const Arguments& a) {
  try {
    return run_case(data + "/" + c.name, c, a.mode, a.device);
  } catch (const std::exception& e) {
    const std::string what = e.what();
    return what.empty() ? "threw without a message" : what;
  }
}

void write_json(const Outcome& outcome, const std::string& path) {
  nlohmann::ordered_json json = {{"onnx", outcome.onnx_version},
                                 {"mode", outcome.mode},
                                 {"passed", outcome.passed()},
                                 {"total", outcome.cases.size()}};
  for (size_t i = 0; i < outcome.cases.size(); ++i)
    json["cases"][outcome.cases[i].name] = {{"passed", outcome.reasons[i].empty()}, {"reason", outcome.reasons[i]}};
  std::ofstream(path) << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void write_failures(const Outcome& outcome, const std::string& path) {
  std::ofstream out(path);
  for (size_t i = 0; i < outcome.cases.size(); ++i)
    if (!outcome.reasons[i].empty())
      out << outcome.cases[i].name << "\t" << outcome.cases[i].op << "\t" << outcome.reasons[i] << "\n";
}

std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text.size() > 160 ? text.substr(0, 160) + "..." : text;
}

// docs/onnx.md: what is supported, and which cases fail.
// Failures that are understood: what stands in the list instead of the first wrong element.
struct Explained {
  std::string_view prefix, why;
};
constexpr Explained kExplained[] = {
    {"test_bernoulli", "random: the expected numbers are those of numpy's generator, and the seed does not name one"},
    {"test_training_dropout", "random: the expected mask is that of numpy's generator, and the seed does not name one"},
    {"test_dft_inverse",
     "expects the rounding noise of an f32 transform (2e-7) where the result is 0; ours is that of f64 (2e-15)"},
    {"test_image_decoder_decode_jpeg2k", "JPEG 2000 is not read"},
    {"test_image_decoder_decode_webp", "WebP is not read"},
    {"test_attention_4d_causal_fp16_expanded",
     "f16: every node is rounded once here; the expected values are rounded inside softmax too"},
};

std::string explained(const std::string& name, const std::string& reason) {
  for (const Explained& e : kExplained)
    if (name.starts_with(e.prefix)) return std::string(e.why);
  return reason;
}

// Rows of tests/cases/ops that say `unlike onnxruntime` hold these.
constexpr std::string_view kDifferences = R"(
## Where onnxruntime answers otherwise

Every other row of `tests/cases` gives what onnxruntime gives (`tests/conformance/op_cases.py`).

| case | here |
|---|---|
| NaN in MaxPool, GlobalMaxPool, ReduceMax and Min, TopK, ArgMax, ScatterElements max | counts as the largest and wins, wherever it stands |
| NaN in ThresholdedRelu | stays |
| ReduceLogSumExp of large numbers | does not overflow: the largest is taken out |
| sums and products of int64 | wrap; they do not go through f64 |
| ReduceMean of nothing | NaN |
| float to integer outside the range | saturates; NaN gives 0 |
| BitShift by the width or more | everything is shifted out |
| Pad with reflect beyond the size | mirrors again |
| GridSample at NaN | outside |
| MatMulInteger over an empty inner dimension | zeros |
| ConvTranspose with SAME and a kernel below the stride | in * stride, as the standard says |
| MatMulNBits with g_idx and zero points | the zero points count |
| DynamicQuantizeLSTM with a batch | each row of h has its own range, whatever the number of threads |
)";

void write_markdown(const Outcome& outcome, const std::string& data, const std::string& path) {
  std::map<std::string, std::pair<int, int>> by_op;  // passed, all
  for (size_t i = 0; i < outcome.cases.size(); ++i) {
    auto& [passed, all] = by_op[outcome.cases[i].op];
    passed += outcome.reasons[i].empty();
    ++all;
  }
  std::ofstream out(path);
  out << fmt::format(
      "# ONNX operators\n\nWritten by `tests/conformance/run_node_tests` (mode {}); do not edit.\n\nModels of opsets "
      "{} to "
      "{} are read; each operator means what the newest version not above the model's opset says.\nSupported is what "
      "gives "
      "the right result. Steps whose element type has no fast kernel (float16 and double, for many\noperators) run as "
      "references: slow; `trine build` says how many there are.\n\n{} backend node tests: **{} of {} passed**.\n\n| "
      "operator | versions | supported | tests passed |\n|---|---|---|---|\n",
      outcome.mode, kOldestOpset, kNewestOpset, outcome.onnx_version, outcome.passed(), outcome.cases.size());
  std::ifstream operators(data + "/operators.txt");
  for (std::string line; std::getline(operators, line);) {
    const size_t tab = line.find('\t');
    const std::string op = line.substr(0, tab);
    const auto [passed, all] = by_op[op];
    const bool supported = find_onnx_op(op) || op == "Constant" || (all > 0 && passed == all);
    out << fmt::format("| {} | {} | {} | {} |\n", op, line.substr(tab + 1), supported ? "yes" : "no",
                       all ? fmt::format("{} of {}", passed, all) : "");
  }
  out << "\n## Contributed operators\n\n";
  for (const OpDef* op : all_ops())
    if (op->onnx.starts_with("com.microsoft:")) out << "- " << op->onnx << "\n";
  out << kDifferences << "\n## Failing cases\n\n| case | reason |\n|---|---|\n";
  for (size_t i = 0; i < outcome.cases.size(); ++i)
    if (!outcome.reasons[i].empty())
      out << fmt::format("| {} | {} |\n", outcome.cases[i].name,
                         cell(explained(outcome.cases[i].name, outcome.reasons[i])));
}

int run(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  CaseList list = read_cases(arguments.data, arguments.filter);
  Outcome outcome{std::move(list.cases), {}, list.onnx_version, arguments.mode};
  constexpr unsigned kSecondsEach = 60;
  outcome.reasons = run_isolated(outcome.cases.size(), kSecondsEach, arguments.jobs, [&](size_t i) {
    return run_case_guarded(arguments.data, outcome.cases[i], arguments);
  });
  if (!arguments.json.empty()) write_json(outcome, arguments.json);
  if (!arguments.failures.empty()) write_failures(outcome, arguments.failures);
  if (!arguments.markdown.empty()) write_markdown(outcome, arguments.data, arguments.markdown);
  if (!arguments.filter.empty())
    for (size_t i = 0; i < outcome.cases.size(); ++i)
      fmt::print("{}: {}\n", outcome.cases[i].name, outcome.reasons[i].empty() ? "passed" : outcome.reasons[i]);
  fmt::print("{}: {} of {} passed\n", arguments.title, outcome.passed(), outcome.cases.size());
  return 100.0 * static_cast<double>(outcome.passed()) <
         arguments.least_percent * static_cast<double>(outcome.cases.size());
}

}  // namespace
}  // namespace trine::conformance

int main(int argc, char** argv) {
  try {
    return trine::conformance::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 2;
  }
}
