// Attrs: a node's named constants. Kept sorted by name, so that equal attributes compare, hash and print alike.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "trine/base/tensor.h"

namespace trine {

using AttrValue = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>, Tensor, std::vector<Tensor>, Type>;

class Attrs {
 public:
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const AttrValue* find(std::string_view name) const;
  void set(std::string name, AttrValue value) { values_.insert_or_assign(std::move(name), std::move(value)); }
  void erase(std::string_view name);

  // The value, or `otherwise` when absent. A value of another kind throws Error{invalid_model} naming the attribute.
  int64_t integer(std::string_view name, int64_t otherwise = 0) const;
  double real(std::string_view name, double otherwise = 0) const;
  std::string string(std::string_view name, std::string_view otherwise = "") const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<double> reals(std::string_view name, std::vector<double> otherwise = {}) const;
  std::vector<std::string> strings(std::string_view name) const;
  const Tensor* tensor(std::string_view name) const;          // null when absent
  DType dtype(std::string_view name, DType otherwise) const;  // a string attribute holding "f32", ...

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }
  std::string text() const;  // {axis=1, pads=[1,1]}; empty for none
  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  std::map<std::string, AttrValue, std::less<>> values_;
};

}  // namespace trine
