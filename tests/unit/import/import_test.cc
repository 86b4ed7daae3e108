// What a well-formed model becomes.
#include "import/onnx/import.h"

#include <gtest/gtest.h>

#include "graph/eval.h"
#include "model_builder.h"

namespace trine::test {
namespace {

ImportedModel import(const ModelText& text) { return import_onnx_bytes(model(text)); }

Tensor floats(Dims dims, const std::vector<float>& values) {
  return Tensor::of<float>(DType::f32, std::move(dims), values);
}

std::vector<double> run(const ImportedModel& m, std::vector<Datum> inputs) {
  return evaluate(m.graph, std::move(inputs)).at(0).tensor().f64_values();
}

const Bytes kX = value_info("x", kFloat, {"N", "2"});
const Bytes kY = value_info("y", kFloat, {"N", "2"});

TEST(Import, KeepsNamesTypesAndMetadata) {
  ModelText text{.graph = {{{.op = "Relu", .inputs = {"x"}, .outputs = {"y"}, .name = "first"}}, {kX}, {kY}}};
  text.metadata = {{"names", "{0: 'cat'}"}};
  const ImportedModel m = import(text);
  EXPECT_EQ(m.opset, 21);
  EXPECT_EQ(m.producer, "test");
  EXPECT_EQ(m.metadata.at("names"), "{0: 'cat'}");
  ASSERT_EQ(m.graph.inputs.size(), 1u);
  EXPECT_EQ(m.graph.value(m.graph.inputs[0]).name, "x");
  EXPECT_EQ(m.graph.type(m.graph.outputs[0]).text(), "f32[N,2]");
  EXPECT_EQ(m.graph.nodes[0].name, "first");
  EXPECT_EQ(m.graph.nodes[0].sources, std::vector<std::string>{"first"});
}

TEST(Import, DimensionsWithoutANameAreDistinct) {
  const Bytes x = value_info("x", kFloat, {"?", "?", "-1", "2*(T+1)"});
  const ImportedModel m = import({.graph = {{{.op = "Relu", .inputs = {"x"}, .outputs = {"y"}}}, {x}, {kY}}});
  const Shape& shape = m.graph.type(m.graph.inputs[0]).shape;
  EXPECT_FALSE(shape[0] == shape[1]);
  EXPECT_FALSE(shape[1] == shape[2]);
  EXPECT_EQ(Dim::parse(shape[3].text()), shape[3]) << "symbols survive the text form";
}

TEST(Import, InitializerThatIsAlsoAnInputIsAConstant) {
  for (int64_t ir : {3, 8}) {
    ModelText text{.graph = {{{.op = "Add", .inputs = {"x", "w"}, .outputs = {"y"}}},
                             {kX, value_info("w", kFloat, {"2"})},
                             {kY},
                             {float_tensor("w", {2}, {1, 2})}}};
    text.ir_version = ir;
    const ImportedModel m = import(text);
    ASSERT_EQ(m.graph.inputs.size(), 1u);
    EXPECT_EQ(run(m, {floats({1, 2}, {10, 20})}), (std::vector<double>{11, 22}));
  }
}

// Report F5.
TEST(Import, InitializerThatIsAlsoAnOutputIsReturned) {
  const ImportedModel m =
      import({.graph = {{}, {}, {value_info("w", kFloat, {"2"})}, {float_tensor("w", {2}, {3, 4})}}});
  EXPECT_EQ(run(m, {}), (std::vector<double>{3, 4}));
}

TEST(Import, NodesMayStandInAnyOrder) {
  const ImportedModel m = import(
      {.graph = {{{.op = "Neg", .inputs = {"h"}, .outputs = {"y"}}, {.op = "Exp", .inputs = {"x"}, .outputs = {"h"}}},
                 {kX},
                 {kY}}});
  EXPECT_EQ(m.graph.nodes[0].op->onnx, "Exp");
  EXPECT_EQ(run(m, {floats({1, 2}, {0, 0})}), (std::vector<double>{-1, -1}));
}

TEST(Import, EmptyNameIsAnAbsentInput) {
  const NodeText clip{.op = "Clip", .inputs = {"x", "", "high"}, .outputs = {"y"}};
  const ImportedModel m = import({.graph = {{clip}, {kX}, {kY}, {float_tensor("high", {}, {1})}}});
  EXPECT_EQ(m.graph.nodes[0].inputs[1], kNoValue);
  EXPECT_EQ(run(m, {floats({1, 2}, {-5, 5})}), (std::vector<double>{-5, 1}));
}

TEST(Import, DataTypesArriveByName) {
  const NodeText cast{.op = "Cast", .inputs = {"x"}, .outputs = {"y"}, .attributes = {int_attribute("to", kFloat16)}};
  const ImportedModel m = import({.graph = {{cast}, {kX}, {value_info("y", kFloat16, {"N", "2"})}}});
  EXPECT_EQ(m.graph.nodes[0].attrs.dtype("to", DType::none), DType::f16);
}

TEST(Import, ConstantNodesBecomeConstants) {
  const std::vector<std::pair<Bytes, std::string>> kinds = {
      {int_attribute("value_int", 3), "i64[]"},
      {ints_attribute("value_ints", {3, 4}), "i64[2]"},
      {float_attribute("value_float", 3), "f32[]"},
      {floats_attribute("value_floats", {3, 4}), "f32[2]"},
      {string_attribute("value_string", "a"), "string[]"},
      {strings_attribute("value_strings", {"a", "b"}), "string[2]"},
      {tensor_attribute("value", float_tensor("", {1, 2}, {1, 2})), "f32[1,2]"}};
  for (const auto& [attribute, type] : kinds) {
    const NodeText constant{.op = "Constant", .inputs = {}, .outputs = {"y"}, .attributes = {attribute}};
    const ImportedModel m = import({.graph = {{constant}, {}, {kY}}});
    EXPECT_TRUE(m.graph.nodes.empty());
    EXPECT_EQ(m.graph.value(m.graph.outputs[0]).constant.type_text(), type);
  }
}

// Functions.

FunctionText scale_function() {
  const NodeText constant{.op = "Constant",
                          .inputs = {},
                          .outputs = {"s"},
                          .attributes = {reference_attribute("value_float", "factor", 1)}};
  return {"Scale", "my", {"a"}, {"b"}, {"factor"}, {constant, {.op = "Mul", .inputs = {"a", "s"}, .outputs = {"b"}}}};
}

NodeText scale_call(const std::string& from, const std::string& to, float factor) {
  return {.op = "Scale",
          .inputs = {from},
          .outputs = {to},
          .attributes = {float_attribute("factor", factor)},
          .domain = "my"};
}

TEST(Functions, AreInlinedWithTheirOwnNamesAndAttributes) {
  ModelText text{.graph = {{scale_call("x", "s", 2), scale_call("s", "y", 5)}, {kX}, {kY}}};
  text.functions = {scale_function()};
  text.domains = {{"my", 1}};
  const ImportedModel m = import(text);
  EXPECT_EQ(m.graph.nodes.size(), 2u);
  EXPECT_EQ(m.graph.value(m.graph.outputs[0]).name, "y");
  EXPECT_EQ(run(m, {floats({1, 2}, {1, 2})}), (std::vector<double>{10, 20}));
}

TEST(Functions, DefaultsApplyAndNestedCallsHandAttributesOn) {
  NodeText inner{.op = "Scale",
                 .inputs = {"a"},
                 .outputs = {"b"},
                 .attributes = {reference_attribute("factor", "by", 1)},
                 .domain = "my"};
  FunctionText outer{"Outer", "my", {"a"}, {"b"}, {}, {inner}};
  outer.opsets = {{"", 21}, {"my", 1}};
  outer.defaults = {float_attribute("by", 7)};
  ModelText text{.graph = {{{.op = "Outer", .inputs = {"x"}, .outputs = {"y"}, .domain = "my"}}, {kX}, {kY}}};
  text.functions = {scale_function(), outer};
  EXPECT_EQ(run(import(text), {floats({1, 2}, {1, 2})}), (std::vector<double>{7, 14}));
}

TEST(Functions, MayHandAnInputThrough) {
  FunctionText same{"Same", "my", {"a"}, {"a"}, {}, {}};
  ModelText text{.graph = {{{.op = "Same", .inputs = {"x"}, .outputs = {"y"}, .domain = "my"}}, {kX}, {kY}}};
  text.functions = {same};
  const ImportedModel m = import(text);
  EXPECT_EQ(m.graph.value(m.graph.outputs[0]).name, "y");
  EXPECT_EQ(run(m, {floats({1, 2}, {1, 2})}), (std::vector<double>{1, 2}));
}

TEST(Functions, OfTheModelComeBeforeBuiltInOperators) {
  FunctionText gelu{"Gelu", "com.microsoft", {"a"}, {"b"}, {}, {{.op = "Neg", .inputs = {"a"}, .outputs = {"b"}}}};
  ModelText text{.graph = {{{.op = "Gelu", .inputs = {"x"}, .outputs = {"y"}, .domain = "com.microsoft"}}, {kX}, {kY}}};
  text.functions = {gelu};
  EXPECT_EQ(run(import(text), {floats({1, 2}, {1, 2})}), (std::vector<double>{-1, -2}));
}

// Graphs inside nodes.

const Bytes kCondition = value_info("c", kBool, {});

GraphText if_graph(const Bytes& then_branch, const Bytes& else_branch) {
  const NodeText branch{
      .op = "If",
      .inputs = {"c"},
      .outputs = {"y"},
      .attributes = {graph_attribute("else_branch", else_branch), graph_attribute("then_branch", then_branch)}};
  return {{branch}, {kCondition, kX}, {kY}};
}

Tensor truth(bool value) { return Tensor::from_i64(DType::boolean, {}, {value}); }

// Report A11: a branch without nodes returns an outer value.
TEST(Bodies, ABranchMayReturnAnOuterValue) {
  const Bytes then_branch =
      graph({{{.op = "Neg", .inputs = {"x"}, .outputs = {"t"}}}, {}, {value_info("t", kFloat, {})}});
  const Bytes else_branch = graph({{}, {}, {value_info("x", kFloat, {})}});
  const ImportedModel m = import({.graph = if_graph(then_branch, else_branch)});
  const Node& node = m.graph.nodes.at(0);
  EXPECT_EQ(node.captures, 1);
  EXPECT_EQ(node.inputs.size(), 2u);
  ASSERT_EQ(node.bodies.size(), 2u);
  for (const auto& body : node.bodies) EXPECT_EQ(body->inputs.size(), 1u);
  EXPECT_EQ(run(m, {truth(true), floats({1, 2}, {1, 2})}), (std::vector<double>{-1, -2}));
  EXPECT_EQ(run(m, {truth(false), floats({1, 2}, {1, 2})}), (std::vector<double>{1, 2}));
}

TEST(Bodies, ConstantsOfOuterGraphsAreCopiedIn) {
  const Bytes then_branch =
      graph({{{.op = "Add", .inputs = {"x", "w"}, .outputs = {"t"}}}, {}, {value_info("t", kFloat, {})}});
  const Bytes else_branch = graph({{}, {}, {value_info("w", kFloat, {})}});
  GraphText text = if_graph(then_branch, else_branch);
  text.initializers = {float_tensor("w", {1, 2}, {5, 6})};
  const ImportedModel m = import({.graph = text});
  EXPECT_EQ(m.graph.nodes.at(0).captures, 1);
  EXPECT_EQ(run(m, {truth(true), floats({1, 2}, {1, 2})}), (std::vector<double>{6, 8}));
  EXPECT_EQ(run(m, {truth(false), floats({1, 2}, {1, 2})}), (std::vector<double>{5, 6}));
}

TEST(Bodies, NamesAreLookedUpThroughEveryLevel) {
  const Bytes deep =
      graph({{{.op = "Mul", .inputs = {"x", "h"}, .outputs = {"t"}}}, {}, {value_info("t", kFloat, {})}});
  const NodeText inner{.op = "If",
                       .inputs = {"c"},
                       .outputs = {"i"},
                       .attributes = {graph_attribute("then_branch", deep), graph_attribute("else_branch", deep)}};
  const Bytes middle =
      graph({{{.op = "Neg", .inputs = {"x"}, .outputs = {"h"}}, inner}, {}, {value_info("i", kFloat, {})}});
  const ImportedModel m = import({.graph = if_graph(middle, middle)});
  EXPECT_EQ(run(m, {truth(true), floats({1, 2}, {2, 3})}), (std::vector<double>{-4, -9}));
}

// A body may use a name that a node after the `If` in the file makes.
TEST(Bodies, CountWhenNodesAreOrdered) {
  const Bytes branch =
      graph({{{.op = "Neg", .inputs = {"late"}, .outputs = {"t"}}}, {}, {value_info("t", kFloat, {})}});
  GraphText text = if_graph(branch, branch);
  text.nodes.push_back({.op = "Exp", .inputs = {"x"}, .outputs = {"late"}});
  EXPECT_EQ(run(import({.graph = text}), {truth(true), floats({1, 2}, {0, 0})}), (std::vector<double>{-1, -1}));
}

}  // namespace
}  // namespace trine::test
