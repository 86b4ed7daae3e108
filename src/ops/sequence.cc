// Sequences of tensors: construct, empty, at, insert, erase, length, and SequenceMap, which runs a body for each
// element.
#include "ops/shape_rules.h"
#include "ops/type_rules.h"

namespace trine {
namespace {

const Datum::Sequence& items(const EvalContext& c, int input) {
  if (!c.datum(input).is_sequence()) c.fail("input " + std::to_string(input) + " is no sequence");
  return c.datum(input).items();
}

void need_sequence(const InferContext& c, int input) {
  if (c.input(input).kind == Type::Kind::tensor && c.dtype(input) != DType::none)
    c.fail("input " + std::to_string(input) + " is " + c.input(input).text() + "; it must be a sequence");
}

// Keeps the declared type of a sequence that became (or stayed) empty.
Datum sequence_like(const EvalContext& c, int input, Datum::Sequence values) {
  Datum result = Datum::sequence(std::move(values));
  if (result.items().empty()) result.sequence_type = type_of(c.datum(input));
  return result;
}

void infer_construct(InferContext& c) {
  Type element = c.input(0);
  for (int i = 1; i < c.input_count(); ++i) element = join_types(c, element, c.input(i), "an element");
  c.set(0, Type::sequence(element));
}

void construct_reference(EvalContext& c) {
  Datum::Sequence values;
  for (int i = 0; i < c.input_count(); ++i) values.push_back(c.tensor(i));
  c.set(0, Datum::sequence(std::move(values)));
}

const OpDef kSequenceConstruct = {.name = "sequence_construct",
                                  .onnx = "SequenceConstruct",
                                  .doc = "y = (x_0, x_1, ...)",
                                  .types = "T ...",
                                  .min_inputs = 1,
                                  .max_inputs = -1,
                                  .infer = infer_construct,
                                  .reference = construct_reference};
const RegisterOp kRegisterSequenceConstruct(kSequenceConstruct);

Type empty_type(const Attrs& attrs) { return Type::sequence(Type::tensor(attrs.dtype("dtype", DType::f32), Shape())); }

void infer_empty(InferContext& c) { c.set(0, empty_type(c.attrs())); }

void empty_reference(EvalContext& c) {
  Datum empty = Datum::sequence({});
  empty.sequence_type = empty_type(c.attrs());
  c.set(0, std::move(empty));
}

const OpDef kSequenceEmpty = {.name = "sequence_empty",
                              .onnx = "SequenceEmpty",
                              .doc = "y = ()",
                              .min_inputs = 0,
                              .max_inputs = 0,
                              .infer = infer_empty,
                              .reference = empty_reference};
const RegisterOp kRegisterSequenceEmpty(kSequenceEmpty);

void infer_at(InferContext& c) {
  need_sequence(c, 0);
  c.set(0, element_type(c.input(0)));
}

void at_reference(EvalContext& c) {
  const auto& all = items(c, 0);
  const int64_t at = c.checked_index(scalar_integer(c, 1, "position"), static_cast<int64_t>(all.size()), "position");
  c.set(0, all[static_cast<size_t>(at)]);
}

const OpDef kSequenceAt = {.name = "sequence_at",
                           .onnx = "SequenceAt",
                           .doc = "y = x[position]",
                           .types = "? x",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .infer = infer_at,
                           .reference = at_reference};
const RegisterOp kRegisterSequenceAt(kSequenceAt);

void infer_insert(InferContext& c) {
  need_sequence(c, 0);
  c.set(0, Type::sequence(join_types(c, element_type(c.input(0)), c.input(1), "an element")));
}

void insert_reference(EvalContext& c) {
  Datum::Sequence values = items(c, 0);
  const auto n = static_cast<int64_t>(values.size());
  int64_t at = c.has(2) ? scalar_integer(c, 2, "position") : n;
  if (at < -n || at > n)
    c.fail("position " + std::to_string(at) + " outside [" + std::to_string(-n) + ", " + std::to_string(n) + "]");
  if (at < 0) at += n;
  values.insert(values.begin() + at, c.tensor(1));
  c.set(0, Datum::sequence(std::move(values)));
}

const OpDef kSequenceInsert = {.name = "sequence_insert",
                               .onnx = "SequenceInsert",
                               .doc = "y = x with a tensor inserted at `position` (default: at the end)",
                               .types = "? a x",
                               .min_inputs = 2,
                               .max_inputs = 3,
                               .infer = infer_insert,
                               .reference = insert_reference};
const RegisterOp kRegisterSequenceInsert(kSequenceInsert);

void infer_erase(InferContext& c) {
  need_sequence(c, 0);
  infer_same_as_first(c);
}

void erase_reference(EvalContext& c) {
  Datum::Sequence values = items(c, 0);
  const int64_t given = c.has(1) ? scalar_integer(c, 1, "position") : -1;
  values.erase(values.begin() + c.checked_index(given, static_cast<int64_t>(values.size()), "position"));
  c.set(0, sequence_like(c, 0, std::move(values)));
}

const OpDef kSequenceErase = {.name = "sequence_erase",
                              .onnx = "SequenceErase",
                              .doc = "y = x without the element at `position` (default: the last)",
                              .types = "? x",
                              .min_inputs = 1,
                              .max_inputs = 2,
                              .infer = infer_erase,
                              .reference = erase_reference};
const RegisterOp kRegisterSequenceErase(kSequenceErase);

void infer_length(InferContext& c) {
  need_sequence(c, 0);
  c.set(0, DType::i64, Shape(std::vector<Dim>{}));
}

void length_reference(EvalContext& c) { c.set(0, Tensor::scalar_i64(static_cast<int64_t>(items(c, 0).size()))); }

const OpDef kSequenceLength = {.name = "sequence_length",
                               .onnx = "SequenceLength",
                               .doc = "y = number of elements",
                               .types = "?",
                               .infer = infer_length,
                               .reference = length_reference};
const RegisterOp kRegisterSequenceLength(kSequenceLength);

// Inputs are (sequence, more sequences or tensors..., captures...); the body sees one element of each sequence.
int formal_inputs(const Node& node) { return static_cast<int>(node.inputs.size()) - node.captures; }

void infer_map(InferContext& c) {
  need_sequence(c, 0);
  std::vector<Type> types;
  for (int i = 0; i < c.input_count(); ++i) {
    const bool taken_apart = i < formal_inputs(c.node()) && c.input(i).kind == Type::Kind::sequence;
    types.push_back(taken_apart ? element_type(c.input(i)) : c.input(i));
  }
  const auto results = c.infer_body(0, std::move(types));
  for (size_t i = 0; i < results.size(); ++i) c.set(static_cast<int>(i), Type::sequence(results[i]));
}

void map_reference(EvalContext& c) {
  const size_t count = items(c, 0).size();
  const Graph& body = *c.node().bodies[0];
  std::vector<Datum::Sequence> results(body.outputs.size());
  for (size_t k = 0; k < count; ++k) {
    std::vector<Datum> inputs;
    for (int i = 0; i < c.input_count(); ++i) {
      const bool taken_apart = i < formal_inputs(c.node()) && c.datum(i).is_sequence();
      if (taken_apart && c.datum(i).items().size() != count)
        c.fail("input " + std::to_string(i) + " has " + std::to_string(c.datum(i).items().size()) +
               " elements, input 0 " + std::to_string(count) + "; lengths must be equal");
      inputs.push_back(taken_apart ? c.datum(i).items()[k] : c.datum(i));
    }
    const auto outputs = c.run_body(0, std::move(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) results[i].push_back(outputs[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Datum result = Datum::sequence(std::move(results[i]));
    if (count == 0) result.sequence_type = Type::sequence(body.type(body.outputs[i]));
    c.set(static_cast<int>(i), std::move(result));
  }
}

const OpDef kSequenceMap = {.name = "sequence_map",
                            .onnx = "SequenceMap",
                            .doc = "y_j[k] = body(x[k], ...)_j",
                            .types = "? ...",
                            .min_inputs = 1,
                            .max_inputs = -1,
                            .max_outputs = -1,
                            .infer = infer_map,
                            .reference = map_reference};
const RegisterOp kRegisterSequenceMap(kSequenceMap);

}  // namespace
}  // namespace trine
