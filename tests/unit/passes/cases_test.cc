// Runs every file of tests/cases/passes: the passes give the expected graph, both graphs give the same numbers, and the
// passes find nothing more to do.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "case_file.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "passes/pipeline.h"

namespace trine {
namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(TRINE_SOURCE_DIR "/tests/cases/passes"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

void apply(const std::vector<std::string>& names, Graph& graph) {
  for (const std::string& name : names) {
    const Pass* pass = find_pass(name);
    ASSERT_TRUE(pass) << name;
    run_pass(*pass, graph);
  }
}

class PassCases : public ::testing::TestWithParam<std::string> {};

TEST_P(PassCases, GiveTheExpectedGraph) {
  const testing::PassCase c = testing::read_case(GetParam());
  Graph graph = c.before;
  unshare_bodies(graph);
  infer_shapes(graph);
  ASSERT_NO_FATAL_FAILURE(apply(c.passes, graph));
  EXPECT_EQ(testing::canonical_text(graph), testing::canonical_text(c.after)) << c.file << "\n"
                                                                              << c.why << graph.text();
  EXPECT_EQ(graph.inputs.size(), c.before.inputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    EXPECT_EQ(graph.value(graph.outputs[i]).name, c.before.value(c.before.outputs[i]).name);
}

// Twice with the symbols at random sizes, once with all of them 1.
TEST_P(PassCases, KeepTheNumbers) {
  const testing::PassCase c = testing::read_case(GetParam());
  Graph graph = c.before;
  unshare_bodies(graph);
  infer_shapes(graph);
  ASSERT_NO_FATAL_FAILURE(apply(c.passes, graph));
  std::random_device device;
  for (int round = 0; round < 3; ++round) {
    const uint64_t seed = device();
    testing::Symbols symbols;
    for (const std::string& s : testing::symbols_of(c.before))
      symbols.push_back({s, round == 0 ? 1 : static_cast<int64_t>(2 + (seed + std::hash<std::string>()(s)) % 5)});
    const auto inputs = testing::random_inputs(c.before, symbols, seed);
    EXPECT_EQ(testing::difference(c.before, graph, inputs), "") << c.file << ", seed " << seed;
  }
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, PassCases, ::testing::ValuesIn(case_files()), name_of);

}  // namespace
}  // namespace trine
