#include "op_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "../rounding.h"

namespace trine::test {
// The next word; a word that starts with '{' or '[' runs to its closing bracket.
std::string next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  int depth = 0;
  size_t end = 0;
  for (; end < rest.size() && (depth > 0 || rest[end] != ' '); ++end) {
    if (rest[end] == '{' || rest[end] == '[') ++depth;
    if (rest[end] == '}' || rest[end] == ']') --depth;
  }
  const std::string word(rest.substr(0, end));
  rest.remove_prefix(end);
  return word;
}

namespace {

// "f32[N=3,5]>0" -> type "f32[N,5]" and "f32[3,5]", suffix ">0". A literal's type is what stands before its '{'.
struct Operand {
  std::string declared, actual, suffix;
  bool literal = false;
};
Operand operand_of(const std::string& word) {
  Operand o;
  const size_t end = word.find(']') + 1;
  if (end == 0) throw std::runtime_error("no type: " + word);
  const std::string type = word.substr(0, end);
  o.declared = std::regex_replace(type, std::regex("(\\w+)=\\d+"), "$1");
  o.actual = std::regex_replace(type, std::regex("\\w+=(\\d+)"), "$1");
  o.suffix = word.substr(end);
  o.literal = o.suffix.starts_with("{");
  return o;
}

Tensor literal(const std::string& type, const std::string& braces) {
  const Graph g = Graph::parse("graph() { %c: " + type + " = const " + type + braces + "\n return %c }");
  return g.value(g.outputs[0]).constant;
}

Tensor random_tensor(const Operand& o, std::mt19937& random) {
  const Type type = Type::parse(o.actual);
  const Dims dims = type.shape.static_dims();
  const auto count = static_cast<size_t>(element_count(dims));
  if (is_float(type.dtype)) {
    std::normal_distribution<double> normal;
    std::vector<double> values(count);
    for (double& v : values) v = o.suffix == ">0" ? std::abs(normal(random)) + 0.1 : normal(random);
    return Tensor::from_f64(type.dtype, dims, values);
  }
  const bool index = o.suffix.starts_with("<");
  const bool boolean = type.dtype == DType::boolean;
  const int64_t low = index || boolean ? 0 : o.suffix == ">0" || integer_min(type.dtype) == 0 ? 1 : -9;
  std::uniform_int_distribution<int64_t> pick(low, index ? std::stoll(o.suffix.substr(1)) - 1 : boolean ? 1 : 9);
  std::vector<int64_t> values(count);
  for (int64_t& v : values) {
    do v = pick(random);
    while (v == 0 && !index && !boolean);
  }
  return Tensor::from_i64(type.dtype, dims, values);
}

}  // namespace

static void read_result(OpCase& c, bool exact, std::string_view rest) {
  if (!exact) {
    c.eps_count = std::stod(next_word(rest));
    next_word(rest);  // eps
  }
  std::string word = next_word(rest);
  if (word == "gives")
    while (!(word = next_word(rest)).empty()) c.gives.push_back(word);
  if (!word.empty()) throw std::runtime_error("`" + word + "` after the tolerance: " + c.text);
}

OpCase parse_op_case(const std::string& text) {
  OpCase c;
  c.text = text;
  std::string row = text.substr(0, text.find(" # "));
  row.erase(row.find_last_not_of(' ') + 1);
  if (row.size() == text.size()) throw std::runtime_error("a row ends in ` # why`: " + text);
  std::string_view rest = row;
  c.op = next_word(rest);
  for (std::string word = next_word(rest);; word = next_word(rest)) {
    if (word.starts_with("{")) c.attrs = word;
    else if (word == "outputs") c.outputs = std::stoi(next_word(rest));
    else if (word == "exact" || word == "within") return read_result(c, word == "exact", rest), c;
    else if (word == "error:") return c.error = rest.substr(1), c;
    else if (word.empty()) throw std::runtime_error("a row says `exact`, `within k eps` or `error: text`: " + text);
    else c.operands.push_back(word);
  }
}

std::vector<OpCase> read_op_cases(const std::string& folder) {
  std::vector<OpCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    int line = 0;
    for (std::string text; std::getline(file, text);) {
      ++line;
      if (text.empty() || text[0] == '#') continue;
      cases.push_back(parse_op_case(text));
      cases.back().file = entry.path().stem().string();
      cases.back().line = line;
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const OpCase& a, const OpCase& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
  return cases;
}

Graph graph_of(const OpCase& c) {
  std::string inputs, arguments, outputs;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (c.operands[i] == "_") {
      arguments += " _";
      continue;
    }
    inputs += fmt::format("{}%x{}: {}", inputs.empty() ? "" : ", ", i, operand_of(c.operands[i]).declared);
    arguments += fmt::format(" %x{}", i);
  }
  for (int i = 0; i < c.outputs; ++i) outputs += fmt::format("{}%y{}", i ? ", " : "", i);
  return Graph::parse(
      fmt::format("graph({}) {{\n {} = {}{} {}\n return {}\n}}", inputs, outputs, c.op, arguments, c.attrs, outputs));
}

std::vector<Tensor> draw_inputs(const OpCase& c, std::mt19937& random) {
  std::vector<Tensor> inputs;
  for (const std::string& word : c.operands) {
    if (word == "_") continue;
    const Operand o = operand_of(word);
    inputs.push_back(o.literal ? literal(o.actual, o.suffix) : random_tensor(o, random));
  }
  return inputs;
}

Tensor literal_of(const std::string& word) {
  const Operand o = operand_of(word);
  return literal(o.actual, o.suffix);
}

std::optional<Tensor> given_output(const OpCase& c, size_t i) {
  if (i >= c.gives.size() || c.gives[i] == "_") return std::nullopt;
  return literal_of(c.gives[i]);
}

Graph with_constants(Graph graph, const std::vector<Tensor>& inputs) {
  for (size_t i = 1; i < inputs.size(); ++i) {
    Value& value = graph.value(graph.inputs[i]);
    value.constant = inputs[i];
    value.type = Type::tensor(inputs[i].dtype(), Shape::from(inputs[i].dims()));
  }
  graph.inputs.resize(std::min<size_t>(graph.inputs.size(), 1));
  return graph;
}

std::string difference(const Tensor& got, const Tensor& want, double eps_count) {
  if (got.type_text() != want.type_text()) return fmt::format("got {}, want {}", got.type_text(), want.type_text());
  if (!is_float(want.dtype())) {
    if (want.dtype() == DType::string) return got.strings() == want.strings() ? "" : "strings differ";
    const auto g = got.i64_values(), w = want.i64_values();
    for (size_t i = 0; i < w.size(); ++i)
      if (g[i] != w[i]) return fmt::format("element {}: got {}, want {}", i, g[i], w[i]);
    return "";
  }
  const auto g = got.f64_values(), w = want.f64_values();
  double largest = 0;
  for (double v : w)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  const double allowed = eps_count * epsilon(want.dtype()) * largest;
  double worst = 0;
  std::string text;
  for (size_t i = 0; i < w.size(); ++i) {
    if (g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i]))) continue;
    const double error = std::abs(g[i] - w[i]);  // NaN when only one of them is, infinite when only one of them is
    if (error <= std::max(allowed, worst)) continue;
    worst = std::isnan(error) ? INFINITY : error;
    text = fmt::format("element {}: got {:.9g}, want {:.9g}, which is {:.3g} eps of the largest", i, g[i], w[i],
                       error / epsilon(want.dtype()) / largest);
  }
  return text;
}

}  // namespace trine::test
