// reshape_to, expand_to: reshape and expand whose target is a list of expressions instead of a tensor.
#include "ops/shaped.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "codegen/lower.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/broadcast.h"
#include "ops/shape_rules.h"
#include "trine/base/error.h"

namespace trine {

Dim local_dim(int input, int dim) { return Dim::symbol(fmt::format("{}{}", static_cast<char>('a' + input), dim)); }

namespace {

// Where a symbol of the model stands as a dimension by itself.
std::optional<Dim> find_symbol(std::string_view name, const std::vector<Shape>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_rank()) continue;
    for (int d = 0; d < inputs[i].rank(); ++d)
      if (inputs[i][d] == Dim::symbol(name)) return local_dim(static_cast<int>(i), d);
  }
  return std::nullopt;
}

std::optional<Dim> find_dim(const Dim& wanted, const std::vector<Shape>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_rank()) continue;
    for (int d = 0; d < inputs[i].rank(); ++d)
      if (inputs[i][d] == wanted) return local_dim(static_cast<int>(i), d);
  }
  return std::nullopt;
}

std::optional<Dim> as_local(const Dim& wanted, const std::vector<Shape>& inputs) {
  if (wanted.is_constant()) return wanted;
  if (const auto whole = find_dim(wanted, inputs)) return whole;
  std::vector<std::string> symbols;
  wanted.collect_symbols(symbols);
  for (const std::string& s : symbols)
    if (!find_symbol(s, inputs)) return std::nullopt;
  return wanted.substitute([&](std::string_view name) { return find_symbol(name, inputs); });
}

// Dimension that a local symbol means; nothing for a name that is none.
std::optional<Dim> meaning(std::string_view symbol, const std::vector<Shape>& inputs) {
  const size_t input = static_cast<size_t>(symbol[0] - 'a');
  int dim = -1;
  const auto [end, status] = std::from_chars(symbol.data() + 1, symbol.data() + symbol.size(), dim);
  if (status != std::errc() || end != symbol.data() + symbol.size() || input >= inputs.size()) return std::nullopt;
  if (!inputs[input].has_rank() || dim < 0 || dim >= inputs[input].rank()) return std::nullopt;
  return inputs[input][dim];
}

}  // namespace

std::optional<std::vector<std::string>> local_dims(const Shape& target, const std::vector<Shape>& inputs) {
  std::vector<std::string> texts;
  for (const Dim& d : target.dims()) {
    const auto local = as_local(d, inputs);
    if (!local) return std::nullopt;
    texts.push_back(local->text());
  }
  return texts;
}

Shape resolve_dims(const std::vector<std::string>& dims, const std::vector<Shape>& inputs) {
  std::vector<Dim> resolved;
  for (const std::string& text : dims) {
    const Dim local = Dim::parse(text);
    std::vector<std::string> symbols;
    local.collect_symbols(symbols);
    for (const std::string& s : symbols)
      if (!meaning(s, inputs))
        throw Error(ErrorCode::invalid_model,
                    fmt::format("dims: '{}' in '{}' names no dimension of an input; write a0 for the first of input 0",
                                s, text));
    resolved.push_back(local.substitute([&](std::string_view s) { return meaning(s, inputs); }));
  }
  return Shape(std::move(resolved));
}

namespace {

std::vector<Shape> input_shapes(const InferContext& c) {
  std::vector<Shape> shapes;
  for (int i = 0; i < c.input_count(); ++i) shapes.push_back(c.shape(i));
  return shapes;
}

Dims concrete_dims(const EvalContext& c) {
  std::vector<Shape> shapes;
  for (int i = 0; i < c.input_count(); ++i) shapes.push_back(Shape::from(c.tensor(i).dims()));
  const Dims dims = resolve_dims(c.attrs().strings("dims"), shapes).static_dims();
  element_count(dims);
  return dims;
}

bool ranks_are_known(const InferContext& c) {
  for (int i = 0; i < c.input_count(); ++i)
    if (!c.shape(i).has_rank()) return false;
  return true;
}

void reshape_to_infer(InferContext& c) {
  const auto dims = c.attrs().strings("dims");
  if (!ranks_are_known(c)) return c.set(0, c.dtype(0), c.fresh_shape(static_cast<int>(dims.size())));
  const Shape y = resolve_dims(dims, input_shapes(c));
  if (y.is_static() && c.shape(0).is_static() && y.elements() != c.shape(0).elements())
    c.fail(fmt::format("cannot reshape {} to [{}]; the number of elements must stay", c.input(0).text(), y.text()));
  c.set(0, c.dtype(0), y);
}

void reshape_to_reference(EvalContext& c) {
  const Dims dims = concrete_dims(c);
  if (element_count(dims) != c.tensor(0).elements())
    c.fail(fmt::format("cannot reshape {} to [{}]; the number of elements must stay", c.tensor(0).type_text(),
                       to_string(dims)));
  c.set(0, c.tensor(0).reshaped(dims));
}

const OpDef op_reshape_to = {
    .name = "reshape_to",
    .doc = "x under the dimensions `dims`, written in terms of the inputs' own; inputs past the first only lend sizes",
    .types = "a ...",
    .max_inputs = -1,
    .infer = reshape_to_infer,
    .reference = reshape_to_reference,
    .lower = nullptr,
    .view = true,
};
const RegisterOp register_reshape_to(op_reshape_to);

void expand_to_infer(InferContext& c) {
  const auto dims = c.attrs().strings("dims");
  if (!ranks_are_known(c)) return c.set(0, c.dtype(0), c.fresh_shape(static_cast<int>(dims.size())));
  const Shape y = resolve_dims(dims, input_shapes(c));
  check_expands(c, y);
  broadcast(c.shape(0), y);
  c.set(0, c.dtype(0), y);
}

void expand_to_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Dims dims = concrete_dims(c);
  for (size_t i = 1; i <= std::min(dims.size(), x.dims().size()); ++i)
    if (x.dims()[x.dims().size() - i] != 1 && x.dims()[x.dims().size() - i] != dims[dims.size() - i])
      c.fail(fmt::format("cannot expand {} to [{}]; sizes must be equal or 1", x.type_text(), to_string(dims)));
  Tensor y(x.dtype(), dims);
  const size_t size = byte_size(x.dtype());
  for (Walk w(dims, {broadcast_strides(x.dims(), dims)}); !w.done(); w.next())
    std::memcpy(y.mutable_as<char>() + static_cast<size_t>(w.position()) * size,
                x.as<char>() + static_cast<size_t>(w.offset(0)) * size, size);
  c.set(0, std::move(y));
}

codegen::Scalar expand_to_lower(codegen::LowerContext& c) { return c.load(0); }

const OpDef op_expand_to = {
    .name = "expand_to",
    .doc =
        "x repeated to the dimensions `dims`, written in terms of the inputs' own; inputs past the first only lend "
        "sizes",
    .types = "a ...",
    .max_inputs = -1,
    .infer = expand_to_infer,
    .reference = expand_to_reference,
    .lower = expand_to_lower,
};
const RegisterOp register_expand_to(op_expand_to);

}  // namespace
}  // namespace trine
