// Sizes guessed for open symbols are ones with which the model works.
#include "plan/likely_sizes.h"

#include <gtest/gtest.h>

#include "graph/infer.h"
#include "plan/plan.h"

namespace trine {
namespace {

Graph parsed(const char* text) {
  Graph g = Graph::parse(text);
  infer_shapes(g);
  return g;
}

std::vector<std::string> texts(const std::vector<Type>& types) {
  std::vector<std::string> out;
  for (const Type& t : types) out.push_back(t.text());
  return out;
}
using Texts = std::vector<std::string>;

TEST(LikelySizes, WhereAnythingGoesABatchIsOneAndOthersAre256) {
  const Graph g = parsed("graph(%x: f32[N,3,H,W], %z: f32[M,N]) {\n  %y = relu %x\n  %v = relu %z\n  return %y %v\n}");
  EXPECT_EQ(texts(representative_inputs(g)), (Texts{"f32[1,3,256,256]", "f32[1,1]"}));
  EXPECT_EQ(texts(representative_inputs(g, {{"H", 7}, {"N", 5}})), (Texts{"f32[5,3,7,256]", "f32[1,5]"}));
}

// A text recogniser: its head takes the height that 48 rows give.
constexpr const char* kRecogniser = R"(graph(%x: f32[N,3,H,W]) {
  %k: f32[8,3,3,3] = const f32[8,3,3,3] random(1)
  %shape: i64[3] = const i64[3]{1,192,-1}
  %m: f32[192,5] = const f32[192,5] random(2)
  %c = conv %x %k {strides=[2,2], pads=[1,1,1,1]}
  %f = reshape %c %shape
  %t = transpose %f {perm=[0,2,1]}
  %y = matmul %t %m
  return %y
})";

TEST(LikelySizes, ShapesThatFitTogetherAreFound) {
  // [1,8,24,128] -> [1,192,128] for H = 48; with 256 rows 192 does not divide the elements.
  const Graph g = parsed(kRecogniser);
  EXPECT_EQ(representative_inputs(g)[0].text(), "f32[1,3,48,256]");
  EXPECT_EQ(representative_inputs(g, {{"W", 320}})[0].text(), "f32[1,3,48,320]");
  const Graph strict = parsed(R"(graph(%x: f32[N,4,H], %s: f32[2,B,4]) {
    %shape: i64[3] = const i64[3]{1,4,48}
    %a = reshape %x %shape
    %b = concat %s %s {axis=0}
    %w: f32[4,1,4] = const f32[4,1,4] random(1)
    %d = concat %b %w {axis=2}
    return %a %d
  })");
  EXPECT_EQ(texts(representative_inputs(strict)), (Texts{"f32[1,4,48]", "f32[2,1,4]"}));
}

TEST(LikelySizes, WhatIsGivenStaysThoughNothingFits) {
  const Graph g =
      parsed("graph(%x: f32[N,H]) {\n  %shape: i64[2] = const i64[2]{1,48}\n  %y = reshape %x %shape\n  return %y\n}");
  EXPECT_EQ(representative_inputs(g, {{"H", 50}})[0].text(), "f32[1,50]");
}

TEST(LikelySizes, TheSearchEnds) {
  const Graph g = parsed("graph(%x: f32[A,B,C,D,E]) {\n  %y = relu %x\n  return %y\n}");
  size_t tries = 0;
  const auto none = [&](const std::vector<Type>&) -> size_t { return ++tries, 0; };
  EXPECT_EQ(likely_inputs(g, {}, none)[0].text(), "f32[1,256,256,256,256]");
  EXPECT_LE(tries, 201u);
}

}  // namespace
}  // namespace trine
