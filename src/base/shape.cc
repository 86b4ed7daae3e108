#include "trine/base/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trine/base/error.h"

namespace trine {

int64_t element_count(std::span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank))
    throw Error(ErrorCode::invalid_model, fmt::format("shape: rank {} exceeds {}", dims.size(), kMaxRank));
  int64_t count = 1;
  bool empty = false;
  for (int64_t d : dims) {
    if (d < 0)
      throw Error(ErrorCode::invalid_model, fmt::format("shape: negative dimension {} in [{}]", d, to_string(dims)));
    if (d == 0) empty = true;
    else if (count <= kMaxElements) count = d > kMaxElements / count ? kMaxElements + 1 : count * d;
  }
  if (empty) return 0;
  if (count > kMaxElements)
    throw Error(ErrorCode::invalid_model, fmt::format("shape: [{}] has more than 2^47 elements", to_string(dims)));
  return count;
}

std::string to_string(std::span<const int64_t> dims) { return fmt::format("{}", fmt::join(dims, ",")); }

Shape Shape::from(std::span<const int64_t> dims) { return std::vector<Dim>(dims.begin(), dims.end()); }

bool Shape::is_static() const {
  if (!known_) return false;
  for (const Dim& d : dims_)
    if (!d.is_constant()) return false;
  return true;
}

Dims Shape::static_dims() const {
  TRINE_CHECK(is_static(), text());
  Dims out;
  for (const Dim& d : dims_) out.push_back(d.value());
  return out;
}

std::optional<Dims> Shape::evaluate(const Bindings& bindings) const {
  if (!known_) return std::nullopt;
  Dims out;
  for (const Dim& d : dims_) {
    const auto v = d.evaluate(bindings);
    if (!v) return std::nullopt;
    out.push_back(*v);
  }
  return out;
}

Dim Shape::elements() const {
  TRINE_CHECK(known_);
  Dim product(1);
  for (const Dim& d : dims_) product = product * d;
  return product;
}

std::string Shape::text() const {
  if (!known_) return "*";
  std::string out;
  for (const Dim& d : dims_) out += (out.empty() ? "" : ",") + d.text();
  return out;
}

Type Type::sequence(Type element) {
  return {Kind::sequence, DType::none, {}, std::make_shared<const Type>(std::move(element))};
}

Type Type::optional(Type element) {
  return {Kind::optional, DType::none, {}, std::make_shared<const Type>(std::move(element))};
}

std::string Type::text() const {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::tensor: return fmt::format("{}[{}]", dtype == DType::none ? "?" : name(dtype), shape.text());
    case Kind::sequence: return fmt::format("seq({})", element ? element->text() : "?");
    case Kind::optional: return fmt::format("opt({})", element ? element->text() : "?");
  }
  return "none";
}

namespace {

[[noreturn]] void bad_type(std::string_view text) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("type: cannot read '{}'; write f32[N,128], seq(...) or opt(...)", text));
}

// Splits at commas outside parentheses.
std::vector<Dim> parse_dims(std::string_view text) {
  std::vector<Dim> dims;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    if (!text.empty()) dims.push_back(Dim::parse(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return dims;
}

Type parse_type(std::string_view text, int depth) {
  if (text == "none") return {};
  if (depth > 20) bad_type(text);
  if ((text.starts_with("seq(") || text.starts_with("opt(")) && text.ends_with(')')) {
    const std::string_view inner = text.substr(4, text.size() - 5);
    Type t{text[0] == 's' ? Type::Kind::sequence : Type::Kind::optional, DType::none, {}, nullptr};
    if (inner != "?") t.element = std::make_shared<const Type>(parse_type(inner, depth + 1));
    return t;
  }
  const size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) bad_type(text);
  const std::string_view type_name = text.substr(0, open);
  const auto dtype = type_name == "?" ? std::optional(DType::none) : dtype_from_name(type_name);
  if (!dtype) bad_type(text);
  const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  return Type::tensor(*dtype, inner == "*" ? Shape() : Shape(parse_dims(inner)));
}

}  // namespace

Type Type::parse(std::string_view text) { return parse_type(text, 0); }

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  if (!a.element || !b.element) return !a.element == !b.element;
  return *a.element == *b.element;
}

}  // namespace trine
