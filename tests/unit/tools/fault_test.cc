// A wrong kernel is planted; `trine bisect` must name it and the step that runs it, `trine reduce` must cut the model
// down to it. reduce starts its command as a process of its own: here that is this program again, running the one test
// that compares a model with its references.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "dnn/kernel_row.h"
#include "model_builder.h"
#include "run_command.h"
#include "trine/command.h"
#include "trine/engine/build.h"

namespace trine::cli {
namespace {

using namespace test;

constexpr const char* kRow = "matmul_planted";
const std::string kModel = testing::TempDir() + "trine_fault.onnx",
                  kSmall = testing::TempDir() + "trine_fault_small.onnx",
                  kEngine = testing::TempDir() + "trine_fault.trn";

std::vector<float> random_values(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

// Four layers; only the third has 24 columns.
void write_model() {
  const auto weights = [](const char* name, int64_t k, int64_t n, unsigned seed) {
    return float_tensor(name, {k, n}, random_values(k * n, seed));
  };
  GraphText g{.nodes = {{"MatMul", {"x", "w1"}, {"a"}, {}, "first"},
                        {"Tanh", {"a"}, {"b"}, {}, "squash"},
                        {"MatMul", {"b", "w2"}, {"c"}, {}, "second"},
                        {"Sigmoid", {"c"}, {"d"}, {}, "gate"},
                        {"MatMul", {"d", "w3"}, {"e"}, {}, "third"},
                        {"Softmax", {"e"}, {"f"}, {}, "spread"},
                        {"MatMul", {"f", "w4"}, {"y"}, {}, "fourth"}},
              .inputs = {value_info("x", kFloat, {"5", "16"})},
              .outputs = {value_info("y", kFloat, {"5", "8"})},
              .initializers = {weights("w1", 16, 32, 1), weights("w2", 32, 16, 2), weights("w3", 16, 24, 3),
                               weights("w4", 24, 8, 4)}};
  std::ofstream(kModel, std::ios::binary) << model({.graph = g});
}

const dnn::KernelRow& good_row() { return *dnn::find_row("matmul_f32_f32_panels_baseline"); }

// Right but for 24 columns.
dnn::KernelRow planted_row() {
  dnn::KernelRow row = good_row();
  row.name = kRow;
  row.cost = [](const dnn::Problem&, int) { return 1e-12; };
  row.run = [](const dnn::Problem& problem, const dnn::Args& args) {
    good_row().run(problem, args);
    if (std::get<dnn::MatmulProblem>(problem).n == 24) static_cast<float*>(args.out[0])[7] += 3;
  };
  return row;
}

struct Fault : testing::Test {
  void SetUp() override { write_model(); }
  void TearDown() override {
    for (const std::string& path : {kModel, kSmall, kEngine}) std::filesystem::remove(path);
  }
};

TEST_F(Fault, BisectNamesThePlantedKernelAndItsStep) {
  EXPECT_EQ(run_command(setup_bisect, {"bisect", kModel, "--no-code"}), "") << "nothing is wrong yet";
  const dnn::KernelRow row = planted_row();
  const dnn::ScopedRow planted(row);
  testing::internal::CaptureStdout();
  const std::string error = run_command(setup_bisect, {"bisect", kModel, "--no-code", "--json"});
  const std::string report = testing::internal::GetCapturedStdout();
  EXPECT_NE(error.find("--drop matmul_planted avoids it"), std::string::npos) << error;
  EXPECT_NE(report.find("\"kind\": \"kernel\""), std::string::npos) << report;
  EXPECT_NE(report.find("\"name\": \"matmul_planted\""), std::string::npos) << report;
  EXPECT_NE(report.find("\"step\": \"third\""), std::string::npos) << report;
}

TEST_F(Fault, ReduceKeepsTheStepThatRunsIt) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "TRINE_FAULT_MODEL={} '" + self + "' --gtest_filter=FaultCommand.TheModelIsRight";
  EXPECT_EQ(run_command(setup_reduce, {"reduce", kModel, "--while", command, "-o", kSmall}), "");
  const Model small = load(kSmall);
  EXPECT_EQ(small.node_count(), 1u);
  EXPECT_NE(small.graph_text().find("24"), std::string::npos) << small.graph_text();
}

// An engine alone is held to the references of its own graph: a wrong kernel in it is seen without the ONNX file.
TEST_F(Fault, CompareHoldsAnEngineToItsGraph) {
  const dnn::KernelRow row = planted_row();
  const dnn::ScopedRow planted(row);
  ASSERT_EQ(tell_command(setup_build, {"build", kModel, "-o", kEngine, "--no-code", "--verify", "off"}).error, "");
  const Told wrong = tell_command(setup_compare, {"compare", kEngine});
  EXPECT_NE(wrong.error.find("outputs differ by more than 0.0001"), std::string::npos) << wrong.error;
  EXPECT_NE(wrong.out.find("A: " + kEngine + " (the graph it holds, run by the operators' references), B: " + kEngine +
                           " (engine)"),
            std::string::npos)
      << wrong.out;
  EXPECT_NE(wrong.out.find("FAILED: outputs differ"), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.out.find("third"), std::string::npos) << wrong.out;
}

TEST_F(Fault, CompareOfARightEnginePasses) {
  ASSERT_EQ(tell_command(setup_build, {"build", kModel, "-o", kEngine, "--no-code"}).error, "");
  const Told right = tell_command(setup_compare, {"compare", kEngine});
  EXPECT_EQ(right.error, "");
  EXPECT_NE(right.out.find("passed: the outputs agree within 0.0001"), std::string::npos) << right.out;
  const auto report = nlohmann::json::parse(tell_command(setup_compare, {"compare", kEngine, "--json"}).out);
  EXPECT_EQ(report["a"]["run_by"], "reference");
  EXPECT_EQ(report["b"]["run_by"], "engine");
  EXPECT_EQ(report["passed"], true);
}

// Outputs go by name, whatever their order; one that a side lacks is a difference, not silence.
TEST_F(Fault, CompareMatchesOutputsByName) {
  const auto write = [](const std::string& path, const std::vector<std::string>& outputs) {
    GraphText g{.nodes = {{"Neg", {"x"}, {"n"}, {}, "turn"}, {"Abs", {"x"}, {"p"}, {}, "drop"}},
                .inputs = {value_info("x", kFloat, {"3"})},
                .outputs = {}};
    for (const std::string& name : outputs) g.outputs.push_back(value_info(name, kFloat, {"3"}));
    std::ofstream(path, std::ios::binary) << model({.graph = g});
  };
  write(kModel, {"n", "p"});
  write(kSmall, {"p", "n"});
  EXPECT_EQ(tell_command(setup_compare, {"compare", kModel, kSmall}).error, "");
  write(kSmall, {"p"});
  const Told fewer = tell_command(setup_compare, {"compare", kModel, kSmall});
  EXPECT_NE(fewer.error.find("outputs differ"), std::string::npos) << fewer.error;
  EXPECT_NE(fewer.out.find("n  B lacks it"), std::string::npos) << fewer.out;
}

// What `trine run MODEL --check reference` does, with the fault planted. Skipped unless a model is given.
TEST(FaultCommand, TheModelIsRight) {
  const char* path = std::getenv("TRINE_FAULT_MODEL");
  if (!path) GTEST_SKIP() << "run by Fault.ReduceKeepsTheStepThatRunsIt";
  const dnn::KernelRow row = planted_row();
  const dnn::ScopedRow planted(row);
  EXPECT_EQ(run_command(setup_run, {"run", path, "--no-code", "--verify", "off", "--check", "reference"}), "");
}

}  // namespace
}  // namespace trine::cli
