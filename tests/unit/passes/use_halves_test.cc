// use_halves: which nodes it leaves in f32, and why.
#include "passes/use_halves.h"

#include <gtest/gtest.h>

#include "case_file.h"
#include "graph/infer.h"
#include "passes/pipeline.h"

namespace trine {
namespace {

Graph chain(const std::string& third = "random(3)") {
  Graph graph = Graph::parse(R"(graph(%x: f32[2,8]) {
    %w1 = const f32[8,8] random(1)
    %w2 = const f32[8,8] random(2)
    %w3 = const f32[8,8] )" + third +
                             R"(
    %a = fused_matmul %x %w1
    %b = fused_matmul %a %w2
    %c = fused_matmul %b %w3
    return %c
  })");
  infer_shapes(graph);
  return graph;
}

DType type_of(const Graph& graph, std::string_view name) {
  for (const Value& v : graph.values)
    if (v.name == name) return v.type.dtype;
  return DType::none;
}

TEST(UseHalves, AKeptNodeReadsF32AsItWasComputed) {
  Graph graph = chain();
  EXPECT_EQ(readers_of_halves(graph), (std::vector<std::string>{"a", "b", "c"}));
  std::vector<KeptNode> kept;
  EXPECT_TRUE(use_halves(graph, {.keep = {"b"}}, &kept));
  EXPECT_TRUE(kept.empty());  // it was asked for
  EXPECT_EQ(type_of(graph, "a"), DType::f32) << graph.text();
  EXPECT_EQ(type_of(graph, "b"), DType::f32);
  EXPECT_EQ(type_of(graph, "w2"), DType::f32);
  EXPECT_NE(graph.text().find("%a: f32[2,8] = fused_matmul %_"), std::string::npos) << graph.text();
  EXPECT_FALSE(use_halves(graph, {.keep = {"b"}}));
}

TEST(UseHalves, SaysWhichWeightsDoNotFit) {
  for (const char* number : {"70000", "0.00001"}) {
    std::string weights = "{";
    for (int i = 0; i < 64; ++i) weights += std::string(i ? "," : "") + (i == 9 ? number : "0");
    Graph graph = chain(weights + "}"), coarse = chain(weights + "}");
    std::vector<KeptNode> kept;
    use_halves(graph, {}, &kept);
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].node, "c");
    EXPECT_NE(kept[0].reason.find("fp16"), std::string::npos) << kept[0].reason;
    EXPECT_EQ(type_of(graph, "b"), DType::f32);
    kept.clear();
    use_halves(coarse, {.half = DType::bf16}, &kept);
    EXPECT_TRUE(kept.empty());
    EXPECT_EQ(type_of(coarse, "b"), DType::bf16);
  }
}

TEST(UseHalves, ThePipelineRunsItOnDevicesAlone) {
  const auto type_in = [](PassOptions options) {
    Graph graph = chain();
    run_passes(graph, options);
    return type_of(graph, "b");
  };
  EXPECT_EQ(type_in({.fp16 = true}), DType::f32);
  EXPECT_EQ(type_in({.device = true}), DType::f32);
  EXPECT_EQ(type_in({.device = true, .fp16 = true}), DType::f16);
  EXPECT_EQ(type_in({.bf16 = true, .device = true}), DType::bf16);
}

// What is f16 stays so on a device.
TEST(UseHalves, ModelsOfHalvesAreNotWidenedOnDevices) {
  Graph graph = Graph::parse(R"(graph(%x: f16[1,3,8,8]) {
    %w = const f16[4,3,3,3] random(1)
    %b = const f16[4] random(2)
    %a = conv %x %w %b
    %c = max_pool %a {kernel_shape=[2,2]}
    return %c
  })");
  infer_shapes(graph);
  run_passes(graph, {.device = true});
  EXPECT_EQ(graph.text().find("cast"), std::string::npos) << graph.text();
  EXPECT_NE(graph.text().find("f32[4]"), std::string::npos) << graph.text();  // the bias
}

}  // namespace
}  // namespace trine
