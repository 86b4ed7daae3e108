// `trine bench` and `trine run`: how often they run, and what they print.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model_builder.h"
#include "run_command.h"

namespace trine::cli {
namespace {

using namespace test;
using nlohmann::json;

// y = -x of 12 floats; top = the two largest places of x, as i64.
struct SmallModel : testing::Test {
  const std::string onnx = testing::TempDir() + "trine_small.onnx", trn = testing::TempDir() + "trine_small.trn";
  void SetUp() override {
    std::ofstream(onnx, std::ios::binary) << model(
        {.graph = {.nodes = {{"Neg", {"x"}, {"y"}, {}, "turn"}, {"TopK", {"x", "k"}, {"", "top"}, {}, "largest"}},
                   .inputs = {value_info("x", kFloat, {"12"})},
                   .outputs = {value_info("y", kFloat, {"12"}), value_info("top", kInt64, {"2"})},
                   .initializers = {int64_tensor("k", {1}, {2})}}});
    ASSERT_EQ(tell_command(setup_build, {"build", onnx, "-o", trn, "--no-code"}).error, "");
  }
  void TearDown() override {
    for (const auto& path : {onnx, trn}) std::filesystem::remove(path);
  }
  const std::string twelve = "x=[1,2,3,4,5,6,7,8,9,10,11,0.5]";
};

TEST_F(SmallModel, BenchMeasuresSoManyIterations) {
  for (const int n : {1, 7, 10, 23}) {
    const Told told = tell_command(setup_bench, {"bench", trn, "--threads", "1", "--warmup", "3", "--iterations",
                                                 std::to_string(n), "--json", "-"});
    ASSERT_EQ(told.error, "");
    EXPECT_EQ(json::parse(told.out)["latency_ms"]["n"], n);
  }
}

TEST_F(SmallModel, BenchMeasuresSoManyIterationsOfEachStream) {
  const Told told =
      tell_command(setup_bench, {"bench", trn, "--threads", "1", "--iterations", "5", "--streams", "2", "--json", "-"});
  ASSERT_EQ(told.error, "");
  EXPECT_EQ(json::parse(told.out)["latency_ms"]["n"], 10);
}

TEST_F(SmallModel, BenchTellsWhatEveryStepTakes) {
  const std::vector<std::string> words{"bench", trn, "--threads", "1", "--iterations", "3", "--layers"};
  const Told text = tell_command(setup_bench, words);
  ASSERT_EQ(text.error, "");
  EXPECT_NE(text.out.find("2 steps, "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("ms together; a whole run takes "), std::string::npos) << text.out;
  std::vector<std::string> as_data = words;
  as_data.insert(as_data.end(), {"--json", "-"});
  const json report = json::parse(tell_command(setup_bench, as_data).out);
  ASSERT_EQ(report["layers"].size(), 2u);
  double sum = 0;
  for (const json& layer : report["layers"]) {
    EXPECT_EQ(layer["provider"], layer["kernel"] == "host" ? "host" : "own");
    EXPECT_GT(layer["bytes"].get<double>(), 0);
    sum += layer["ms"].get<double>();
  }
  EXPECT_NEAR(report["layers_total"]["steps_ms"].get<double>(), sum, 1e-9);
  EXPECT_GT(report["layers_total"]["run_ms"].get<double>(), 0);
}

TEST_F(SmallModel, RunPrintsTheFirstValues) {
  const Told told = tell_command(setup_run, {"run", trn, "--input", twelve, "--print", "3"});
  ASSERT_EQ(told.error, "");
  EXPECT_NE(told.out.find("y  f32[12]: min -11, mean -5.54167, max -0.5\n  first 3: -1 -2 -3\n"), std::string::npos)
      << told.out;
  EXPECT_NE(told.out.find("top  i64[2]: 10 9\n  first 2: 10 9\n"), std::string::npos) << told.out;
}

TEST_F(SmallModel, RunReportsOutputsAsData) {
  const Told told = tell_command(setup_run, {"run", trn, "--input", twelve, "--print", "2", "--json"});
  ASSERT_EQ(told.error, "");
  const json outputs = json::parse(told.out)["outputs"];
  EXPECT_EQ(outputs["y"]["dtype"], "f32");
  EXPECT_EQ(outputs["y"]["shape"], json::parse("[12]"));
  EXPECT_EQ(outputs["y"]["min"], -11);
  EXPECT_EQ(outputs["y"]["values"], json::parse("[-1.0, -2.0]"));
  EXPECT_EQ(outputs["top"]["values"], json::parse("[10, 9]"));
}

}  // namespace
}  // namespace trine::cli
