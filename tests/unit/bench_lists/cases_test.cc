// What a call measures: lists by name, number types, batch sizes.
#include "cases.h"

#include <gtest/gtest.h>

#include <set>

#include "read_one.h"
#include "to_problem.h"

namespace trine::bench {
namespace {

std::string resized(std::string_view text, int64_t mb, Driver driver = Driver::conv) {
  Entry e = read_one(text, driver);
  set_batch(e, mb);
  return e.text;
}

TEST(Cases, batch_size_of_descriptors) {
  EXPECT_EQ(resized("mb1ic4oc4ih8kh3n\"a\"", 8), "mb8ic4oc4ih8kh3");
  EXPECT_EQ(resized("g2mb16_ic4oc4ih8kh3", 1), "g2mb1_ic4oc4ih8kh3");
  EXPECT_EQ(resized("ic4oc4ih8kh3", 8), "mb8ic4oc4ih8kh3");
  EXPECT_EQ(resized("ic4oc8mb3", 8, Driver::ip), "ic4oc8mb8");
  Entry e = read_one("mb1ic4oc4ih8kh3");
  set_batch(e, 8);
  EXPECT_EQ(std::get<dnn::ConvProblem>(*to_problem(e).problem).n, 8);
}

TEST(Cases, batch_size_of_tensors) {
  EXPECT_EQ(resized("128x768:768x64_n\"bert\"", 8, Driver::matmul), "1024x768:768x64");  // weights do not grow
  EXPECT_EQ(resized("12x128x64:12x64x128", 8, Driver::matmul), "96x128x64:96x64x128");
  EXPECT_EQ(resized("12x128x64:1x64x128", 8, Driver::matmul), "12x128x64:1x64x128");  // which are the samples?
  EXPECT_EQ(resized("1x12x8x4:1x12x4x8:1x12x8x4", 3, Driver::sdpa), "3x12x8x4:3x12x4x8:3x12x8x4");
  EXPECT_EQ(resized("8x4", 3, Driver::softmax), "8x4");
  EXPECT_THROW(resized("4611686018427387904x2:2x3", 8, Driver::matmul), Error);
}

TEST(Cases, every_network_of_the_goal_has_a_list) {
  const std::vector<std::string> goal{"resnet50",        "mobilenet_v2", "mobilenetv3",
                                      "efficientnet_b0", "yolov5s",      "bert_base",
                                      "convnext_tiny",   "vit_b_16",     "lstm"};
  std::set<std::string> names;
  for (const Case& c : read_cases({.lists = goal})) names.insert(c[0].list);
  EXPECT_EQ(names.size(), goal.size());
  EXPECT_TRUE(names.contains("resnet_50"));
  std::set<std::string> all;
  for (const Case& c : read_cases({.lists = {"all"}})) all.insert(c[0].list);
  EXPECT_EQ(all, names);
  EXPECT_THROW(read_cases({.lists = {"no_such_list"}}), Error);
}

TEST(Cases, one_problem_in_several_number_types) {
  const auto cases = read_cases({.lists = {"bert_base"}, .types = {"f32", "u8:s8:s8"}, .mb = 8, .filter = "MatMul_6"});
  ASSERT_EQ(cases.size(), 1U);
  ASSERT_EQ(cases[0].size(), 2U);
  EXPECT_EQ(cases[0][0].option("dt", ""), "f32");
  EXPECT_EQ(cases[0][1].option("dt", ""), "u8:s8:s8");
  EXPECT_EQ(cases[0][1].text, "1024x768:768x3072");
  EXPECT_EQ(cases[0][1].option("attr-post-ops", ""), "gelu_erf");
  const auto attention = read_cases({.lists = {"bert_base"}, .types = {"f32", "bf16"}, .filter = "MatMul_3"});
  ASSERT_EQ(attention.size(), 1U);
  EXPECT_EQ(attention[0].size(), 1U);                                               // in f32 only
  EXPECT_FALSE(read_cases({.lists = {"bert_base"}})[0][0].options.contains("dt"));  // the list's own
}

}  // namespace
}  // namespace trine::bench
