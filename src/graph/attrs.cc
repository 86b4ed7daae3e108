#include "graph/attrs.h"

#include <fmt/format.h>

#include <cstring>

#include "graph/text.h"
#include "trine/base/error.h"

namespace trine {
namespace {

template <class T>
const T* get(const Attrs& attrs, std::string_view name, std::string_view kind) {
  const AttrValue* value = attrs.find(name);
  if (!value) return nullptr;
  if (const T* v = std::get_if<T>(value)) return v;
  throw Error(ErrorCode::invalid_model, fmt::format("attribute {}: wrong kind; expected {}", name, kind));
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* t = std::get_if<Tensor>(&a)) return same_tensor(*t, std::get<Tensor>(b));
  if (const auto* list = std::get_if<std::vector<Tensor>>(&a)) {
    const auto& other = std::get<std::vector<Tensor>>(b);
    if (list->size() != other.size()) return false;
    for (size_t i = 0; i < list->size(); ++i)
      if (!same_tensor((*list)[i], other[i])) return false;
    return true;
  }
  return std::visit(
      [&](const auto& x) -> bool {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::vector<Tensor>>) return false;
        else return x == std::get<T>(b);
      },
      a);
}

}  // namespace

const AttrValue* Attrs::find(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

void Attrs::erase(std::string_view name) {
  if (auto it = values_.find(name); it != values_.end()) values_.erase(it);
}

int64_t Attrs::integer(std::string_view name, int64_t otherwise) const {
  const auto* v = get<int64_t>(*this, name, "an integer");
  return v ? *v : otherwise;
}

double Attrs::real(std::string_view name, double otherwise) const {
  const auto* v = get<double>(*this, name, "a real number");
  return v ? *v : otherwise;
}

std::string Attrs::string(std::string_view name, std::string_view otherwise) const {
  const auto* v = get<std::string>(*this, name, "a string");
  return v ? *v : std::string(otherwise);
}

std::vector<int64_t> Attrs::integers(std::string_view name, std::vector<int64_t> otherwise) const {
  const auto* v = get<std::vector<int64_t>>(*this, name, "a list of integers");
  return v ? *v : otherwise;
}

std::vector<double> Attrs::reals(std::string_view name, std::vector<double> otherwise) const {
  const auto* v = get<std::vector<double>>(*this, name, "a list of real numbers");
  return v ? *v : otherwise;
}

std::vector<std::string> Attrs::strings(std::string_view name) const {
  const auto* v = get<std::vector<std::string>>(*this, name, "a list of strings");
  return v ? *v : std::vector<std::string>{};
}

const Tensor* Attrs::tensor(std::string_view name) const { return get<Tensor>(*this, name, "a tensor"); }

DType Attrs::dtype(std::string_view name, DType otherwise) const {
  const auto* v = get<std::string>(*this, name, "a data type");
  if (!v) return otherwise;
  const auto type = dtype_from_name(*v);
  if (!type) throw Error(ErrorCode::invalid_model, fmt::format("attribute {}: unknown data type {}", name, *v));
  return *type;
}

std::string Attrs::text() const { return attrs_text(*this); }

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.values_.size() != b.values_.size()) return false;
  for (auto x = a.values_.begin(), y = b.values_.begin(); x != a.values_.end(); ++x, ++y)
    if (x->first != y->first || !same_value(x->second, y->second)) return false;
  return true;
}

}  // namespace trine
