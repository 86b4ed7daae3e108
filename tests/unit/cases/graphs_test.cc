// Every case of tests/cases/graphs/*.txt by the references, and as an engine, interpreted and as machine code.
#include <gtest/gtest.h>

#include "engines.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph_case.h"
#include "op_case.h"
#include "trine/base/error.h"

namespace trine::test {
namespace {

class GraphCases : public ::testing::TestWithParam<GraphCase> {
 protected:
  using Run = std::function<std::vector<Datum>(const std::vector<Datum>&)>;

  // In every mode each run of the case, one after the other.
  void check(const std::string& mode, const Run& run) {
    for (const GraphRun& r : GetParam().runs) {
      SCOPED_TRACE(mode);
      std::vector<Datum> inputs;
      for (const std::string& word : r.given) inputs.emplace_back(literal_of(word));
      if (r.error.empty()) check_outputs(r, run(inputs));
      else check_error(r, [&] { run(inputs); });
    }
  }

  void check_outputs(const GraphRun& r, const std::vector<Datum>& got) {
    ASSERT_EQ(got.size(), r.gives.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (r.gives[i] == "_") continue;
      ASSERT_TRUE(got[i].is_tensor()) << "output " << i;
      EXPECT_EQ(difference(got[i].tensor(), literal_of(r.gives[i]), r.eps_count), "") << "output " << i;
    }
  }

  void check_error(const GraphRun& r, const std::function<void()>& run) {
    try {
      run();
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(r.error), std::string::npos) << e.what();
    }
  }
};

TEST_P(GraphCases, GiveTheResult) {
  const GraphCase& c = GetParam();
  SCOPED_TRACE(c.file + ".txt:" + std::to_string(c.line) + ": " + c.why);
  ASSERT_FALSE(c.runs.empty());
  Graph graph = Graph::parse(c.graph);
  try {
    infer_shapes(graph);
  } catch (const Error& e) {
    EXPECT_FALSE(c.runs[0].error.empty()) << e.what();
    EXPECT_NE(std::string(e.what()).find(c.runs[0].error), std::string::npos) << e.what();
    return;
  }
  check("reference", [&](const std::vector<Datum>& inputs) { return evaluate(graph, inputs); });
  for (bool code : {false, true}) {
    if (code && !has_machine_code()) continue;
    Session session(engine_of(graph, code), {.threads = 2});
    check(code ? "machine code" : "interpreted", [&](const std::vector<Datum>& inputs) { return session.run(inputs); });
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GraphCases,
                         ::testing::ValuesIn(read_graph_cases(TRINE_SOURCE_DIR "/tests/cases/graphs")),
                         [](const auto& info) { return info.param.file + "_" + std::to_string(info.param.line); });

}  // namespace
}  // namespace trine::test
