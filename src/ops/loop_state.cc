#include "ops/loop_state.h"

#include <algorithm>
#include <map>

#include "ops/movement.h"
#include "ops/type_rules.h"

namespace trine {
namespace {

std::vector<std::string> input_symbols(const InferContext& c) {
  std::vector<std::string> names;
  for (int i = 0; i < c.input_count(); ++i)
    for (const Dim& d : c.shape(i).dims()) d.collect_symbols(names);
  return names;
}

// `given` made wide enough for `after` too; sizes that already were widened (symbols that no input has) stay.
Type widened(InferContext& c, const Type& given, const Type& after, int round, bool& changed) {
  if (given == after) return given;
  const std::string what = "a carried value";
  if (round == 0) {
    const Type joined = join_types(c, given, after, what);
    changed = changed || !(joined == given);
    return joined;
  }
  if (!given.is_tensor() || !after.is_tensor() || !given.shape.has_rank()) return join_types(c, given, after, what);
  if (!after.shape.has_rank() || after.shape.rank() != given.shape.rank()) {
    changed = true;
    return Type::tensor(given.dtype, Shape());
  }
  Shape shape = given.shape;
  const std::vector<std::string> outer = input_symbols(c);
  const auto is_wide = [&](const Dim& d) {
    return d.is_symbol() && std::find(outer.begin(), outer.end(), d.text()) == outer.end();
  };
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != after.shape[i] && !is_wide(shape[i])) {
      changed = true;
      shape[i] = c.fresh("carried");
    }
  return Type::tensor(given.dtype, shape);
}

}  // namespace

std::vector<Type> stable_body_types(InferContext& c, std::vector<Type>& carried, size_t first,
                                    const std::function<std::vector<Type>(const std::vector<Type>&)>& body) {
  for (int round = 0;; ++round) {
    const std::vector<Type> out = body(carried);
    if (out.size() < first + carried.size())
      c.fail("the body has " + std::to_string(out.size()) + " outputs; at least " +
             std::to_string(first + carried.size()));
    bool changed = false;
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = widened(c, carried[i], out[first + i], round, changed);
    if (!changed) return out;
    if (round < 2) continue;
    for (Type& t : carried)
      if (t.is_tensor()) t.shape = Shape();
    return body(carried);
  }
}

Tensor stack_trips(const EvalContext& c, const std::vector<Tensor>& trips, int axis) {
  Dims dims = trips[0].dims();
  dims.insert(dims.begin() + axis, static_cast<int64_t>(trips.size()));
  TensorBuilder y(trips[0].dtype(), dims);
  const View whole = View::whole(dims);
  for (size_t i = 0; i < trips.size(); ++i) {
    if (trips[i].dims() != trips[0].dims() || trips[i].dtype() != trips[0].dtype())
      c.fail("a scan output is " + trips[0].type_text() + " in the first trip, " + trips[i].type_text() +
             " in another; it must not change");
    Dims unit = trips[i].dims();
    unit.insert(unit.begin() + axis, 1);
    y.copy(whole.range(axis, static_cast<int64_t>(i), 1), trips[i], View::whole(unit));
  }
  return y.take();
}

Tensor empty_stack(const EvalContext& c, const Graph& body, size_t output, const std::vector<Datum>& inputs,
                   int64_t axis) {
  std::map<std::string, int64_t, std::less<>> sizes;
  for (size_t i = 0; i < inputs.size() && i < body.inputs.size(); ++i) {
    const Type& type = body.type(body.inputs[i]);
    if (!inputs[i].is_tensor() || !type.shape.has_rank() || type.shape.rank() != inputs[i].tensor().rank()) continue;
    for (int k = 0; k < type.shape.rank(); ++k)
      if (type.shape[k].is_symbol()) sizes.emplace(type.shape[k].text(), inputs[i].tensor().dim(k));
  }
  const Bindings bindings = [&](std::string_view name) -> std::optional<int64_t> {
    const auto found = sizes.find(name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  const Type& type = body.type(body.outputs[output]);
  Dims dims;
  for (const Dim& d : type.shape.dims()) dims.push_back(std::max<int64_t>(d.evaluate(bindings).value_or(0), 0));
  const int rank = static_cast<int>(dims.size()) + 1;
  dims.insert(dims.begin() + c.axis(axis, rank), 0);
  return Tensor(type.dtype == DType::none ? DType::f32 : type.dtype, dims);
}

}  // namespace trine
