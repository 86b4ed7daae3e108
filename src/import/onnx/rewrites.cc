#include "import/onnx/rewrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "trine/base/error.h"

namespace trine::onnx {
namespace {

Attrs attr(std::string name, AttrValue value) {
  Attrs attrs;
  attrs.set(std::move(name), std::move(value));
  return attrs;
}

ValueId vector(GraphWriter& writer, const std::vector<int64_t>& values) {
  return writer.add_constant(Tensor::vector_i64(values));
}

[[noreturn]] void unsupported(const std::string& what) { throw Error(ErrorCode::unsupported, what); }

}  // namespace

ValueId scalar_like(GraphWriter& writer, ValueId x, double value) {
  const DType dtype = writer.type(x).dtype;
  if (is_float(dtype) || is_integer(dtype)) return writer.add_constant(Tensor::from_f64(dtype, {}, {value}));
  return writer.apply("CastLike", {writer.add_constant(Tensor::scalar_f32(static_cast<float>(value))), x});
}

// y = reshape(softmax(flatten(x, axis), 1), shape(x)): the dimensions from `axis` on are one.
void softmax_over_flattened(ImportNode& node, GraphWriter& writer) {
  const ValueId x = node.input(0);
  const int64_t axis = node.attrs.integer("axis", 1);
  const Shape& shape = writer.type(x).shape;
  if (shape.has_rank() && (axis == shape.rank() - 1 || axis == -1)) return node.attrs.set("axis", int64_t{-1});
  const ValueId shape_of_x = writer.apply("Shape", {x});
  const ValueId flat = writer.apply("Flatten", {x}, attr("axis", axis));
  const ValueId y = writer.apply(node.op, {flat}, attr("axis", int64_t{1}));
  node.op = "Reshape";
  node.inputs = {y, shape_of_x};
  node.attrs = attr("allowzero", int64_t{1});
}

// Statistics, scale and bias have one element for each element of x past the batch: plain broadcasting.
void batch_norm_per_element(ImportNode& node, GraphWriter& writer) {
  const int64_t spatial = node.attrs.integer("spatial", 1);
  node.attrs.erase("spatial");
  if (spatial != 0) return;
  if (node.wanted.size() > 1) unsupported("spatial = 0 with the outputs of training");
  if (node.inputs.size() != 5)
    throw Error(ErrorCode::invalid_model, fmt::format("has {} inputs; 5 are accepted", node.inputs.size()));
  const ValueId x = node.input(0), scale = node.input(1), bias = node.input(2), mean = node.input(3),
                var = node.input(4);
  const ValueId epsilon = scalar_like(writer, x, node.attrs.real("epsilon", 1e-5));
  const ValueId deviation = writer.apply("Sqrt", {writer.apply("Add", {var, epsilon})});
  const ValueId normal = writer.apply("Div", {writer.apply("Sub", {x, mean}), deviation});
  node.op = "Add";
  node.inputs = {writer.apply("Mul", {normal, scale}), bias};
  node.attrs = {};
}

// Y alone is inference; Y, mean, var is training, whose running statistics they are.
void batch_norm_by_outputs(ImportNode& node, GraphWriter&) {
  if (node.wants(3) || node.wants(4)) unsupported("asks for saved_mean or saved_var, which later versions do not have");
  if (node.wants(1) || node.wants(2)) node.attrs.set("training_mode", int64_t{1});
  if (node.wanted.size() > 3) unsupported("names five outputs; remove those of training");
}

// Scale and bias of a group become those of each of its channels: expand [G, 1] to [G, C/G], flatten.
void group_norm_per_group(ImportNode& node, GraphWriter& writer) {
  const int64_t groups = node.attrs.integer("num_groups", 0);
  if (groups <= 0)
    throw Error(ErrorCode::invalid_model, fmt::format("num_groups is {}; at least 1 is accepted", groups));
  Attrs channel;
  channel.set("start", int64_t{1});
  channel.set("end", int64_t{2});
  const ValueId channels = writer.apply("Shape", {node.input(0)}, channel);
  const ValueId count = vector(writer, {groups});
  const ValueId each = writer.apply("Div", {channels, count});
  const ValueId wide = writer.apply("Concat", {count, each}, attr("axis", int64_t{0}));
  for (size_t i : {1u, 2u}) {
    const ValueId column = writer.apply("Reshape", {node.input(i), vector(writer, {groups, 1})});
    node.set_input(i, writer.apply("Reshape", {writer.apply("Expand", {column, wide}), vector(writer, {-1})}));
  }
}

void upsample_to_resize(ImportNode& node, GraphWriter& writer) {
  ValueId scales = node.input(1);
  if (node.attrs.has("scales")) {
    const std::vector<double> values = node.attrs.reals("scales");
    scales = writer.add_constant(Tensor::from_f64(DType::f32, {static_cast<int64_t>(values.size())}, values));
  }
  if (scales == kNoValue) throw Error(ErrorCode::invalid_model, "has no scales");
  const std::string mode = node.attrs.string("mode", "nearest");
  node.op = "Resize";
  node.inputs = {node.input(0), kNoValue, scales};
  node.attrs = attr("mode", mode == "bilinear" ? "linear" : mode);
  node.attrs.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attrs.set("nearest_mode", std::string("floor"));
}

// Opset 10 left the rounding of `nearest` open; as onnxruntime does, enlarging rounds down and shrinking rounds up.
void resize_asymmetric(ImportNode& node, GraphWriter& writer) {
  const ValueId scales = node.input(1);
  bool shrinks = false;
  if (const Tensor& t = writer.constant(scales); t.defined() && is_float(t.dtype())) {
    const std::vector<double> values = t.f64_values();
    shrinks = std::any_of(values.begin(), values.end(), [](double s) { return s < 1; });
    if (shrinks && std::any_of(values.begin(), values.end(), [](double s) { return s > 1; }))
      unsupported(
          "enlarges one dimension and shrinks another, which opset 10 leaves open; convert the model to opset 11");
  }
  node.inputs = {node.input(0), kNoValue, scales};
  node.attrs.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attrs.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
}

// Exporters write an absent roi, scales or sizes as a constant without elements.
void resize_without_empty_inputs(ImportNode& node, GraphWriter& writer) {
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (const Tensor& t = writer.constant(node.inputs[i]); t.defined() && t.elements() == 0) node.inputs[i] = kNoValue;
}

// Every input has a batch axis in front: an outer scan over it, whose body holds the scan of one sequence.
void scan_over_batch(ImportNode& node, GraphWriter& writer) {
  if (node.input(0) != kNoValue) unsupported("has sequence_lens; sequences of one length are supported");
  if (node.inputs.empty() || node.bodies.size() != 1) throw Error(ErrorCode::invalid_model, "has no inputs or no body");
  node.inputs.erase(node.inputs.begin());
  const int64_t scanned = node.attrs.integer("num_scan_inputs", 0);

  Node inner;
  inner.op = find_onnx_op("Scan");
  if (!inner.op) unsupported("the operator is not supported");
  inner.name = "sequence";
  inner.attrs = attr("num_scan_inputs", scanned);
  if (node.attrs.has("directions")) inner.attrs.set("scan_input_directions", node.attrs.integers("directions"));
  inner.bodies = std::move(node.bodies);
  inner.captures = static_cast<int>(node.captures.size());
  GraphWriter outer(writer.budget(), false);
  for (ValueId id : node.inputs) {
    const DType dtype = writer.type(id).dtype;
    inner.inputs.push_back(outer.add_input("", Type::tensor(dtype, Shape())));
  }
  for (ValueId id : node.captures) inner.inputs.push_back(outer.add_input("", writer.type(id)));
  for (size_t i = 0; i < node.wanted.size(); ++i) inner.outputs.push_back(outer.add_value(""));
  outer.graph.outputs = inner.outputs;
  outer.append(std::move(inner));

  node.attrs = attr("num_scan_inputs", static_cast<int64_t>(node.inputs.size()));
  node.bodies = {std::make_shared<Graph>(std::move(outer.graph))};
}

// classes_strings[i] <-> i, in the direction that the input's type tells.
void label_encoder_by_classes(ImportNode& node, GraphWriter& writer) {
  std::vector<std::string> classes = node.attrs.strings("classes_strings");
  std::vector<int64_t> numbers(classes.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  node.attrs.erase("classes_strings");
  const DType dtype = writer.type(node.input(0)).dtype;
  if (dtype == DType::none) unsupported("the type of its input is not known");
  const bool to_numbers = dtype == DType::string;
  node.attrs.set(to_numbers ? "keys_strings" : "values_strings", std::move(classes));
  node.attrs.set(to_numbers ? "values_int64s" : "keys_int64s", std::move(numbers));
}

}  // namespace trine::onnx
