#include "ops/shape_rules.h"

#include <algorithm>

namespace trine {

Dim product(const Shape& shape, int from, int to) {
  Dim result = 1;
  for (int i = from; i < to; ++i) result = result * shape[i];
  return result;
}

int64_t scalar_integer(const EvalContext& c, int input, std::string_view what) {
  const Tensor& t = c.tensor(input);
  if (t.elements() != 1) c.fail(std::string(what) + " is " + t.type_text() + "; it must hold one element");
  return t.i64_values()[0];
}

std::optional<int64_t> known_scalar(const InferContext& c, int input) {
  const auto values = c.integers(input);
  if (!values) return std::nullopt;
  if (values->size() != 1)
    c.fail("input " + std::to_string(input) + " holds " + std::to_string(values->size()) +
           " elements; it must hold one");
  return (*values)[0];
}

void check_expands(InferContext& c, const Shape& target) {
  const Shape& x = c.shape(0);
  for (int i = 1; i <= std::min(x.rank(), target.rank()); ++i) {
    const auto from = x[x.rank() - i].constant(), to = target[target.rank() - i].constant();
    if (from && to && *from != 1 && *to != 1 && *from != *to)
      c.fail("cannot expand " + c.input(0).text() + " to [" + target.text() + "]; sizes must be equal or 1");
  }
}

void keep_content(InferContext& c) {
  if (auto content = c.content(0)) c.set_content(0, *content);
}

std::optional<int64_t> known_length(const InferContext& c, int i) {
  const Shape& s = c.shape(i);
  if (!s.has_rank() || s.rank() != 1) return std::nullopt;
  return s[0].constant();
}

}  // namespace trine
