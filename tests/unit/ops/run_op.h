// Runs one operator by its reference, and holds its shape rule to what came out: with inputs of known type, and again
// with every input a constant.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "graph/eval.h"
#include "graph/infer.h"
#include "trine/base/error.h"

namespace trine::test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

inline Tensor floats(Dims dims, const std::vector<float>& values) {
  return Tensor::of(DType::f32, std::move(dims), values);
}
inline Tensor floats(const std::vector<float>& values) { return floats({static_cast<int64_t>(values.size())}, values); }
inline Tensor as(DType type, Dims dims, const std::vector<double>& values) {
  return Tensor::from_f64(type, std::move(dims), values);
}
inline Tensor ints(DType type, Dims dims, const std::vector<int64_t>& values) {
  return Tensor::from_i64(type, std::move(dims), values);
}
inline Tensor i64s(const std::vector<int64_t>& values) { return Tensor::vector_i64(values); }

// A graph of one node; an input that is !defined() is absent.
inline Graph graph_of(std::string_view op_name, const std::vector<Tensor>& inputs, const Attrs& attrs, int outputs,
                      bool constants) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Tensor& t : inputs) {
    if (!t.defined()) ids.push_back(kNoValue);
    else if (constants) ids.push_back(graph.add_constant(t));
    else ids.push_back(graph.add_input("", Type::tensor(t.dtype(), Shape::from(t.dims()))));
  }
  const ValueId first = graph.add_node(op(op_name), ids, attrs, outputs);
  for (int i = 0; i < outputs; ++i) graph.outputs.push_back(first + i);
  return graph;
}

inline std::vector<Tensor> run_op(std::string_view op_name, const std::vector<Tensor>& inputs, const Attrs& attrs = {},
                                  int outputs = 1) {
  std::vector<Tensor> result;
  for (bool constants : {false, true}) {
    Graph graph = graph_of(op_name, inputs, attrs, outputs, constants);
    infer_shapes(graph);
    std::vector<Datum> given;
    for (const Tensor& t : inputs)
      if (t.defined() && !constants) given.push_back(t);
    const std::vector<Datum> made = evaluate(graph, given);
    result.clear();
    for (size_t i = 0; i < made.size(); ++i) {
      const Type& inferred = graph.type(graph.outputs[i]);
      EXPECT_EQ(name(made[i].tensor().dtype()), name(inferred.dtype)) << op_name << " output " << i;
      if (inferred.shape.is_static()) {
        EXPECT_EQ(made[i].tensor().dims(), inferred.shape.static_dims()) << op_name << " output " << i;
      }
      EXPECT_TRUE(!constants || inferred.shape.has_rank()) << op_name << " output " << i;
      result.push_back(made[i].tensor());
    }
  }
  return result;
}

// Result 0 as numbers.
inline std::vector<double> reals(std::string_view op_name, const std::vector<Tensor>& inputs, const Attrs& attrs = {}) {
  return run_op(op_name, inputs, attrs)[0].f64_values();
}
inline std::vector<int64_t> integers(std::string_view op_name, const std::vector<Tensor>& inputs,
                                     const Attrs& attrs = {}) {
  return run_op(op_name, inputs, attrs)[0].i64_values();
}

// Attributes in one expression: attributes({{"axis", int64_t{1}}}).
inline Attrs attributes(std::initializer_list<std::pair<std::string, AttrValue>> list) {
  Attrs attrs;
  for (const auto& [name, value] : list) attrs.set(name, value);
  return attrs;
}

// NaN equals NaN; otherwise |a - b| <= tolerance * max(1, |b|).
inline void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    else if (std::isinf(want[i])) EXPECT_EQ(got[i], want[i]) << "element " << i;
    else EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << "element " << i;
  }
}

}  // namespace trine::test
