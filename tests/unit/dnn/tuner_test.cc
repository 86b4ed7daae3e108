// Measuring in the background, the timing cache as a file that processes share, and find for every kind of problem.
#include "trine/dnn/tuner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "check_rows.h"
#include "trine/base/error.h"
#include "trine/base/tensor.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

const MatmulProblem kProblem{.m = 8, .n = 32, .k = 16};

// One problem of every kind, and those of other passes, small.
std::vector<Problem> every_kind() {
  const ConvProblem conv{.in_channels = 8, .out_channels = 16, .in = {1, 9, 9}, .out = {1, 7, 7}, .kernel = {1, 3, 3}};
  const PoolProblem pool{.channels = 8, .in = {1, 8, 8}, .out = {1, 4, 4}, .kernel = {1, 2, 2}, .stride = {1, 2, 2}};
  AttentionProblem attention{
      .batch = 2, .heads = 2, .kv_heads = 1, .q_len = 5, .kv_len = 6, .head_dim = 4, .v_head_dim = 4};
  attention.q_stride = attention.out_stride = {40, 4, 8}, attention.k_stride = attention.v_stride = {24, 4, 4};
  attention.lse = attention.lengths = true, attention.dropout = 0.1f;
  attention.mask = MaskKind::additive, attention.mask_stride = {0, 0, 6, 1};
  AttentionProblem attention_backward = attention;
  attention_backward.pass = Pass::backward;
  std::vector<Problem> all = {
      conv,
      backward_data(conv),
      ConvWeightsProblem{conv, true},
      kProblem,
      pool,
      PoolBackwardProblem{pool},
      attention,
      attention_backward,
      ResizeProblem{.channels = 8, .in = {1, 4, 4}, .out = {1, 8, 8}, .scale = {1, 2, 2}},
      CopyProblem::transpose({3, 4, 5}, {2, 0, 1}, 4),
      GatherProblem{.outer = 2, .axis = 5, .inner_bytes = 12, .count = 4},
      CtcLossProblem{.steps = 6, .batch = 2, .classes = 5, .max_label = 2},
      AffineGridProblem{.n = 2, .out = {1, 4, 5}},
      GridSampleProblem{.n = 2, .channels = 3, .in = {1, 4, 5}, .out = {1, 3, 3}},
      GridSampleProblem{.pass = Pass::backward, .n = 2, .channels = 3, .in = {1, 4, 5}, .out = {1, 3, 3}},
      ActivationProblem{.function = Unary::gelu, .elements = 100},
      ActivationProblem{.function = Unary::gelu, .pass = Pass::backward, .elements = 100},
      BinaryProblem{Binary::select, {4, 5}, {5}},
      DropoutProblem{.elements = 100},
      SoftmaxProblem{.outer = 4, .axis = 9},
      SoftmaxProblem{.kind = SoftmaxKind::log, .pass = Pass::backward, .outer = 4, .axis = 9},
      NormProblem{.n = 3, .channels = 8, .pixels = 5, .training = true},
      NormProblem{.kind = NormKind::layer, .pass = Pass::backward, .n = 3, .channels = 8},
      LrnProblem{.channels = 8, .image = {1, 4, 4}},
      LrnProblem{.pass = Pass::backward, .within = true, .channels = 8, .image = {1, 4, 4}},
      ReduceProblem{.kind = ReduceKind::max, .dims = {4, 5}, .out_dims = {4, 1}, .indices = true},
      TransformProblem{{3, 4}, {4, 1}, {1, 3}, DType::f32, DType::f16}};
  for (RnnPass pass : {RnnPass::inference, RnnPass::training, RnnPass::backward_data, RnnPass::backward_weights})
    all.push_back(RnnProblem{.steps = 3, .batch = 2, .input = 4, .hidden = 5, .sequence_lens = true, .pass = pass});
  const size_t wide = all.size();
  for (size_t i = 0; i < wide; ++i)
    for (DType type : {DType::f16, DType::bf16})
      if (Problem narrow = with_type(all[i], type); narrow != all[i] && op_kind(narrow) != OpKind::conv)
        all.push_back(narrow);
  for (const ElementTypes& types :
       {ElementTypes{DType::f16, DType::f16, DType::f16}, ElementTypes{DType::bf16, DType::bf16, DType::f32},
        ElementTypes{DType::u8, DType::i8, DType::i8}, ElementTypes{DType::i8, DType::i8, DType::i32, DType::i32}}) {
    ConvProblem narrow = conv;
    narrow.types = types;
    MatmulProblem product = kProblem;
    product.types = types;
    all.push_back(narrow), all.push_back(product);
  }
  return all;
}

TEST(Find, EveryKindHasARowOnEveryCpuAndAReasonForEveryOther) {
  std::set<OpKind> kinds;
  for (const Problem& p : every_kind()) {
    SCOPED_TRACE(text(p));
    kinds.insert(op_kind(p));
    EXPECT_EQ(fault(p), "");
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
      const Choice choice = find(p, {.level = level, .features = {}});
      EXPECT_FALSE(choice.candidates.empty());
      EXPECT_EQ(choice.candidates.size() + choice.refusals.size(), rows_of(op_kind(p)).size());
      const std::string text = choice.text();
      for (const Candidate& c : choice.candidates) EXPECT_NE(text.find(c.name), std::string::npos);
      for (const Refusal& r : choice.refusals) {
        EXPECT_FALSE(r.reason.empty()) << r.name;
        EXPECT_NE(text.find(r.name), std::string::npos) << r.name;
      }
    }
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(OpKind::transform) + 1) << "a kind of problem is not in the list";
}

void empty(ConvProblem& p) { p.n = 0; }
void empty(ConvWeightsProblem& p) { p.forward.n = 0; }
void empty(MatmulProblem& p) { p.m = 0; }
void empty(PoolBackwardProblem& p) { p.forward.n = 0; }
void empty(AttentionProblem& p) { p.batch = 0; }
void empty(RnnProblem& p) { p.batch = 0; }
void empty(CopyProblem& p) { p.dims[0] = 0; }
void empty(TransformProblem& p) { p.dims[0] = 0; }
void empty(GatherProblem& p) { p.count = 0; }
void empty(CtcLossProblem& p) { p.batch = 0; }
void empty(ActivationProblem& p) { p.elements = 0; }
void empty(DropoutProblem& p) { p.elements = 0; }
void empty(BinaryProblem& p) { p.dims[0] = 0; }
void empty(ReduceProblem& p) { p.dims[0] = p.out_dims[0] = 0; }
void empty(SoftmaxProblem& p) { p.outer = 0; }
template <class P>
void empty(P& p) {
  p.n = 0;
}

// Nothing to do is no error: no row is refused for it that was not refused before, and nothing is touched but the
// gradients of what all images share, which are 0.
TEST(Find, EveryRowTakesAnEmptyBatch) {
  for (const Problem& full : every_kind()) {
    Problem p = full;
    std::visit([](auto& own) { empty(own); }, p);
    SCOPED_TRACE(text(p));
    EXPECT_EQ(fault(p), "");
    for (const KernelRow* row : rows_of(op_kind(p))) {
      if (!runs_here(*row) || misfit(*row, full)) continue;
      EXPECT_EQ(misfit(*row, p), nullptr) << row->name;
      EXPECT_GE(row->cost(p, 2), 0) << row->name;
      measure(*row, p, 2, 0);
    }
  }
}

// In a program of its own: the level is read once.
TEST(Find, WithDebug3EveryChoiceIsPrinted) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "TRINE_DEBUG=3 GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 " + self +
                              " --gtest_filter=Find.EveryKindHasARowOnEveryCpuAndAReasonForEveryOther 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  char part[4096];
  while (const size_t n = fread(part, 1, sizeof part, pipe)) said.append(part, n);
  EXPECT_EQ(pclose(pipe), 0);
  for (const Problem& p : every_kind()) EXPECT_NE(said.find(text(p) + "\n"), std::string::npos) << text(p);
  EXPECT_NE(said.find("us by model conv_f32_f32_indirect_gemm_baseline (exact, weights "), std::string::npos);
  EXPECT_NE(said.find("  refused   needs avx512; this run has baseline: "), std::string::npos);
}

TEST(Find, MeasuresEveryKind) {
  for (const Problem& p : every_kind()) {
    const Choice choice = find(p, {.measure_seconds = 0.5});
    ASSERT_FALSE(choice.candidates.empty());
    if (choice.candidates.size() > 1) {
      EXPECT_TRUE(choice.candidates[0].measured) << text(p);
    }
  }
}

// A row may use every byte of the workspace it asks for and no more; with a byte less it is refused.
TEST(Find, TheWorkspaceLimitIsTheRowsOwn) {
  for (const Problem& p : every_kind())
    for (int threads : {1, 3}) {
      const Choice all = find(p, {.threads = threads});
      for (const Candidate& c : all.candidates) {
        if (c.workspace_bytes == 0) continue;
        const Choice less = find(p, {.threads = threads, .workspace_bytes = c.workspace_bytes - 1});
        for (const Candidate& other : less.candidates) EXPECT_LT(other.workspace_bytes, c.workspace_bytes) << c.name;
        const Choice equal = find(p, {.threads = threads, .workspace_bytes = c.workspace_bytes});
        EXPECT_TRUE(std::any_of(equal.candidates.begin(), equal.candidates.end(), [&](const Candidate& other) {
          return other.row == c.row;
        })) << c.name;
      }
    }
}

TEST(Find, SlowRowsAreNotBegunWhenTheBudgetIsShort) {
  KernelRow slow = *find_row("matmul_f32_f32_panels_baseline");
  slow.name = "matmul_slow_planted";
  slow.cost = [](const Problem&, int) { return 1e-9; };
  static int runs;
  runs = 0;
  slow.run = [](const Problem&, const Args&) { ++runs; };
  const ScopedRow planted(slow);
  const Choice timed = find(kProblem, {.measure_seconds = 0.01});
  EXPECT_GE(runs, 2);
  slow.cost = [](const Problem&, int) { return 100.0; };
  runs = 0;
  const Choice choice = find(MatmulProblem{.m = 9, .n = 32, .k = 16}, {.drop = {}, .measure_seconds = 0.01});
  EXPECT_EQ(runs, 0);
  EXPECT_FALSE(choice.candidates.back().measured);
}

TEST(Tuner, NobodyWaitsAndLaterItIsKnown) {
  const auto tuner = std::make_shared<Tuner>(TunerOptions{.seconds_per_problem = 2});
  KernelRow slow = *find_row("matmul_f32_f32_panels_baseline");
  slow.name = "matmul_planted_baseline";  // the model's favourite, and far slower than it says
  slow.cost = [](const Problem&, int) { return 0.0; };
  static std::atomic<int> runs;
  static std::thread::id caller;
  runs = 0, caller = std::this_thread::get_id();
  slow.run = [](const Problem&, const Args&) {
    ++runs;
    EXPECT_NE(std::this_thread::get_id(), caller);
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 500;  // sleeping would not be counted
    while (std::clock() < end) {
    }
  };
  const ScopedRow planted(slow);
  const Primitive first(kProblem, {.tuner = tuner});
  EXPECT_EQ(first.algorithm(), "matmul_planted_baseline");
  EXPECT_FALSE(first.choice().candidates[0].measured);
  tuner->wait();
  EXPECT_TRUE(tuner->idle());
  EXPECT_GE(runs, 2);
  const auto better = first.faster();
  ASSERT_TRUE(better);
  EXPECT_NE(better->algorithm(), first.algorithm());
  EXPECT_TRUE(better->choice().candidates[0].measured);
  EXPECT_FALSE(better->faster());
  runs = 0;
  EXPECT_EQ(Primitive(kProblem, {.tuner = tuner}).algorithm(), better->algorithm());
  EXPECT_TRUE(tuner->idle()) << "what is known is not measured again";
  EXPECT_EQ(runs, 0);
  // By the model alone.
  const Primitive determined(kProblem, {.tuner = tuner, .deterministic = true});
  EXPECT_EQ(determined.algorithm(), "matmul_planted_baseline");
  EXPECT_FALSE(determined.faster());
}

TEST(Tuner, EndsInTheMiddleOfItsWork) {
  Tuner tuner({.seconds_per_problem = 0.02});
  for (int64_t m = 1; m < 200; ++m) tuner.request(MatmulProblem{.m = m, .n = 32, .k = 16}, {});
  EXPECT_FALSE(tuner.idle());
}

TEST(Tuner, SpendsNoMoreThanItMay) {
  Tuner tuner({.seconds_per_problem = 0.05, .seconds = 0.001});
  for (int64_t m = 1; m < 50; ++m) tuner.request(MatmulProblem{.m = m, .n = 32, .k = 16}, {});
  tuner.wait();
  EXPECT_LT(tuner.timings()->measured, 49 * 2);  // two candidates at least of each
  EXPECT_LE(tuner.timings()->seconds_left, 0);
}

struct TimingFile : testing::Test {
  const std::string path = testing::TempDir() + "trine_dnn_timings_" + std::to_string(getpid());
  void SetUp() override { TearDown(); }
  void TearDown() override {
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".lock");
  }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  void write(const std::string& what) const { std::ofstream(path) << what; }
};

TEST_F(TimingFile, ATunerRemembersForTheNext) {
  {
    Tuner tuner({.seconds_per_problem = 0.05, .file = path});
    tuner.request(kProblem, {});
    tuner.wait();
    EXPECT_EQ(tuner.error(), "");
  }
  const auto next = std::make_shared<Tuner>(TunerOptions{.file = path});
  EXPECT_TRUE(Primitive(kProblem, {.tuner = next}).choice().candidates[0].measured);
  EXPECT_TRUE(next->idle());
  EXPECT_EQ(next->timings()->measured, 0);
}

// Two processes, each saving many times while the other does: every entry is there at the end, and whoever reads
// meanwhile finds a whole file.
TEST_F(TimingFile, TwoProcessesLoseNothing) {
  constexpr int64_t kTimes = 40;
  std::vector<pid_t> children;
  for (int64_t who = 1; who <= 2; ++who) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int status = 0;
      try {
        for (int64_t t = 1; t <= kTimes; ++t) {
          Timings own, theirs;
          own.add(MatmulProblem{.m = who, .n = t, .k = 3}, "row", 1, 1e-3 * static_cast<double>(who));
          save_timings(own, path);
          if (load_timings(theirs, path) != 0) status = 1;
          if (!theirs.find(MatmulProblem{.m = who, .n = t, .k = 3}, "row", 1)) status = 2;
        }
      } catch (const Error&) {
        status = 3;
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  Timings all;
  EXPECT_EQ(load_timings(all, path), 0);
  for (int64_t who = 1; who <= 2; ++who)
    for (int64_t t = 1; t <= kTimes; ++t)
      EXPECT_DOUBLE_EQ(all.find(MatmulProblem{.m = who, .n = t, .k = 3}, "row", 1).value_or(0),
                       1e-3 * static_cast<double>(who));
}

TEST_F(TimingFile, DamageIsIgnoredWithOneLine) {
  Timings good;
  good.add(kProblem, "row", 1, 1e-3);
  write(good.text() + "half a li\nne\n\x01\x02\n");
  Timings read;
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_timings(read, path), 3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("3 damaged lines are ignored"), std::string::npos) << said;
  EXPECT_TRUE(read.find(kProblem, "row", 1));
  save_timings(read, path);  // leaves the damage out
  EXPECT_EQ(text(), good.text());
}

TEST_F(TimingFile, AnotherFileIsIgnoredWithOneLineAndNotReplaced) {
  write("my thesis\nsecond line\n");
  Timings read;
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_timings(read, path), 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  read.add(kProblem, "row", 1, 1e-3);
  EXPECT_THROW(save_timings(read, path), Error);
  EXPECT_EQ(text(), "my thesis\nsecond line\n");
  Tuner tuner({.seconds_per_problem = 0.05, .file = path});
  tuner.request(kProblem, {});
  tuner.wait();
  EXPECT_NE(tuner.error().find("timing cache"), std::string::npos);
  EXPECT_EQ(text(), "my thesis\nsecond line\n");
}

TEST_F(TimingFile, NoFileIsNoMistake) {
  Timings none;
  EXPECT_EQ(load_timings(none, path), 0);
  EXPECT_THROW(load_timings(none, testing::TempDir()), Error);
}

}  // namespace
}  // namespace trine::dnn::test
