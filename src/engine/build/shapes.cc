#include "engine/build/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "trine/base/error.h"

namespace trine {
namespace {

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("shapes: {}; write x=1x3x224x224 or x=1..8..32x3x224x224", what));
}

int64_t number(std::string_view text) {
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || v < 0) bad(fmt::format("'{}' is no size", text));
  return v;
}

// "1..4..32": the value in the middle; "1..32": the larger one.
int64_t likely_of(const std::string& text) {
  std::vector<int64_t> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find("..", begin), text.size());
    parts.push_back(number(std::string_view(text).substr(begin, end - begin)));
    begin = end + 2;
    if (end == text.size()) break;
  }
  if (parts.size() > 3 || !std::is_sorted(parts.begin(), parts.end())) bad(fmt::format("'{}' is no range", text));
  return parts.size() == 3 ? parts[1] : parts.back();
}

bool is_number(const std::string& text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos; }

}  // namespace

std::map<std::string, int64_t> apply_shapes(Graph& graph, const std::map<std::string, std::vector<std::string>>& shapes) {
  std::map<std::string, int64_t> likely, fixed;
  for (const auto& [name, dims] : shapes) {
    const auto it = std::find_if(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) { return graph.value(id).name == name; });
    if (it == graph.inputs.end()) {
      std::vector<std::string> have;
      for (ValueId id : graph.inputs) have.push_back(graph.value(id).name);
      bad(fmt::format("no input '{}' (inputs are {})", name, fmt::join(have, ", ")));
    }
    Type& type = graph.value(*it).type;
    if (!type.is_tensor()) bad(fmt::format("input '{}' is {}", name, type.text()));
    if (!type.shape.has_rank()) type.shape = Shape(std::vector<Dim>(dims.size()));
    else if (type.shape.rank() != static_cast<int>(dims.size())) bad(fmt::format("input '{}' is {}, got {} sizes", name, type.text(), dims.size()));
    for (int i = 0; i < type.shape.rank(); ++i) {
      const std::string& text = dims[static_cast<size_t>(i)];
      Dim& dim = type.shape[i];
      if (is_number(text)) {
        const int64_t size = number(text);
        if (dim.is_constant() && dim.value() != size && dim.value() != 0) bad(fmt::format("input '{}' is {}, got size {} in dimension {}", name, type.text(), size, i));
        if (dim.is_symbol()) fixed.emplace(dim.text(), size);
        dim = size;
      } else if (text.find("..") != std::string::npos) {
        if (dim.is_constant()) bad(fmt::format("input '{}' has the fixed size {} in dimension {}", name, dim.text(), i));
        if (dim.is_symbol()) likely[dim.text()] = likely_of(text);
      } else if (text != dim.text()) {
        dim = Dim::symbol(text);
      }
    }
  }
  for (ValueId id : graph.inputs) {  // a symbol fixed in one input is fixed in all
    Type& type = graph.value(id).type;
    for (int i = 0; type.is_tensor() && type.shape.has_rank() && i < type.shape.rank(); ++i)
      type.shape[i] = type.shape[i].substitute([&](std::string_view s) -> std::optional<Dim> {
        const auto it = fixed.find(std::string(s));
        return it == fixed.end() ? std::nullopt : std::optional<Dim>(it->second);
      });
  }
  return likely;
}

}  // namespace trine
