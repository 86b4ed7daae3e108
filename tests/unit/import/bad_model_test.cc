// Files that are no models, and models that break the rules: each gives one clear error.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <random>

#include "import/onnx/import.h"
#include "model_builder.h"
#include "trine/base/error.h"

namespace trine::test {
namespace {

std::string error_of(const Bytes& bytes, ErrorCode* code = nullptr) {
  try {
    import_onnx_bytes(bytes, {.name = "m.onnx"});
  } catch (const Error& e) {
    if (code) *code = e.code();
    return e.what();
  }
  return "no error";
}
std::string error_of(const ModelText& text) { return error_of(model(text)); }

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

const Bytes kX = value_info("x", kFloat, {"N", "2"});
const Bytes kY = value_info("y", kFloat, {"N", "2"});
const NodeText kRelu{.op = "Relu", .inputs = {"x"}, .outputs = {"y"}};
const ModelText kGood{.graph = {{kRelu}, {kX}, {kY}}};

// Report A13 and its kin.
TEST(BadFile, IsNoModel) {
  EXPECT_HAS(error_of("dummy\n"), "m.onnx: is not an ONNX model, or damaged");
  EXPECT_HAS(error_of(""), "m.onnx: is empty");
  EXPECT_HAS(error_of("<html>"), "is not an ONNX model");
  EXPECT_HAS(error_of("{\"a\": 1}"), "is not an ONNX model");
  EXPECT_HAS(error_of(std::string(100, '\0')), "is not an ONNX model");
  EXPECT_HAS(error_of("version https://git-lfs.github.com/spec/v1\noid"), "git lfs pull");
  EXPECT_HAS(error_of(Bytes("\x08\x08", 2)), "ir_version 8, no graph");
}

TEST(BadFile, CannotBeOpened) {
  EXPECT_THROW(import_onnx("/nonexistent/m.onnx"), Error);
  EXPECT_THROW(import_onnx("/tmp"), Error);
  EXPECT_THROW(import_onnx("/dev/null"), Error);
}

TEST(BadFile, OfAnUnknownVersion) {
  ModelText text = kGood;
  text.opset = 999;
  EXPECT_HAS(error_of(text), "m.onnx: uses opset 999; 7 to 28 are supported");
  text = kGood;
  text.ir_version = 99;
  EXPECT_HAS(error_of(text), "has ir_version 99; 3 to 14 are supported");
}

TEST(BadFile, EveryTruncationIsAnErrorOrAModel) {
  const Bytes whole = model(kGood);
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NO_FATAL_FAILURE(error_of(whole.substr(0, n))) << n;
}

TEST(BadFile, FlippedBitsAreAnErrorOrAModel) {
  ModelText text = kGood;
  text.graph.initializers = {float_tensor("w", {2}, {1, 2}), int64_tensor("axes", {1}, {1})};
  text.graph.nodes.push_back({.op = "Unsqueeze", .inputs = {"y", "axes"}, .outputs = {"z"}});
  const Bytes whole = model(text);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    error_of(damaged);
  }
}

TEST(BadFile, RandomBytesAreAnErrorOrAModel) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const Bytes whole = model(kGood);
  for (int trial = 0; trial < 3000; ++trial) {
    Bytes damaged = whole;
    for (int i = 0; i < 4; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    error_of(damaged);
  }
}

// Report D1.
TEST(BadModel, UnknownElementType) {
  ModelText text = kGood;
  text.graph.inner = {value_info("h", 999, {"2"})};
  EXPECT_HAS(error_of(text), "value 'h': unknown elem_type 999");
  text = kGood;
  text.graph.inputs = {value_info("x", -3, {"2"})};
  EXPECT_HAS(error_of(text), "input 'x': unknown elem_type -3");
}

TEST(BadModel, ImpossibleDimensions) {
  ModelText text = kGood;
  text.graph.inputs = {value_info("x", kFloat, {"2", "-7"})};
  EXPECT_HAS(error_of(text), "input 'x': dimension 1 is -7");
  text.graph.inputs = {value_info("x", kFloat, {"9223372036854775807"})};
  EXPECT_HAS(error_of(text), "dimension 0 is 9223372036854775807");
  text.graph.inputs = {value_info("x", kFloat, std::vector<std::string>(60, "1"))};
  EXPECT_HAS(error_of(text), "more than 16 dimensions");
}

TEST(BadModel, Cycle) {
  ModelText text = kGood;
  text.graph.nodes = {{.op = "Add", .inputs = {"x", "b"}, .outputs = {"a"}, .name = "one"},
                      {.op = "Neg", .inputs = {"a"}, .outputs = {"b"}, .name = "two"}};
  EXPECT_HAS(error_of(text), "2 nodes form a cycle or depend on one: 'one' (Add), 'two' (Neg)");
}

TEST(BadModel, NamesMadeTwiceOrNever) {
  ModelText text = kGood;
  text.graph.nodes.push_back({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}, .name = "again"});
  EXPECT_HAS(error_of(text), "output 'y' is already made by something else");
  text = kGood;
  text.graph.nodes[0].inputs = {"nowhere"};
  EXPECT_HAS(error_of(text), "input 'nowhere' is made by no node, input or initializer");
  text = kGood;
  text.graph.outputs = {value_info("gone", kFloat, {})};
  EXPECT_HAS(error_of(text), "output 'gone' of graph 'g' is made by no node");
  text = kGood;
  text.graph.inputs = {kX, kX};
  EXPECT_HAS(error_of(text), "input 'x' is there twice");
  text = kGood;
  text.graph.initializers = {float_tensor("w", {}, {1}), float_tensor("w", {}, {1})};
  EXPECT_HAS(error_of(text), "initializer 'w' is there twice");
  text = kGood;
  text.graph.nodes[0].op = "Softmax";
  text.graph.nodes[0].attributes = {int_attribute("axis", 0), int_attribute("axis", 1)};
  EXPECT_HAS(error_of(text), "attribute 'axis' is there twice");
}

TEST(BadModel, EveryWrongNodeIsToldInOneError) {
  ModelText text = kGood;
  text.graph.nodes = {{.op = "Frobnicate", .inputs = {"x"}, .outputs = {"a"}, .name = "n1"},
                      {.op = "Relu", .inputs = {"a"}, .outputs = {"y"}, .name = "fine"},
                      {.op = "Blend", .inputs = {"x", "", "x"}, .outputs = {"b"}, .name = "n2", .domain = "my.own"}};
  text.domains = {{"my.own", 3}};
  ErrorCode code{};
  const std::string error = error_of(model(text), &code);
  EXPECT_EQ(code, ErrorCode::unsupported);
  EXPECT_HAS(error, "m.onnx: 2 nodes cannot be imported:");
  EXPECT_HAS(error,
             "node 'n1' (Frobnicate, domain 'ai.onnx', opset 21; inputs x: f32[N,2]): the operator is not supported");
  EXPECT_HAS(error, "node 'n2' (Blend, domain 'my.own', opset 3; inputs x: f32[N,2], none, x: f32[N,2]): the operator");
  EXPECT_EQ(error.find("fine"), std::string::npos) << error;
}

TEST(BadModel, ArityIsChecked) {
  ModelText text = kGood;
  text.graph.nodes[0].inputs = {"x", "x"};
  EXPECT_HAS(error_of(text), "has 2 inputs; 1 to 1 are accepted");
  text = kGood;
  text.graph.nodes[0].outputs = {"y", "z"};
  EXPECT_HAS(error_of(text), "has 2 outputs; 1 to 1 are accepted");
}

// Report A1: a weight of rank 0.
TEST(BadModel, ConvolutionWithAScalarWeight) {
  const NodeText conv{.op = "Conv", .inputs = {"x", "w", "b"}, .outputs = {"y"}, .name = "c"};
  ModelText text{.graph = {{conv},
                           {value_info("x", kFloat, {"7", "6", "1", "5"}), value_info("w", kFloat, {}),
                            value_info("b", kFloat, {"7", "2", "3", "2", "1"})},
                           {kY}}};
  text.opset = 11;
  const std::string error = error_of(text);
  EXPECT_HAS(error, "node 'c' (Conv");
  EXPECT_HAS(error, "f32[]");
}

// Nesting and unfolding.

Bytes varint(size_t n) {
  Bytes bytes;
  for (; n >= 128; n >>= 7) bytes += static_cast<char>((n & 127) | 128);
  return bytes + static_cast<char>(n);
}

// Written back to front, every message's nested field last, so that the bytes are copied once and not once a level.
Bytes nested_if(int depth) {
  const Bytes leaf = graph({{}, {}, {value_info("x", kFloat, {})}});
  const Bytes node_head =
      node({.op = "If", .inputs = {"c"}, .outputs = {"t"}, .attributes = {graph_attribute("else_branch", leaf)}});
  const Bytes graph_head = graph({{}, {}, {value_info("t", kFloat, {})}});
  const Bytes attribute_head = Bytes("\x0a\x0bthen_branch\xa0\x01\x05", 16);  // name, type = GRAPH
  Bytes backwards(leaf.rbegin(), leaf.rend());
  const auto wrap = [&](char tag, const Bytes& head) {
    const Bytes front = head + tag + varint(backwards.size());
    backwards.append(front.rbegin(), front.rend());
  };
  for (int i = 0; i < depth; ++i) {
    wrap(0x32, attribute_head);  // AttributeProto.g
    wrap(0x2a, node_head);       // NodeProto.attribute
    wrap(0x0a, graph_head);      // GraphProto.node
  }
  return {backwards.rbegin(), backwards.rend()};
}

ModelText model_around(const Bytes& body) {
  const NodeText node{.op = "If",
                      .inputs = {"c"},
                      .outputs = {"y"},
                      .attributes = {graph_attribute("then_branch", body), graph_attribute("else_branch", body)}};
  return {.graph = {{node}, {value_info("c", kBool, {}), kX}, {kY}}};
}

TEST(BadModel, GraphsTenThousandDeep) {
  const Bytes deep = model(model_around(nested_if(10'000)));
  const auto started = std::chrono::steady_clock::now();
  EXPECT_HAS(error_of(deep), "nested deeper than 100");
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(2));
}

TEST(Model, GraphsFiftyDeepAreFine) { EXPECT_EQ(error_of(model_around(nested_if(50))), "no error"); }

TEST(BadModel, TypesTenThousandDeep) {
  Bytes type = Bytes("\x0a\x02\x08\x01", 4);
  const auto wrap = [](char tag, const Bytes& inner) { return tag + varint(inner.size()) + inner; };
  for (int i = 0; i < 10'000; ++i) type = wrap(0x22, wrap(0x0a, type));
  ModelText text = kGood;
  text.graph.inputs = {wrap(0x0a, "x") + wrap(0x12, type)};
  EXPECT_HAS(error_of(text), "input 'x': types nested deeper than 100");
}

TEST(BadModel, FunctionThatCallsItself) {
  const NodeText call{.op = "F", .inputs = {"x"}, .outputs = {"y"}, .domain = "my"};
  ModelText text{.graph = {{call}, {kX}, {kY}}};
  text.functions = {{"F", "my", {"x"}, {"y"}, {}, {call}}};
  EXPECT_HAS(error_of(text), "function 'F' calls itself");
}

// Forty functions, each calling the one before twice: 2^40 nodes from two kilobytes.
TEST(BadModel, FunctionsThatUnfoldWithoutBound) {
  ModelText text{.graph = {{{.op = "F39", .inputs = {"x"}, .outputs = {"y"}, .domain = "my"}}, {kX}, {kY}}};
  text.functions = {{"F0", "my", {"x"}, {"y"}, {}, {kRelu}}};
  for (int i = 1; i < 40; ++i) {
    const std::string inner = "F" + std::to_string(i - 1);
    text.functions.push_back({"F" + std::to_string(i),
                              "my",
                              {"x"},
                              {"y"},
                              {},
                              {{.op = inner, .inputs = {"x"}, .outputs = {"h"}, .domain = "my"},
                               {.op = inner, .inputs = {"h"}, .outputs = {"y"}, .domain = "my"}}});
  }
  EXPECT_HAS(error_of(text), "far more nodes than its size justifies");
}

TEST(BadModel, MapsAsInputsAreNotSupported) {
  ModelText text = kGood;
  const Bytes map_type("\x2a\x02\x08\x07", 4);  // TypeProto.map_type with keys of int64
  text.graph.inputs = {Bytes("\x0a\x01x\x12\x04", 5) + map_type};
  EXPECT_HAS(error_of(text), "m.onnx: input 'x': is a map");
}

}  // namespace
}  // namespace trine::test
