// find: order, refusals with reasons, limits, planted rows, measuring; texts and hashes of problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "dnn/kernel_row.h"
#include "trine/base/tensor.h"

namespace trine::dnn {
namespace {

ConvProblem conv3x3() {
  ConvProblem p;
  p.in_channels = 64, p.out_channels = 64;
  p.in = p.out = {1, 56, 56}, p.kernel = {1, 3, 3}, p.pad_begin = {0, 1, 1};
  return p;
}

std::string reason(const Choice& choice, std::string_view row) {
  for (const Refusal& r : choice.refusals)
    if (r.row->name == row) return r.reason;
  return {};
}

bool has(const Choice& choice, std::string_view row) {
  return std::any_of(choice.candidates.begin(), choice.candidates.end(),
                     [&](const Candidate& c) { return c.row->name == row; });
}

TEST(Find, EveryOperatorHasABaselineRow) {
  std::vector<Problem> problems = {conv3x3(),
                                   MatmulProblem{.m = 3, .n = 4, .k = 5},
                                   PoolProblem{},
                                   AttentionProblem{},
                                   RnnProblem{.steps = 1, .input = 2, .hidden = 3},
                                   ResizeProblem{},
                                   CopyProblem{{2}, {1}, {1}, 4},
                                   GatherProblem{}};
  for (const Problem& p : problems) {
    Choice choice = find(p, {.level = CpuLevel::baseline});
    EXPECT_NE(choice.best(), nullptr) << text(p);
    for (const Candidate& c : choice.candidates) EXPECT_EQ(c.row->needs, CpuLevel::baseline) << c.row->name;
  }
}

TEST(Find, CandidatesAreOrderedAndRefusalsHaveReasons) {
  Choice choice = find(conv3x3(), {.level = CpuLevel::baseline});
  EXPECT_TRUE(
      std::is_sorted(choice.candidates.begin(), choice.candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.seconds + kStreamed * static_cast<double>(a.packed_bytes) <
               b.seconds + kStreamed * static_cast<double>(b.packed_bytes);
      }));
  EXPECT_EQ(choice.candidates.size() + choice.refusals.size(), rows_of(OpKind::conv).size());
  EXPECT_EQ(reason(choice, "conv_f32_f32_1x1_gemm_baseline"), "a kernel larger than 1x1 or padding");
  const std::string text = choice.text();
  const size_t line = text.find("refused   a kernel larger");
  ASSERT_NE(line, std::string::npos);
  EXPECT_LT(text.find("conv_f32_f32_1x1_gemm_baseline", line), text.find('\n', line));
}

TEST(Find, LimitsRefuse) {
  std::string best(find(conv3x3(), {.level = CpuLevel::baseline}).best()->name);
  Choice without = find(conv3x3(), {.level = CpuLevel::baseline, .drop = {best}});
  EXPECT_EQ(reason(without, best), "dropped");
  Choice narrow = find(conv3x3(), {.level = CpuLevel::baseline, .workspace_bytes = 16});
  EXPECT_EQ(narrow.best(), nullptr);
  EXPECT_NE(reason(narrow, best).find("allowed are 16"), std::string::npos);
  if (cpu_level() < CpuLevel::avx2) return;
  EXPECT_TRUE(has(find(conv3x3()), "conv_f32_f32_winograd4x3_avx2"));
  EXPECT_EQ(reason(find(conv3x3(), {.winograd = false}), "conv_f32_f32_winograd4x3_avx2"), "winograd is not allowed");
  EXPECT_EQ(reason(find(conv3x3(), {.level = CpuLevel::baseline}), "conv_f32_f32_winograd4x3_avx2"),
            "needs avx2; this run has baseline");
}

TEST(Find, APlantedRowStandsFirstWhileItLives) {
  KernelRow wrong = *find_row("matmul_f32_f32_panels_baseline");
  wrong.name = "matmul_planted";
  wrong.cost = [](const Problem&, int) { return 0.0; };
  wrong.run = [](const Problem&, const Args& args) { *static_cast<float*>(args.out[0]) = 42; };
  MatmulProblem p{.m = 1, .n = 1, .k = 1};
  {
    ScopedRow planted(wrong);
    EXPECT_EQ(find(p).best()->name, "matmul_planted");
    EXPECT_EQ(find_row("matmul_planted"), &wrong);
  }
  EXPECT_NE(find(p).best()->name, "matmul_planted");
  EXPECT_EQ(find_row("matmul_planted"), nullptr);
}

TEST(Find, MeasuredTimesReplaceTheModel) {
  Choice choice = find(MatmulProblem{.m = 8, .n = 32, .k = 16}, {.measure_seconds = 0.01});
  EXPECT_TRUE(choice.candidates.front().measured);
  EXPECT_GT(choice.candidates.front().seconds, 0);
  EXPECT_NE(choice.text().find("measured"), std::string::npos);
}

TEST(Find, RowNamesAreUniqueAndComplete) {
  std::set<std::string_view> names;
  for (const KernelRow* row : all_rows()) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_TRUE(row->fits && row->cost && row->run) << row->name;
    EXPECT_EQ(row->packed_bytes != nullptr, row->prepack != nullptr) << row->name;
    EXPECT_EQ(row->packing != Packing::none, row->prepack != nullptr) << row->name;
    EXPECT_NE(row->name.find(name(row->needs)), std::string_view::npos) << row->name;
  }
}

TEST(Problem, TextDeterminesTheProblem) {
  ConvProblem a = conv3x3();
  EXPECT_EQ(text(a), "conv nhwc x[1,1,56,56,64] w[64,64,1,3,3] groups 1 pad 0x1x1 -> [1,56,56]");
  std::set<std::string> texts{text(a)};
  auto differs = [&](auto change) {
    ConvProblem b = a;
    change(b);
    EXPECT_NE(a, b);
    EXPECT_TRUE(texts.insert(text(b)).second) << text(b);
    EXPECT_NE(hash(a), hash(b));
  };
  differs([](ConvProblem& p) { p.stride = {1, 2, 2}; });
  differs([](ConvProblem& p) { p.dilation[2] = 2; });
  differs([](ConvProblem& p) { p.transposed = true; });
  differs([](ConvProblem& p) { p.in_layout = Layout::nchw; });
  differs([](ConvProblem& p) { p.out_pixel_stride = 80; });
  differs([](ConvProblem& p) { p.in_pixel_stride = 80; });
  differs([](ConvProblem& p) { p.epilogue.bias = true; });
  differs([](ConvProblem& p) { p.epilogue.residual = Residual::before_activation; });
  differs(
      [](ConvProblem& p) { p.epilogue = {.residual = Residual::after_activation, .activation = Activation::relu}; });
  differs(
      [](ConvProblem& p) { p.epilogue = {.residual = Residual::before_activation, .activation = Activation::relu}; });
  differs([](ConvProblem& p) { p.epilogue = {.activation = Activation::clip, .alpha = 0, .beta = 6}; });
  differs([](ConvProblem& p) { p.epilogue = {.activation = Activation::clip, .alpha = 0, .beta = 1}; });
  differs([](ConvProblem& p) { p.groups = 2; });
  differs([](ConvProblem& p) { p.types = {DType::bf16, DType::bf16, DType::bf16}; });
  differs([](ConvProblem& p) { p.types = {DType::bf16, DType::bf16, DType::f32}; });
  differs([](ConvProblem& p) { p.types = {DType::u8, DType::i8, DType::u8}; });
  differs([](ConvProblem& p) { p.types = {DType::u8, DType::i8, DType::u8, DType::i32}; });
  differs([](ConvProblem& p) { p.types = {DType::u8, DType::i8, DType::u8, DType::f32, true}; });
}

TEST(Find, EveryFormatHasABaselineRowAndExtensionsAreAsked) {
  for (ElementTypes types :
       {ElementTypes{DType::bf16, DType::bf16, DType::bf16}, ElementTypes{DType::f16, DType::f16, DType::f16},
        ElementTypes{DType::u8, DType::i8, DType::i8}}) {
    ConvProblem conv = conv3x3();
    conv.types = types;
    MatmulProblem matmul{.m = 3, .n = 4, .k = 5, .types = types};
    EXPECT_NE(find(conv, {.level = CpuLevel::baseline}).best(), nullptr) << types.text();
    EXPECT_NE(find(matmul, {.level = CpuLevel::baseline}).best(), nullptr) << types.text();
  }
  ConvProblem p = conv3x3();
  p.types = {DType::u8, DType::i8, DType::i8};
  Choice with = find(p, {.level = CpuLevel::avx512, .features = {.vnni = true}});
  Choice without = find(p, {.level = CpuLevel::avx512, .features = {.bf16 = true}});
  EXPECT_EQ(with.best()->name, "conv_int8_int8_indirect_gemm_avx512_vnni");
  EXPECT_EQ(without.best()->name, "conv_int8_int8_indirect_gemm_avx2");
  EXPECT_EQ(reason(without, "conv_int8_int8_indirect_gemm_avx512_vnni"), "needs avx512+vnni; this run has avx512+bf16");
  EXPECT_EQ(reason(with, "conv_f32_f32_indirect_gemm_avx2"), "operands other than f32");
}

TEST(Find, MeasuresEveryFormat) {
  for (ElementTypes types :
       {ElementTypes{DType::bf16, DType::bf16, DType::f32}, ElementTypes{DType::f16, DType::f16, DType::f16},
        ElementTypes{DType::i8, DType::i8, DType::u8, DType::i32, true}}) {
    MatmulProblem p{.m = 8, .n = 32, .k = 18, .b_constant = true, .epilogue = {.bias = true}, .types = types};
    EXPECT_GT(find(p, {.measure_seconds = 0.01}).candidates.front().seconds, 0) << types.text();
  }
}

TEST(Packing, RowsOfOnePackingShareBytes) {
  ConvProblem p = conv3x3();
  p.in_channels = 20, p.out_channels = 18;
  std::vector<float> weights(20 * 18 * 9);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 31) - 15;
  const void* list[] = {weights.data(), nullptr, nullptr};
  std::map<Packing, std::vector<char>> seen;
  for (const KernelRow* row : rows_of(OpKind::conv)) {
    if (row->fits(p)) continue;
    Tensor packed(DType::u8, {static_cast<int64_t>(packed_bytes(*row, p))});
    row->prepack(p, std::span<const void* const>(list), packed.mutable_data());
    std::vector<char> bytes(packed.as<char>(), packed.as<char>() + packed.bytes());
    auto [at, fresh] = seen.emplace(row->packing, bytes);
    if (!fresh) {
      EXPECT_EQ(at->second, bytes) << row->name;
    }
  }
  EXPECT_GE(seen.size(), 1u);
}

}  // namespace
}  // namespace trine::dnn
