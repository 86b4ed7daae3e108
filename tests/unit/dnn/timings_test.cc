// The timing cache: what is measured is remembered, for this problem, row, number of threads, machine and version only.
#include "trine/dnn/timings.h"

#include <gtest/gtest.h>

#include "dnn/kernel_row.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

const MatmulProblem kProblem{.m = 8, .n = 32, .k = 16};
std::string_view row() { return "matmul_f32_f32_panels_baseline"; }

TEST(Timings, AnEntryIsForOneProblemRowAndNumberOfThreads) {
  Timings timings;
  timings.add(kProblem, row(), 2, 12.5e-6);
  EXPECT_DOUBLE_EQ(timings.find(kProblem, row(), 2).value(), 12.5e-6);
  EXPECT_FALSE(timings.find(kProblem, row(), 1));
  EXPECT_FALSE(timings.find(MatmulProblem{.m = 8, .n = 32, .k = 17}, row(), 2));
  EXPECT_FALSE(timings.find(kProblem, "copy_strided_baseline", 2));
}

TEST(Timings, TextIsReadBackAndMerged) {
  Timings a, b;
  a.add(kProblem, row(), 1, 1e-3);
  b.add(kProblem, row(), 2, 2e-3);
  EXPECT_EQ(b.merge(a.text()), 0);
  EXPECT_DOUBLE_EQ(b.find(kProblem, row(), 1).value(), 1e-3);
  Timings again;
  EXPECT_EQ(again.merge(b.text()), 0);
  EXPECT_EQ(again.text(), b.text());
  a.add(kProblem, row(), 1, 9e-3);
  b.merge(a.text());
  EXPECT_DOUBLE_EQ(b.find(kProblem, row(), 1).value(), 1e-3) << "what is there already wins";
}

TEST(Timings, EntriesOfAnotherMachineAreKeptAndNotUsed) {
  Timings here;
  here.add(kProblem, row(), 1, 1e-3);
  std::string text = here.text();
  const size_t version = text.find('\n') + 1, cpu = text.find('\t') + 1;
  for (const auto& [at, what] : {std::pair(cpu, "Other "), std::pair(version, "9")}) {
    std::string other = text;
    other.insert(at, what);
    Timings timings;
    EXPECT_EQ(timings.merge(other), 0);
    EXPECT_FALSE(timings.find(kProblem, row(), 1)) << other;
    EXPECT_EQ(timings.text(), other);
  }
}

TEST(Timings, DamagedLinesAreCountedAndTheRestIsUsed) {
  Timings good;
  good.add(kProblem, row(), 1, 1e-3);
  const std::string text = good.text(), line = text.substr(text.find('\n') + 1);
  const std::string key = line.substr(0, line.rfind('\t') + 1);
  for (const std::string& bad :
       {std::string("noise"), std::string(), key, key + "fast", key + "-3", key + "0", key + "nan", key + "inf",
        key + "1e999", key + "3 ", "x\t" + line.substr(0, line.size() - 1), std::string(100000, '\t')}) {
    Timings timings;
    EXPECT_EQ(timings.merge(text + bad + "\n"), 1) << bad.substr(0, 200);
    EXPECT_DOUBLE_EQ(timings.find(kProblem, row(), 1).value(), 1e-3);
  }
  Timings cut;
  EXPECT_EQ(cut.merge(std::string_view(text).substr(0, text.size() - line.size() / 2)), 1);
}

TEST(Timings, AnotherKindOfFileIsRefused) {
  for (const char* text : {"\x7f"
                           "ELF",
                           "{}", "trine timings 2\n", "\n"}) {
    Timings timings;
    EXPECT_THROW(timings.merge(text), Error) << text;
  }
  Timings timings;
  EXPECT_EQ(timings.merge(""), 0);
}

TEST(Timings, FindUsesThemInsteadOfMeasuring) {
  const Choice by_model = find(kProblem);
  ASSERT_GE(by_model.candidates.size(), 2u);
  const auto timings = std::make_shared<Timings>();
  // Says the opposite of the model.
  for (size_t i = 0; i < by_model.candidates.size(); ++i)
    timings->add(kProblem, by_model.candidates[i].name, 1, 1e-3 / static_cast<double>(i + 1));
  const Choice by_time = find(kProblem, {.timings = timings});
  EXPECT_TRUE(by_time.candidates[0].measured);
  EXPECT_NE(by_time.best(), by_model.best());
  EXPECT_EQ(timings->measured, 0);
  EXPECT_EQ(find(kProblem, {.timings = timings, .deterministic = true}).best(), by_model.best());
  // One time unknown and no budget: estimates are not compared with times.
  const auto partial = std::make_shared<Timings>();
  partial->add(kProblem, by_model.candidates[1].name, 1, 1e-12);
  EXPECT_EQ(find(kProblem, {.timings = partial}).best(), by_model.best());
}

TEST(Timings, MeasuringStopsWhenTheBudgetIsSpentAndIsNotRepeated) {
  const auto timings = std::make_shared<Timings>();
  timings->seconds_left = 10;
  find(kProblem, {.measure_seconds = 0.004, .timings = timings});
  const int measured = timings->measured;
  EXPECT_GE(measured, 2);
  EXPECT_LT(timings->seconds_left, 10);
  find(kProblem, {.measure_seconds = 0.004, .timings = timings});
  EXPECT_EQ(timings->measured, measured);
  timings->seconds_left = 0;
  EXPECT_FALSE(find(MatmulProblem{.m = 9, .n = 32, .k = 16}, {.measure_seconds = 0.004, .timings = timings})
                   .candidates[0]
                   .measured);
  EXPECT_EQ(timings->measured, measured);
}

TEST(Find, ADeterministicChoiceDoesNotDependOnThreads) {
  for (const int64_t size : {7, 14, 56}) {
    ConvProblem p;
    p.in_channels = 256, p.out_channels = 256;
    p.in = p.out = {1, size, size}, p.kernel = {1, 3, 3}, p.pad_begin = {0, 1, 1};
    const KernelRow* one = find(p, {.threads = 1, .deterministic = true}).best();
    for (int threads : {2, 3, 8, 64}) EXPECT_EQ(find(p, {.threads = threads, .deterministic = true}).best(), one);
  }
}

TEST(Find, DearMemoryMakesItChooseSmallerWeights) {
  if (cpu_level() < CpuLevel::avx2) GTEST_SKIP() << "one packing only";
  ConvProblem p;
  p.in_channels = 256, p.out_channels = 256;
  p.in = p.out = {1, 14, 14}, p.kernel = {1, 3, 3}, p.pad_begin = {0, 1, 1};
  const Choice fastest = find(p, {.seconds_per_byte = 0}), smallest = find(p, {.seconds_per_byte = 1e-3});
  EXPECT_LT(smallest.candidates[0].packed_bytes, fastest.candidates[0].packed_bytes);
  for (const Candidate& c : fastest.candidates)
    EXPECT_GE(c.packed_bytes, smallest.candidates[0].packed_bytes) << c.row->name;
}

}  // namespace
}  // namespace trine::dnn
