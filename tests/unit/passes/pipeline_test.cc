// The pipeline itself: skipping, errors, bodies, and whole small models through every pass.
#include "passes/pipeline.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "case_file.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "trine/base/error.h"

namespace trine {
namespace {

Graph small_graph() {
  return Graph::parse(R"(graph(%x: f32[N,4]) {
    %two = const f32[]{2}
    %four = mul %two %two
    %a = identity %x
    %y = mul %a %four
    return %y
  })");
}

TEST(Pipeline, NamesAreKnownAndExplained) {
  for (const Pass& pass : passes()) {
    EXPECT_FALSE(pass.doc.empty());
    EXPECT_EQ(find_pass(pass.name)->run, pass.run) << pass.name;
  }
  EXPECT_EQ(find_pass("no_such_pass"), nullptr);
}

TEST(Pipeline, SkipsByName) {
  Graph graph = small_graph();
  const auto records = run_passes(graph, {.skip = {"simplify", "fold_constants"}});
  for (const PassRecord& r : records) {
    const Pass::For where = find_pass(r.name)->where;
    const bool elsewhere = where >= Pass::For::device || where == Pass::For::cpu_bf16;
    EXPECT_EQ(r.skipped, r.name == "simplify" || r.name == "fold_constants" || elsewhere) << r.name;
  }
  EXPECT_NE(graph.text().find("identity"), std::string::npos);
}

TEST(Pipeline, SkipsByEnvironment) {
  setenv("TRINE_SKIP", "simplify", 1);
  Graph graph = small_graph();
  run_passes(graph);
  unsetenv("TRINE_SKIP");
  EXPECT_NE(graph.text().find("identity"), std::string::npos);
}

TEST(Pipeline, AnUnknownNameIsAnErrorThatListsTheKnown) {
  Graph graph = small_graph();
  try {
    run_passes(graph, {.skip = {"fold"}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("fold_constants"), std::string::npos) << e.what();
  }
}

TEST(Pipeline, ReportsEachPass) {
  Graph graph = small_graph();
  size_t seen = 0;
  const auto records = run_passes(graph, {.see = [&](const PassRecord&, const Graph&) { ++seen; }});
  EXPECT_EQ(seen, passes().size());
  EXPECT_EQ(records.size(), passes().size());
  EXPECT_EQ(records.back().nodes, graph.nodes.size());
}

// A copy of the graph made before shares its bodies with it; the passes must not change them.
TEST(Pipeline, LeavesCopiesAlone) {
  Graph graph = Graph::parse(R"(graph(%x: f32[4], %c: bool[]) {
    %y = if %c %x captures=1 graph(%in: f32[4]) {
        %a = identity %in
        %r = neg %a
        return %r
      } graph(%in: f32[4]) {
        return %in
      }
    return %y
  })");
  const Graph copy = graph;
  const std::string before = copy.nodes[0].bodies[0]->text();
  run_passes(graph);
  EXPECT_EQ(copy.nodes[0].bodies[0]->text(), before);
  EXPECT_EQ(graph.nodes[0].bodies[0]->nodes.size(), 1u);
}

// A constant that a body takes from outside is one of its own afterwards, and folds there.
TEST(Pipeline, ConstantsMoveIntoBodies) {
  Graph graph = Graph::parse(R"(graph(%x: f32[4], %c: bool[]) {
    %two = const f32[]{2}
    %y = if %c %x %two captures=2 graph(%in: f32[4], %k: f32[]) {
        %k2 = mul %k %k
        %r = mul %in %k2
        return %r
      } graph(%in: f32[4], %k: f32[]) {
        %r = div %in %k
        return %r
      }
    return %y
  })");
  const Graph before = graph;
  run_passes(graph);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].captures, 1);
  for (const auto& body : graph.nodes[0].bodies) EXPECT_EQ(body->nodes.size(), 1u) << body->text();
  for (double c : {0.0, 1.0}) {
    const std::vector<Datum> inputs = {Tensor::from_f64(DType::f32, {4}, {1, -2, 3, 0}),
                                       Tensor::from_f64(DType::boolean, {}, {c})};
    EXPECT_EQ(testing::difference(before, graph, inputs), "");
  }
}

// What an operator refuses at run time it still refuses, although its size could be worked out from other sizes.
struct Refused {
  const char* why;
  const char* graph;
  std::vector<Tensor> inputs;
  const char* message;
};
class RunTimeMistakes : public ::testing::TestWithParam<Refused> {};

TEST_P(RunTimeMistakes, Survive) {
  const Refused& c = GetParam();
  const std::vector<Datum> inputs(c.inputs.begin(), c.inputs.end());
  for (bool passes : {false, true}) {
    Graph graph = Graph::parse(c.graph);
    if (passes) run_passes(graph);
    try {
      evaluate(graph, inputs);
      ADD_FAILURE() << c.why << (passes ? ", after passes: " : ": ") << "no error\n" << graph.text();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << c.why << ": " << e.what();
    }
  }
}

Tensor ones(const Dims& dims) {
  return Tensor::from_f64(DType::f32, dims, std::vector<double>(static_cast<size_t>(element_count(dims)), 1));
}

INSTANTIATE_TEST_SUITE_P(Rows, RunTimeMistakes,
                         ::testing::Values(Refused{"axes given at run time, between other nodes",
                                                   R"(graph(%x: f32[2,3], %a: i64[1]) {
                     %r = relu %x
                     %s = squeeze %r %a
                     %y = neg %s
                     return %y
                   })",
                                                   {ones({2, 3}), Tensor::vector_i64({0})},
                                                   "squeeze: axis 0 of f32[2,3] is not 1"},
                                           Refused{"a squeezed axis of open size, the next reshape takes any size",
                                                   R"(graph(%x: f32[N,M,3]) {
                     %a = const i64[1]{0}
                     %t = const i64[2]{-1,3}
                     %s = squeeze %x %a
                     %y = reshape %s %t
                     return %y
                   })",
                                                   {ones({2, 1, 3})},
                                                   "squeeze: axis 0 of f32[2,1,3] is not 1"},
                                           Refused{"a shape given at run time, the next reshape takes any size",
                                                   R"(graph(%x: f32[2,3], %t: i64[1]) {
                     %flat = const i64[1]{-1}
                     %s = reshape %x %t
                     %y = reshape %s %flat
                     return %y
                   })",
                                                   {ones({2, 3}), Tensor::vector_i64({5})},
                                                   "reshape: cannot reshape f32[2,3] to [5]"},
                                           Refused{"a computed shape that does not fit",
                                                   R"(graph(%x: f32[N,6], %z: f32[M]) {
                     %two = const i64[1]{2}
                     %m = shape %z
                     %t = concat %m %two {axis=0}
                     %y = reshape %x %t
                     return %y
                   })",
                                                   {ones({2, 6}), ones({5})},
                                                   "cannot reshape f32[2,6] to [5,2]"},
                                           Refused{"an expansion to an open size that has the input's type",
                                                   R"(graph(%x: f32[3], %z: f32[M]) {
                     %t = shape %z
                     %y = expand %x %t
                     return %y
                   })",
                                                   {ones({3}), ones({2})},
                                                   "expand: cannot expand f32[3] to [2]"},
                                           Refused{"two open sizes",
                                                   R"(graph(%x: f32[N], %z: f32[M]) {
                     %t = shape %z
                     %y = expand %x %t
                     return %y
                   })",
                                                   {ones({3}), ones({2})},
                                                   "expand: cannot expand f32[3] to [2]"}));

// The passes find nothing to do in what they have made.
// Shape inference reads lists; a matrix of axes it leaves to the run, and so must every pass.
TEST(Pipeline, AxesThatInferenceDoesNotReadAreNotReadByPasses) {
  for (const char* axes : {"i64[1,1]{-2147483648}", "i64[1,1]{9}"}) {
    Graph graph = Graph::parse(std::string("graph(%x: f32[2,3,N]) {\n  %axes: i64[1,1] = const ") + axes + R"(
      %e: f32[2,3,N] = exp %x
      %m: f32[A,B,C] = reduce_mean %e %axes
      %y: f32[2,3,N] = div %e %m
      return %y
    })");
    infer_shapes(graph);
    EXPECT_NO_THROW(run_passes(graph));
    EXPECT_THROW(evaluate(graph, {Tensor::from_f64(DType::f32, {2, 3, 1}, {1, 2, 3, 4, 5, 6})}), Error);
  }
}

TEST(Pipeline, ASecondRunChangesNothing) {
  Graph graph = Graph::parse(R"(graph(%x: f32[N,3,8,8]) {
    %w = const f32[4,3,3,3] random(1)
    %fc = const f32[5,4] random(2)
    %axes = const i64[2]{2,3}
    %a = conv %x %w
    %b = sigmoid %a
    %c = mul %a %b
    %d = reduce_mean %c %axes {keepdims=0}
    %e = gemm %d %fc {transB=1}
    %y = softmax %e
    return %y
  })");
  run_passes(graph);
  const std::string once = testing::canonical_text(graph);
  run_passes(graph);
  EXPECT_EQ(testing::canonical_text(graph), once);
}

}  // namespace
}  // namespace trine
