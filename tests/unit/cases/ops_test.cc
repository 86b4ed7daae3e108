// Every row of tests/cases/ops/*.cases, as an engine of one node against the operator's reference: loops interpreted on
// each CPU level, and machine code; with all operands given at run time, and with all but the first as constants.
#include <gtest/gtest.h>
#include <malloc.h>

#include "engines.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "op_case.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::test {
namespace {

const std::string kFolder = TRINE_SOURCE_DIR "/tests/cases/ops";

uint32_t seed() {
  static const uint32_t value = [] {
    const uint32_t s = std::random_device{}();
    std::printf("seed %u\n", s);
    // Fresh memory holds junk, not zeros: an element that nobody writes shows.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_PERTURB, 0x5a);
    return s;
  }();
  return value;
}

std::vector<Datum> given_to(const Graph& graph, const std::vector<Tensor>& inputs) {
  return {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(graph.inputs.size())};
}

class OpCases : public ::testing::TestWithParam<OpCase> {
 protected:
  // Twice in one session, with other data: the second run meets what the first left in the arena.
  void expect_like_reference(const Graph& graph, bool code, const std::vector<std::vector<Tensor>>& draws) {
    Session session(engine_of(graph, code), {.threads = 2});
    for (const std::vector<Tensor>& inputs : draws) {
      const std::vector<Datum> want = evaluate(graph, given_to(graph, inputs));
      const std::vector<Datum> got = session.run(given_to(graph, inputs));
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i)
        if (const auto given = given_output(GetParam(), i)) {
          EXPECT_EQ(difference(want[i].tensor(), *given, GetParam().eps_count), "")
              << "output " << i << " of the reference";
        }
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(difference(got[i].tensor(), want[i].tensor(), GetParam().eps_count), "") << "output " << i;
    }
  }

  void expect_like_reference(Graph graph, const std::string& variant, const std::vector<std::vector<Tensor>>& draws) {
    infer_shapes(graph);
    for (CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
      if (level > cpu_info().level) continue;
      SCOPED_TRACE(variant + ", interpreted, " + std::string(name(level)));
      limit_cpu_level(level);
      expect_like_reference(graph, false, draws);
      limit_cpu_level(std::nullopt);
    }
    SCOPED_TRACE(variant + ", machine code");
    if (has_machine_code()) expect_like_reference(graph, true, draws);
  }

  void expect_message(const std::string& mode, const std::function<void()>& run) {
    try {
      run();
      ADD_FAILURE() << mode << ": no error";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(GetParam().error), std::string::npos) << mode << ": " << e.what();
    }
  }

  // Inference may see the mistake; where it does not, the reference and engines of both kinds see the same one.
  void expect_error(const Graph& graph, const std::vector<Tensor>& inputs) {
    Graph typed = graph;
    try {
      infer_shapes(typed);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(GetParam().error), std::string::npos) << "inference: " << e.what();
      return;
    }
    const std::vector<Datum> given = given_to(typed, inputs);
    expect_message("reference", [&] { evaluate(typed, given); });
    expect_message("interpreted", [&] { Session(engine_of(typed, false), {.threads = 1}).run(given); });
    if (has_machine_code())
      expect_message("machine code", [&] { Session(engine_of(typed, true), {.threads = 1}).run(given); });
  }
};

TEST_P(OpCases, AsTheReference) {
  const OpCase& c = GetParam();
  std::mt19937 random(seed());
  SCOPED_TRACE(c.file + ".cases:" + std::to_string(c.line) + ": " + c.text);
  if (!c.error.empty()) {
    try {
      const std::vector<Tensor> inputs = draw_inputs(c, random);
      expect_error(graph_of(c), inputs);
      expect_error(with_constants(graph_of(c), inputs), inputs);
    } catch (const Error& e) {  // what graph text itself refuses
      EXPECT_NE(std::string(e.what()).find(c.error), std::string::npos) << e.what();
    }
    return;
  }
  const std::vector<Tensor> first = draw_inputs(c, random), second = draw_inputs(c, random);
  expect_like_reference(graph_of(c), "all at run time", {first, second});
  if (first.size() < 2) return;
  std::vector<Tensor> mixed = first;  // the constants stay
  mixed[0] = second[0];
  expect_like_reference(with_constants(graph_of(c), first), "constants", {first, mixed});
}

INSTANTIATE_TEST_SUITE_P(Rows, OpCases, ::testing::ValuesIn(read_op_cases(kFolder)),
                         [](const auto& info) { return info.param.file + "_" + std::to_string(info.param.line); });

// The comparison itself: a wrong element, a NaN and an infinity that should not be are seen.
TEST(OpCaseDifference, IsSeen) {
  const auto t = [](std::vector<float> v) { return Tensor::of(DType::f32, {static_cast<int64_t>(v.size())}, v); };
  EXPECT_EQ(difference(t({1, NAN, INFINITY}), t({1, NAN, INFINITY}), 0), "");
  EXPECT_EQ(difference(t({1 + 0x1p-22f, 4}), t({1, 4}), 1), "");
  EXPECT_NE(difference(t({1 + 0x1p-20f, 4}), t({1, 4}), 1), "");
  EXPECT_NE(difference(t({1, NAN}), t({1, 2}), 1), "");
  EXPECT_NE(difference(t({1, 2}), t({1, NAN}), 1), "");
  EXPECT_NE(difference(t({1, INFINITY}), t({1, 2}), 1), "");
  EXPECT_NE(difference(t({1}), t({1, 2}), 1), "");
}

}  // namespace
}  // namespace trine::test
