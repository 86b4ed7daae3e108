// Entries as problems of trine::dnn, and the lists of our networks against their known sizes.
#include "to_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "read_one.h"

namespace trine::bench {
namespace {

template <class P>
P problem_of(std::string_view text, Driver driver = Driver::conv) {
  const Translated t = to_problem(read_one(text, driver));
  EXPECT_TRUE(t.problem) << text << ": " << t.unsupported;
  return t.problem ? std::get<P>(*t.problem) : P{};
}

std::string unsupported(std::string_view text, Driver driver = Driver::conv) {
  return to_problem(read_one(text, driver)).unsupported;
}

TEST(ToProblem, convolution) {
  const auto p = problem_of<dnn::ConvProblem>("--attr-post-ops=sum+relu g32mb1ic64ih56oc64kh3sh2ph1dh1");
  EXPECT_EQ(p.groups, 32);
  EXPECT_EQ(p.dilation, (dnn::Extents{1, 2, 2}));
  EXPECT_EQ(p.out, (dnn::Extents{1, 27, 27}));
  EXPECT_TRUE(p.epilogue.bias);  // FWD_B is what benchdnn takes
  EXPECT_EQ(p.epilogue.residual, dnn::Residual::before_activation);
  EXPECT_EQ(p.epilogue.activation, dnn::Activation::relu);
  EXPECT_FALSE(problem_of<dnn::ConvProblem>("--dir=FWD_D ic4oc4ih8kh3").epilogue.bias);
  EXPECT_TRUE(problem_of<dnn::ConvProblem>("ic4oc4ih8kh3", Driver::deconv).transposed);
}

TEST(ToProblem, gradients_of_convolutions) {
  const auto data = problem_of<dnn::ConvProblem>("--dir=BWD_D mb1ic4oc8ih8kh3ph1");
  EXPECT_TRUE(data.transposed);
  EXPECT_EQ(data.out_channels, 4);
  EXPECT_TRUE(problem_of<dnn::ConvWeightsProblem>("--dir=BWD_WB mb1ic4oc8ih8kh3ph1").bias);
}

TEST(ToProblem, epilogues) {
  const auto epilogue = [](const std::string& ops) {
    return problem_of<dnn::ConvProblem>("--attr-post-ops=" + ops + " ic4oc4ih8kh3").epilogue;
  };
  EXPECT_EQ(epilogue("clip:0:6").activation, dnn::Activation::clip);
  EXPECT_EQ(epilogue("clip:0:6").beta, 6);
  EXPECT_EQ(epilogue("relu:0.5").activation, dnn::Activation::leaky_relu);
  EXPECT_EQ(epilogue("swish:1+sum").residual, dnn::Residual::after_activation);
  EXPECT_EQ(epilogue("sum").residual, dnn::Residual::before_activation);
  EXPECT_EQ(epilogue("hardswish:0.166667:0.5").activation, dnn::Activation::hardswish);
  EXPECT_NE(unsupported("--attr-post-ops=relu+relu ic4oc4ih8kh3"), "");
  EXPECT_NE(unsupported("--attr-post-ops=round ic4oc4ih8kh3"), "");
}

TEST(ToProblem, products) {
  const auto p = problem_of<dnn::MatmulProblem>("--bia-dt=f32 --wtag=ba 16x32:32x64", Driver::matmul);
  EXPECT_TRUE(p.b_constant && p.trans_b && p.epilogue.bias);
  const auto batched = problem_of<dnn::MatmulProblem>("1x16x32:4x32x64", Driver::matmul);
  EXPECT_FALSE(batched.b_constant);
  EXPECT_EQ(dnn::batch_of(batched), (Dims{4}));
  EXPECT_EQ(problem_of<dnn::MatmulProblem>("mb3ic512ih7oc10", Driver::ip).k, 512 * 49);
  EXPECT_NE(unsupported("--bia-dt=f32 2x16x32:2x32x64", Driver::matmul),
            "");  // its default mask is that of dimension 1
}

// As oneDNN's own lists of int8 problems have them.
TEST(ToProblem, what_integers_stand_for) {
  const Translated t =
      to_problem(read_one("--dt=u8:s8:u8 --attr-scales=src:common:0.25+wei:per_oc+dst:common:2 "
                          "--attr-zero-points=src:common:3+dst:common:5 --attr-post-ops=sum:1.5:2+relu ic4oc4ih8kh3"));
  ASSERT_TRUE(t.problem) << t.unsupported;
  const auto& p = std::get<dnn::ConvProblem>(*t.problem);
  EXPECT_TRUE(p.types.scale_per_channel);
  EXPECT_EQ(p.epilogue.residual, dnn::Residual::before_activation);
  EXPECT_EQ(t.quantization.out_multiplier, 0.5F);
  EXPECT_EQ(t.quantization.in_zero, 3);
  EXPECT_EQ(t.quantization.out_zero, 5);
  EXPECT_EQ(t.quantization.residual_scale, 1.5F);
  EXPECT_EQ(t.quantization.residual_zero, 2);
}

TEST(ToProblem, what_older_lists_write) {
  const auto p = problem_of<dnn::MatmulProblem>(
      "--cfg=u8s8s8 --attr-oscale=per_oc:0.5* --bia_dt=f32 --bia_mask=2 30x64:64x96n\"BERT:MM_1*2\"", Driver::matmul);
  EXPECT_EQ(p.types.in, DType::u8);
  EXPECT_EQ(p.types.weights, DType::i8);
  EXPECT_EQ(p.types.out, DType::i8);
  EXPECT_TRUE(p.types.scale_per_channel && p.epilogue.bias);
  EXPECT_EQ(problem_of<dnn::ConvProblem>("--cfg=bf16bf16f32 ic4oc4ih8kh3").types.out, DType::f32);
  EXPECT_TRUE(problem_of<dnn::ConvProblem>("--cfg=f32 ic4oc4ih8kh3").types.are_f32());
  EXPECT_EQ(problem_of<dnn::ConvProblem>("--cfg=u8s8u8 --dt=bf16 ic4oc4ih8kh3").types.in, DType::bf16);
}

TEST(ToProblem, a_bias_with_a_type_of_its_own) {
  EXPECT_TRUE(problem_of<dnn::ConvProblem>("--dir=FWD_I --bia-dt=f32 ic4oc4ih8kh3").epilogue.bias);
  EXPECT_FALSE(problem_of<dnn::ConvProblem>("--dir=FWD_I --bia-dt=undef ic4oc4ih8kh3").epilogue.bias);
  EXPECT_NE(unsupported("--dir=FWD_I --bia-dt=bf16 ic4oc4ih8kh3"), "");
}

TEST(ToProblem, scales_that_are_not_computed_say_why) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--attr-scales=src:common:2 ic4oc4ih8kh3", "--attr-scales; only 8-bit integers have scales"},
      {"--attr-post-ops=sum:2 ic4oc4ih8kh3", "a scale of a sum that is no 8-bit integer"},
      {"--dt=u8:s8:u8 --attr-scales=src:per_dim_1:2 ic4oc4ih8kh3", "--attr-scales=src:per_dim_1:2"},
      {"--dt=u8:s8:u8 --attr-scales=src ic4oc4ih8kh3", "--attr-scales=src"},
      {"--dt=u8:s8:u8 --attr-scales=dst:common:0 ic4oc4ih8kh3", "--attr-scales=dst:common:0"},
      {"--dt=u8:s8:u8 --attr-scales=src:common:nan ic4oc4ih8kh3", "--attr-scales=src:common:nan"},
      {"--dt=u8:s8:u8 --attr-zero-points=wei:common:2 ic4oc4ih8kh3", "--attr-zero-points=wei:common:2"},
      {"--dt=u8:s8:u8 --attr-zero-points=src:common:1e9 ic4oc4ih8kh3", "--attr-zero-points=src:common:1e9"},
      {"--dt=u8:s8:f32 --attr-scales=dst:common:2 ic4oc4ih8kh3", "a scale of outputs that are no 8-bit integers"},
      {"--dt=u8:s8:s32 --attr-scales=wei:per_oc ic4oc4ih8kh3", "scales of i32 sums"},
      {"--cfg=s8s8u8s32 ic4oc4ih8kh3", "--dt=s8s8u8s32; one type or three"},
      {"--cfg=what ic4oc4ih8kh3", "--dt=what"},
  };
  for (const auto& [text, why] : wrong) EXPECT_EQ(unsupported(text), why) << text;
}

TEST(ToProblem, number_types) {
  const auto types = [](const std::string& dt) {
    return problem_of<dnn::ConvProblem>("--dt=" + dt + " ic4oc4ih8kh3").types;
  };
  EXPECT_EQ(types("bf16"), (dnn::ElementTypes{DType::bf16, DType::bf16, DType::bf16}));
  EXPECT_EQ(types("u8:s8:u8"), (dnn::ElementTypes{DType::u8, DType::i8, DType::u8}));
  EXPECT_EQ(types("s8:s8:s32").bias, DType::i32);  // what stands beside unscaled sums
  EXPECT_EQ(problem_of<dnn::MatmulProblem>("--dt=bf16:bf16:f32 2x3:3x4", Driver::matmul).types.out, DType::f32);
}

TEST(ToProblem, others) {
  EXPECT_EQ(problem_of<dnn::PoolProblem>("--alg=avg_p ic4ih8kh2sh2", Driver::pool).kind,
            dnn::PoolKind::average_with_pad);
  EXPECT_EQ(problem_of<dnn::PoolProblem>("--alg=avg_np ic4ih8kh2sh2", Driver::pool).kind, dnn::PoolKind::average);
  const auto rnn = problem_of<dnn::RnnProblem>("--alg=LBR_GRU --direction=concat t3mb2sic8slc4", Driver::rnn);
  EXPECT_TRUE(rnn.linear_before_reset);
  EXPECT_EQ(rnn.directions(), 2);
  EXPECT_EQ(rnn.input, 4);
  EXPECT_EQ(problem_of<dnn::RnnProblem>("l3t2sic8", Driver::rnn).layers, 3);
  const char* projected = "--alg=VANILLA_LSTM --with-projection=true t2sic8slc8dhc16dic8";
  EXPECT_EQ(problem_of<dnn::RnnProblem>(projected, Driver::rnn).projection, 8);
  EXPECT_EQ(problem_of<dnn::ResizeProblem>("--alg=linear ic4ih8oh16", Driver::resampling).mode,
            dnn::ResizeMode::linear);
  EXPECT_EQ(problem_of<dnn::AttentionProblem>("2x8x5x16:2x2x16x7:2x2x7x16", Driver::sdpa).kv_heads, 2);
}

TEST(ToProblem, what_is_not_computed_says_why) {
  EXPECT_EQ(unsupported("--dt=bf16 --dir=BWD_D ic4oc4ih8kh3"), "--dt=bf16; only f32");
  EXPECT_EQ(unsupported("--dt=u8:s8 ic4oc4ih8kh3"), "--dt=u8:s8; one type or three");
  EXPECT_EQ(unsupported("--dt=u7 ic4oc4ih8kh3"), "--dt=u7");
  EXPECT_EQ(unsupported("--dt=f32:f32:f32 ic4oc4ih8kh3"), "");
  EXPECT_EQ(unsupported("--stag=aBx16b ic4oc4ih8kh3"),
            "--stag=aBx16b; only any, axb, nwc, nhwc, ndhwc, acb, acdb, acdeb, ");
  EXPECT_NE(unsupported("2x3:2x3", Driver::binary), "");
  EXPECT_NE(unsupported("l2t3sic8slc4", Driver::rnn), "");
  EXPECT_NE(unsupported("t3sic8dhc16", Driver::rnn), "");
  EXPECT_NE(unsupported("mb0ic4oc4ih8kh3"), "");
}

// Sizes that no memory holds, or whose products overflow, are listed and not made.
TEST(ToProblem, absurd_sizes) {
  EXPECT_NE(unsupported("mb9223372036854775807ic4oc4ih8kh3"), "");
  EXPECT_NE(unsupported("ic4294967296oc4294967296ih4294967296kh1"), "");
  EXPECT_NE(unsupported("ic1oc1ih4oh4kh3ph4611686018427387904"), "");
  EXPECT_NE(unsupported("ic1oc1ih4611686018427387904oh1kh4611686018427387904ph0"), "");
  EXPECT_NE(unsupported("9223372036854775807x9223372036854775807:9223372036854775807x2", Driver::matmul), "");
  EXPECT_NE(unsupported("t4294967296mb4294967296sic4", Driver::rnn), "");
}

TEST(ToProblem, benchdnn_does_not_count_padding) {
  const Entry e = read_one("mb1ic1oc1ih4kh3ph1");
  const dnn::Problem p = *to_problem(e).problem;
  EXPECT_DOUBLE_EQ(dnn::flops(p), 2 * 16 * 9);
  EXPECT_DOUBLE_EQ(benchdnn_ops(p), 2 * (4 + 3 + 3) * (4 + 3 + 3));  // per dimension: 3 + 4 + 3 of 12 meetings
}

struct Totals {
  int64_t layers = 0;
  double gflops = 0;
};

Totals totals(const std::string& list, std::initializer_list<Driver> drivers) {
  Totals t;
  for (const Entry& e : read_batch_file(std::string(TRINE_SOURCE_DIR) + "/bench/dnn/lists/" + list)) {
    const Translated translated = to_problem(e);
    EXPECT_TRUE(translated.problem) << list << ":" << e.line << ": " << translated.unsupported;
    if (!translated.problem || std::find(drivers.begin(), drivers.end(), e.driver) == drivers.end()) continue;
    t.layers += e.count;
    t.gflops += static_cast<double>(e.count) * dnn::flops(*translated.problem) * 1e-9;
  }
  return t;
}

// Layer counts and multiply-adds (times two) that the papers and other implementations give; to their last digit.
TEST(Lists, layers_and_flops_of_the_networks) {
  struct Row {
    const char* list;
    int64_t layers;
    double gflops, digit;
  };
  const Row convolutions[] = {
      {"resnet_50", 53, 8.17, 0.01},        // v1.5: 4.09 G multiply-adds with the classifier
      {"mobilenet_v2", 52, 0.60, 0.01},     // 300 M
      {"mobilenet_v3", 62, 0.43, 0.01},     // 219 M with its two classifiers, 2.4 M of them theirs
      {"efficientnet_b0", 81, 0.77, 0.02},  // 0.39 G
      {"yolov5s", 60, 16.5, 0.1},           // 16.5 GFLOPs, as its authors print
      {"convnext_tiny", 22, 0.586, 0.001},  // stem 29 M, depthwise 210 M, three 2x2 of 116 M each
  };
  for (const Row& row : convolutions) {
    const Totals t = totals(row.list, {Driver::conv});
    EXPECT_EQ(t.layers, row.layers) << row.list;
    EXPECT_NEAR(t.gflops, row.gflops, row.digit) << row.list;
  }
  const Row all[] = {
      {"convnext_tiny", 59, 8.9, 0.1},  // 4.47 G
      {"bert_base", 85, 22.4, 0.1},     // 12 * (4 * 128*768^2 + 2 * 128*768*3072 + 2 * 128^2*768) * 2
      {"vit_b_16", 62, 35.1, 0.2},      // 17.6 G
      {"lstm", 2, 0.52, 0.01},
  };
  for (const Row& row : all) {
    const Totals t = totals(row.list, {Driver::conv, Driver::matmul, Driver::ip, Driver::sdpa, Driver::rnn});
    EXPECT_EQ(t.layers, row.layers) << row.list;
    EXPECT_NEAR(t.gflops, row.gflops, row.digit) << row.list;
  }
}

// oneDNN's list of ResNet-50 v1.5 has 23 different convolutions in 53 layers; ours tells their epilogues apart too.
TEST(Lists, different_convolutions_of_resnet_50) {
  std::set<std::string> different;
  for (const Entry& e : read_batch_file(std::string(TRINE_SOURCE_DIR) + "/bench/dnn/lists/resnet_50")) {
    if (e.driver == Driver::conv) different.insert(e.text);
  }
  EXPECT_EQ(different.size(), 23U);
}

}  // namespace
}  // namespace trine::bench
