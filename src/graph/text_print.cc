#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "graph/text.h"

namespace trine {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + '"';
}

// A real always shows that it is one, so that the parser keeps its kind.
std::string real_text(double v, bool single = false) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string s = single ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";
  return s;
}

struct AttrPrinter {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return real_text(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const Tensor& v) const { return tensor_text(v); }
  std::string operator()(const Type& v) const { return "type " + v.text(); }
  std::string operator()(const std::vector<int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ",")); }
  std::string operator()(const std::vector<double>& v) const {
    if (v.empty()) return "reals[]";
    return list(v);
  }
  std::string operator()(const std::vector<std::string>& v) const {
    if (v.empty()) return "strings[]";
    return list(v);
  }
  std::string operator()(const std::vector<Tensor>& v) const { return "tensors" + list(v); }

  template <class T>
  std::string list(const std::vector<T>& v) const {
    std::string out = "[";
    for (const T& x : v) out += (out.size() > 1 ? "," : "") + (*this)(x);
    return out + "]";
  }
};

std::string data_text(const Tensor& t) {
  std::string out;
  const auto append = [&](const std::string& s) { out += (out.empty() ? "" : ",") + s; };
  if (t.dtype() == DType::string) {
    for (const std::string& s : t.strings()) append(quoted(s));
  } else if (is_float(t.dtype())) {
    for (double v : t.f64_values()) append(real_text(v, t.dtype() != DType::f64));
  } else if (t.dtype() == DType::u64) {
    for (int64_t v : t.i64_values()) append(std::to_string(static_cast<uint64_t>(v)));
  } else {
    for (int64_t v : t.i64_values()) append(std::to_string(v));
  }
  return out;
}

void print_graph(const Graph& graph, int indent, std::string& out);

std::string declared(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "_";
  return fmt::format("{}: {}", value_name_text(graph.value(id).name), graph.type(id).text());
}

void print_graph(const Graph& graph, int indent, std::string& out) {
  const std::string pad(static_cast<size_t>(indent), ' ');
  std::vector<std::string> parts;
  for (ValueId id : graph.inputs) parts.push_back(declared(graph, id));
  out += fmt::format("graph({}) {{\n", fmt::join(parts, ", "));
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& v = graph.values[i];
    if (!v.constant.defined()) continue;
    out += fmt::format("{}  {} = const {}\n", pad, declared(graph, static_cast<ValueId>(i)), tensor_text(v.constant));
  }
  for (const Node& node : graph.nodes)
    if (node.op) out += pad + "  " + node_text(graph, node, indent + 2) + "\n";
  parts.clear();
  for (ValueId id : graph.outputs) parts.push_back(value_name_text(graph.value(id).name));
  out += fmt::format("{}  return {}\n{}}}", pad, fmt::join(parts, ", "), pad);
}

}  // namespace

std::string attrs_text(const Attrs& attrs) {
  std::string out;
  for (const auto& [name, value] : attrs)
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, std::visit(AttrPrinter{}, value));
  return out.empty() ? "" : "{" + out + "}";
}

std::string tensor_text(const Tensor& t) {
  if (t.elements() > kPrintedElements || is_complex(t.dtype())) return t.type_text() + "{...}";
  return t.type_text() + "{" + data_text(t) + "}";
}

std::string value_name_text(const std::string& name) {
  const bool plain = !name.empty() && name.find_first_of(" \t\n\"\\%:,=(){}[]") == std::string::npos;
  return "%" + (plain ? name : quoted(name));
}

std::string node_text(const Graph& graph, const Node& node, int indent) {
  std::string out;
  for (ValueId id : node.outputs) out += (out.empty() ? "" : ", ") + declared(graph, id);
  out += fmt::format(" = {}", node.op->name);
  for (ValueId id : node.inputs) out += id == kNoValue ? " _" : " " + value_name_text(graph.value(id).name);
  if (!node.attrs.empty()) out += " " + attrs_text(node.attrs);
  if (node.captures > 0) out += fmt::format(" captures={}", node.captures);
  for (const auto& body : node.bodies) {
    out += " ";
    print_graph(*body, indent, out);
  }
  return out;
}

std::string Graph::text() const {
  std::string out;
  print_graph(*this, 0, out);
  return out + "\n";
}

}  // namespace trine
