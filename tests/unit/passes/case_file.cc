#include "case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "../rounding.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/text.h"
#include "trine/base/error.h"

namespace trine::testing {
namespace {

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) items.push_back(trimmed(item));
  return items;
}

}  // namespace

PassCase read_case(const std::string& path) {
  std::ifstream in(path);
  PassCase c{.file = path};
  std::string before, after, *section = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line == "before") section = &before;
    else if (line == "after") section = &after;
    else if (section) *section += line + "\n";
    else if (line.starts_with("#")) c.why += line.substr(1) + "\n";
    else if (line.starts_with("passes:")) c.passes = split(line.substr(7));
  }
  if (c.passes.empty() || before.empty())
    throw Error(ErrorCode::invalid_argument, path + ": want passes, before and after");
  c.before = Graph::parse(before);
  c.after = after.empty() ? Graph() : Graph::parse(after);
  return c;
}

namespace {

std::string constant_text(const Tensor& t) {
  if (is_float(t.dtype()) && t.elements() != 1) return t.type_text();
  if (is_float(t.dtype())) return fmt::format("{}{{{:.5g}}}", t.type_text(), t.f64_values()[0]);
  return tensor_text(t);
}

void rename(Graph& graph) {
  int next = 0;
  std::vector<char> named(graph.values.size(), 0);
  const auto name = [&](ValueId v) {
    if (v == kNoValue || named[static_cast<size_t>(v)]) return;
    named[static_cast<size_t>(v)] = 1;
    graph.value(v).name = graph.is_constant(v) ? constant_text(graph.value(v).constant) : std::to_string(next++);
  };
  for (ValueId v : graph.inputs) named[static_cast<size_t>(v)] = 1;
  for (ValueId v : graph.outputs)
    if (!graph.is_constant(v)) named[static_cast<size_t>(v)] = 1;
  for (Node& node : graph.nodes) {
    for (ValueId v : node.inputs) name(v);
    for (ValueId v : node.outputs) name(v);
    for (auto& body : node.bodies) {
      body = std::make_shared<Graph>(*body);
      for (size_t i = 0; i < body->inputs.size(); ++i) body->value(body->inputs[i]).name = "in" + std::to_string(i);
      for (size_t i = 0; i < body->outputs.size(); ++i)
        if (std::find(body->inputs.begin(), body->inputs.end(), body->outputs[i]) == body->inputs.end())
          body->value(body->outputs[i]).name = "out" + std::to_string(i);
      rename(*body);
    }
  }
}

void print(const Graph& graph, int indent, std::string& out) {
  const std::string pad(static_cast<size_t>(indent), ' ');
  const auto list = [&](const std::vector<ValueId>& ids, bool types) {
    std::string text;
    for (ValueId v : ids) {
      text += text.empty() ? "" : ", ";
      if (v == kNoValue) text += "_";
      else if (types || !graph.is_constant(v))
        text += "%" + graph.value(v).name + (types ? ": " + graph.type(v).text() : "");
      else text += constant_text(graph.value(v).constant);
    }
    return text;
  };
  out += fmt::format("({}) {{\n", list(graph.inputs, true));
  for (const Node& node : graph.nodes) {
    std::vector<ValueId> inputs = node.inputs;
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    out += fmt::format("{}  {} = {} {}", pad, list(node.outputs, true), node.op->name, list(inputs, false));
    if (!node.attrs.empty()) out += " " + attrs_text(node.attrs);
    for (const auto& body : node.bodies) print(*body, indent + 2, out += " ");
    out += "\n";
  }
  out += fmt::format("{}  return {}\n{}}}", pad, list(graph.outputs, false), pad);
}

}  // namespace

std::string canonical_text(Graph graph) {
  rename(graph);
  infer_shapes(graph);
  std::string out;
  print(graph, 0, out);
  return out + "\n";
}

std::vector<std::string> symbols_of(const Graph& graph) {
  std::vector<std::string> symbols;
  for (ValueId v : graph.inputs)
    for (const Dim& d : graph.type(v).shape.dims()) d.collect_symbols(symbols);
  return symbols;
}

std::vector<Datum> random_inputs(const Graph& graph, const Symbols& symbols, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<Datum> inputs;
  for (ValueId v : graph.inputs) {
    const Type& type = graph.type(v);
    const auto dims = type.shape.evaluate([&](std::string_view name) -> std::optional<int64_t> {
      for (const auto& [symbol, value] : symbols)
        if (symbol == name) return value;
      return std::nullopt;
    });
    if (!dims) throw Error(ErrorCode::invalid_argument, "random_inputs: no value for a symbol of " + type.text());
    std::vector<double> values(static_cast<size_t>(element_count(*dims)));
    for (double& x : values)
      x = is_float(type.dtype) ? normal(engine)
                               : static_cast<double>(engine() % (type.dtype == DType::boolean ? 2 : 4));
    inputs.push_back(Tensor::from_f64(type.dtype, *dims, values));
  }
  return inputs;
}

namespace {

using test::epsilon;

double largest(const Tensor& t, double below) {
  double most = 0;
  if (is_float(t.dtype()))
    for (double x : t.f64_values())
      if (std::abs(x) < below) most = std::max(most, std::abs(x));
  return most;
}

// Of the coarsest float that is stored anywhere.
double coarsest(const Graph& graph) {
  double most = 0;
  for (const Value& v : graph.values)
    if (v.type.dtype == DType::f16 || v.type.dtype == DType::bf16) most = std::max(most, epsilon(v.type.dtype));
  return most;
}

std::string compare(const Tensor& a, const Tensor& b, double eps, double nodes, double scale) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return fmt::format("{} became {}", a.type_text(), b.type_text());
  if (!is_float(a.dtype())) return a.i64_values() == b.i64_values() ? "" : "integers differ";
  const auto x = a.f64_values(), y = b.f64_values();
  const double tolerance = std::max(eps, epsilon(a.dtype())) * nodes * std::max(scale, largest(a, 1e300));
  for (size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) || std::abs(x[i] - y[i]) <= tolerance;
    if (!same) return fmt::format("element {}: {} became {}; tolerance {}", i, x[i], y[i], tolerance);
  }
  return "";
}

}  // namespace

std::string difference(const Graph& before, const Graph& after, const std::vector<Datum>& inputs) {
  double scale = 1;
  const auto want = evaluate(before, inputs, [&](ValueId, const Datum& d) {
    if (d.is_tensor()) scale = std::max(scale, largest(d.tensor(), 100));
  });
  const auto got = evaluate(after, inputs);
  if (want.size() != got.size()) return "the number of outputs changed";
  for (size_t i = 0; i < want.size(); ++i) {
    if (!want[i].is_tensor()) continue;
    const std::string wrong = compare(want[i].tensor(), got[i].tensor(), coarsest(after),
                                      2.0 + static_cast<double>(before.nodes.size()), scale);
    if (!wrong.empty()) return fmt::format("output {}: {}", i, wrong);
  }
  return "";
}

}  // namespace trine::testing
