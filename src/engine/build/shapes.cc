#include "engine/build/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "trine/base/error.h"

namespace trine {
namespace {

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("shapes: {}; write x=1x3x224x224 or x=1..8..32x3x224x224", what));
}

int64_t number(std::string_view text) {
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || v < 0) bad(fmt::format("'{}' is no size", text));
  return v;
}

// "1..4..32": likely is the value in the middle; "1..32": the larger one.
SymbolRange range_of(const std::string& text) {
  std::vector<int64_t> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find("..", begin), text.size());
    parts.push_back(number(std::string_view(text).substr(begin, end - begin)));
    begin = end + 2;
    if (end == text.size()) break;
  }
  if (parts.size() > 3 || !std::is_sorted(parts.begin(), parts.end())) bad(fmt::format("'{}' is no range", text));
  return {parts.front(), parts.size() == 3 ? parts[1] : parts.back(), parts.back()};
}

bool is_name(const std::string& text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Of a dimension that the model does not name: a range belongs to a symbol.
std::string symbol_for(const std::string& input, int i) {
  std::string symbol = fmt::format("d{}_{}", i, input);
  for (char& c : symbol)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return symbol;
}

// One symbol has one range.
void set_range(SymbolRanges& ranges, Dim& dim, const SymbolRange& range, const std::string& input, int i) {
  if (dim.is_constant()) bad(fmt::format("input '{}' has the fixed size {} in dimension {}", input, dim.text(), i));
  if (!dim.is_symbol())
    bad(fmt::format("input '{}' has the size {} in dimension {}; a range fits a plain symbol", input, dim.text(), i));
  const auto [at, fresh] = ranges.emplace(dim.text(), range);
  if (fresh) return;
  SymbolRange& both = at->second;
  both = {std::max(both.min, range.min), both.likely, std::min(both.max, range.max)};
  if (both.min > both.max) bad(fmt::format("the ranges of {} do not overlap", dim.text()));
  both.likely = std::clamp(both.likely, both.min, both.max);
}

}  // namespace

SymbolRanges apply_shapes(Graph& graph, const std::map<std::string, std::vector<std::string>>& shapes) {
  SymbolRanges ranges;
  std::map<std::string, int64_t> fixed;
  for (const auto& [name, dims] : shapes) {
    const auto it = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                 [&](ValueId id) { return graph.value(id).name == name; });
    if (it == graph.inputs.end()) {
      std::vector<std::string> have;
      for (ValueId id : graph.inputs) have.push_back(graph.value(id).name);
      bad(fmt::format("no input '{}' (inputs are {})", name, fmt::join(have, ", ")));
    }
    Type& type = graph.value(*it).type;
    if (!type.is_tensor()) bad(fmt::format("input '{}' is {}", name, type.text()));
    const bool nameless = !type.shape.has_rank();
    if (nameless) type.shape = Shape(std::vector<Dim>(dims.size()));
    else if (type.shape.rank() != static_cast<int>(dims.size()))
      bad(fmt::format("input '{}' is {}, got {} sizes", name, type.text(), dims.size()));
    for (int i = 0; i < type.shape.rank(); ++i) {
      const std::string& text = dims[static_cast<size_t>(i)];
      Dim& dim = type.shape[i];
      if (is_number(text)) {
        const int64_t size = number(text);
        if (dim.is_constant() && dim.value() != size && dim.value() != 0)
          bad(fmt::format("input '{}' is {}, got size {} in dimension {}", name, type.text(), size, i));
        if (dim.is_symbol() && fixed.emplace(dim.text(), size).first->second != size)
          bad(fmt::format("{} is {} in one input and {} in '{}'", dim.text(), fixed.at(dim.text()), size, name));
        dim = size;
      } else if (text.find("..") != std::string::npos) {
        if (nameless) dim = Dim::symbol(symbol_for(name, i));
        set_range(ranges, dim, range_of(text), name, i);
      } else if (text != dim.text()) {
        if (!is_name(text))
          bad(fmt::format("'{}' for dimension {} of input '{}'; a size, a name or a range is accepted", text, i, name));
        if (dim.is_constant() && dim.value() != 0)
          bad(fmt::format("input '{}' has the fixed size {} in dimension {}", name, dim.text(), i));
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
  for (const auto& [symbol, size] : fixed) ranges.erase(symbol);
  return ranges;
}

}  // namespace trine
