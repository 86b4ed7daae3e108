// Every operator that has a loop form, in every element type its shape rule takes, against its reference.
#include "harness.h"
#include "trine/base/error.h"

namespace trine {
namespace {

using namespace test;

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,  DType::i16,    DType::i32,
                            DType::i64, DType::u8,  DType::u16, DType::u32,  DType::u64, DType::boolean};

// Loop IR computes in f32 (f64) what the reference computes in f64 and rounds: a few roundings of the type. Functions
// are good to some ulp; ill-conditioned arguments multiply that, hence the factor.
double tolerance(DType type) {
  switch (type) {
    case DType::f64: return 256 * 0x1p-52;
    case DType::f16: return 2 * 0x1p-10;
    case DType::bf16: return 2 * 0x1p-7;
    default: return 64 * 0x1p-23;
  }
}

struct Inputs {
  std::vector<Tensor> tensors;
  Attrs attrs;
};

// Attributes and special inputs of operators that need some.
Inputs inputs_for(const OpDef& op, DType type, std::mt19937& rng) {
  Inputs in;
  const Dims dims{3, 37};
  const int count = op.max_inputs < 0 ? 3 : std::max(op.min_inputs, std::min(op.max_inputs, 2));
  for (int i = 0; i < count; ++i) in.tensors.push_back(random_tensor(type, i == 1 ? Dims{37} : dims, rng));
  const std::string_view n = op.name;
  if (n == "cast") in.attrs.set("to", std::string("f32"));
  if (n == "cast_like") in.tensors[1] = random_tensor(DType::i16, {}, rng);
  if (n == "bit_shift") in.attrs.set("direction", std::string(rng() % 2 ? "LEFT" : "RIGHT"));
  if (n == "where") in.tensors[0] = random_tensor(DType::boolean, dims, rng);
  if (n == "clip") in.tensors = {in.tensors[0], Tensor::from_i64(type, {}, {2}), Tensor::from_i64(type, {}, {5})};
  if (n == "dropout") in.tensors.resize(1);
  if (n == "swiglu") in.tensors[1] = random_tensor(type, dims, rng);
  if (n == "quantize_linear" || n == "dequantize_linear") in.tensors[1] = random_tensor(DType::f32, {}, rng);
  return in;
}

// Every pair of special values meets in a binary operator: rows of x against elements of y.
void set_special_values(Inputs& in, DType type) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> special = {0.0, -0.0, kInf, -kInf, kNan, 1, -1, 0.5, -2.5, 1e-6, 1e4, -1e4};
  const auto n = static_cast<int64_t>(special.size());
  std::vector<double> x;
  for (double a : special) x.insert(x.end(), special.size(), a);
  for (size_t i = 0; i < in.tensors.size(); ++i) {
    Tensor& t = in.tensors[i];
    if (t.dtype() != type || t.elements() == 1) continue;
    if (t.rank() == 1) t = Tensor::from_f64(type, {n}, special);
    else t = Tensor::from_f64(type, {n, n}, x);
  }
  for (Tensor& t : in.tensors)
    if (t.dtype() == DType::boolean && type != DType::boolean)
      t = Tensor::from_i64(DType::boolean, {n, 1}, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
}

Graph graph_of(const OpDef& op, const Inputs& in) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Tensor& t : in.tensors) ids.push_back(graph.add_input("", Type::tensor(t.dtype(), Shape::from(t.dims()))));
  graph.outputs.push_back(graph.add_node(op, ids, in.attrs));
  return graph;
}

// Not elementwise by name, since axes or a type come from elsewhere, but one element in, one out here.
bool acts_alone(std::string_view op_name) {
  return op_name == "cast_like" || op_name == "dropout" || op_name == "quantize_linear" ||
         op_name == "dequantize_linear";
}

// Calls test(graph, inputs, type) for each elementwise operator and type that can run; returns how many did.
template <class F>
int for_each_elementwise(bool special, std::mt19937& rng, F test) {
  int compared = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->lower || !(op->elementwise || acts_alone(op->name))) continue;
    bool lowered_once = false;
    for (DType type : kTypes) {
      if (special && !is_float(type)) continue;
      Inputs in = inputs_for(*op, type, rng);
      if (special) set_special_values(in, type);
      Graph graph = graph_of(*op, in);
      try {
        infer_shapes(graph);
      } catch (const Error&) {
        continue;  // not of this type
      }
      if (!codegen::lower_group(graph)) continue;
      SCOPED_TRACE(std::string(op->name) + " of " + std::string(name(type)));
      try {
        test(graph, in.tensors, std::max(tolerance(type), tolerance(graph.type(graph.outputs[0]).dtype)));
      } catch (const Error& e) {
        ADD_FAILURE() << e.what();
      }
      lowered_once = true;
      ++compared;
    }
    EXPECT_TRUE(special || lowered_once) << op->name << " has a lowering but no type in which it works";
  }
  return compared;
}

TEST(Operators, ElementwiseInEveryType) {
  std::mt19937 rng(seed());
  const auto matches = [](const Graph& g, const auto& in, double t) { expect_matches(g, in, t); };
  EXPECT_GT(for_each_elementwise(false, rng, matches), 300);
}

TEST(Operators, SpecialValues) {
  std::mt19937 rng(seed());
  const auto matches = [](const Graph& g, const auto& in, double t) { expect_matches(g, in, t); };
  EXPECT_GT(for_each_elementwise(true, rng, matches), 100);
}

// --- operators with folds: attributes and inputs by hand ---

struct Fold {
  std::string_view op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  int outputs = 1;
  int constants_from = 99;  // inputs from here on are constants
};

Attrs attributes(std::initializer_list<std::pair<std::string, AttrValue>> list) {
  Attrs attrs;
  for (const auto& [name, value] : list) attrs.set(name, value);
  return attrs;
}

void expect_fold(const Fold& fold, DType type) {
  Graph graph;
  std::vector<ValueId> ids;
  std::vector<Tensor> given;
  for (size_t i = 0; i < fold.inputs.size(); ++i) {
    const Tensor& t = fold.inputs[i];
    if (!t.defined()) ids.push_back(kNoValue);
    else if (static_cast<int>(i) >= fold.constants_from) ids.push_back(graph.add_constant(t));
    else {
      ids.push_back(graph.add_input("", Type::tensor(t.dtype(), Shape::from(t.dims()))));
      given.push_back(t);
    }
  }
  const ValueId first = graph.add_node(op(fold.op), ids, fold.attrs, fold.outputs);
  for (int i = 0; i < fold.outputs; ++i) graph.outputs.push_back(first + i);
  SCOPED_TRACE(std::string(fold.op) + fold.attrs.text() + " of " + std::string(name(type)));
  try {
    infer_shapes(graph);
    expect_matches(graph, given, tolerance(type));
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
}

TEST(Operators, ReductionsInEveryType) {
  std::mt19937 rng(seed());
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1",
                           "reduce_l2", "reduce_log_sum", "reduce_log_sum_exp", "reduce_sum_square"}) {
    for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const Tensor x = random_tensor(type, {3, 5, 7}, rng);
      for (const std::vector<int64_t>& axes : {std::vector<int64_t>{2}, {0}, {1}, {0, 2}, {-1, -2}, {}})
        for (int64_t keep : {0, 1})
          expect_fold({name, attributes({{"keepdims", keep}}), {x, Tensor::vector_i64(axes)}, 1, 1}, type);
      expect_fold({name, attributes({{"noop_with_empty_axes", int64_t{1}}}), {x}}, type);
    }
  }
  for (const char* name : {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"})
    for (DType type : {DType::i8, DType::u8, DType::i32, DType::u32, DType::i64})
      expect_fold({name, {}, {random_tensor(type, {3, 37}, rng), Tensor::vector_i64({1})}, 1, 1}, type);
  for (const char* name : {"reduce_max", "reduce_min"})
    expect_fold({name, {}, {random_tensor(DType::boolean, {9, 5}, rng), Tensor::vector_i64({1})}, 1, 1},
                DType::boolean);
}

TEST(Operators, ReductionsOverNothing) {
  for (const char* name :
       {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_log_sum_exp"})
    expect_fold({name, {}, {Tensor(DType::f32, {3, 0}), Tensor::vector_i64({1})}, 1, 1}, DType::f32);
}

TEST(Operators, PositionsAndSoftmax) {
  std::mt19937 rng(seed());
  for (const char* name : {"arg_max", "arg_min", "hardmax", "softmax", "log_softmax"}) {
    for (int64_t axis : {0, 1, -1}) {
      const bool positions = name[0] == 'a';
      for (DType type : {DType::f32, DType::f64, DType::f16, DType::i32, DType::u8}) {
        if (!positions && !is_float(type)) continue;
        const Tensor x = random_tensor(type, {5, 6, 9}, rng);
        expect_fold({name, attributes({{"axis", axis}}), {x}}, type);
        if (!positions) continue;
        expect_fold(
            {name, attributes({{"axis", axis}, {"select_last_index", int64_t{1}}, {"keepdims", int64_t{0}}}), {x}},
            type);
      }
    }
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::of<float>(DType::f32, {2, 4}, {1, nan, 3, nan, 2, 2, 1, 2});
  for (const char* name : {"arg_max", "arg_min", "hardmax"})
    expect_fold({name, attributes({{"axis", int64_t{1}}}), {x}}, DType::f32);
}

TEST(Operators, Normalisations) {
  std::mt19937 rng(seed());
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const auto random = [&](Dims dims) { return random_tensor(type, std::move(dims), rng); };
    const Tensor x = random({2, 6, 5, 3}), row = random({3}), channels = random({6});
    const Tensor positive = Tensor::from_f64(type, {6}, {0.5, 1, 2, 3, 0.25, 4});
    expect_fold({"layer_normalization", {}, {x, row, random({3})}, 3}, type);
    expect_fold({"layer_normalization", attributes({{"axis", int64_t{2}}}), {x, random({5, 3})}}, type);
    expect_fold({"rms_normalization", {}, {x, row}}, type);
    expect_fold({"simplified_layer_normalization", {}, {x, row}, 2}, type);
    expect_fold({"skip_layer_normalization", {}, {x, random({6, 5, 3}), row, random({3}), random({3})}, 4}, type);
    expect_fold({"skip_simplified_layer_normalization", {}, {x, x, row, random({3})}, 4}, type);
    expect_fold({"batch_normalization", {}, {x, channels, random({6}), random({6}), positive}}, type);
    expect_fold({"instance_normalization", {}, {x, channels, random({6})}}, type);
    for (int64_t groups : {1, 2, 6})
      expect_fold({"group_normalization", attributes({{"num_groups", groups}}), {x, channels, random({6})}}, type);
    for (int64_t p : {1, 2}) expect_fold({"lp_normalization", attributes({{"axis", int64_t{1}}, {"p", p}}), {x}}, type);
    expect_fold({"mean_variance_normalization", {}, {x}}, type);
    for (int64_t size : {1, 2, 3, 9}) expect_fold({"lrn", attributes({{"size", size}}), {x}}, type);
  }
}

TEST(Operators, Quantisation) {
  std::mt19937 rng(seed());
  const Tensor x = random_tensor(DType::f32, {4, 6}, rng);
  const auto scales = [](Dims dims, std::vector<double> values) {
    return Tensor::from_f64(DType::f32, std::move(dims), values);
  };
  for (DType type : {DType::i8, DType::u8, DType::i16, DType::u16}) {
    const Attrs by_row = attributes({{"axis", int64_t{0}}});
    const Attrs blocks = attributes({{"axis", int64_t{1}}, {"block_size", int64_t{3}}});
    const Tensor rows = scales({4}, {0.01, 0.02, 0.03, 0.5}), zeros = Tensor::from_i64(type, {4}, {0, 3, 5, 1});
    const Tensor block = scales({4, 2}, {0.01, 0.02, 0.03, 0.5, 0.1, 0.2, 0.3, 1});
    expect_fold({"quantize_linear", by_row, {x, rows, zeros}}, type);
    expect_fold({"quantize_linear", {}, {x, scales({}, {0.02}), Tensor::from_i64(type, {1}, {7})}}, type);
    expect_fold({"quantize_linear", blocks, {x, block, Tensor::from_i64(type, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}},
                type);
    const Tensor q = random_tensor(type, {4, 6}, rng);
    expect_fold({"dequantize_linear", by_row, {q, rows, zeros}}, DType::f32);
    expect_fold({"dequantize_linear", blocks, {q, block}}, DType::f32);
  }
  expect_fold({"dynamic_quantize_linear", {}, {x}, 3}, DType::f32);
}

}  // namespace
}  // namespace trine
