// `trine inspect`: what it says of a model and of the engine made from it, as data.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model_builder.h"
#include "run_command.h"

namespace trine::cli {
namespace {

using namespace test;
using nlohmann::json;

std::vector<float> counting(size_t count, float step = 1.f / 64) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * step;
  return values;
}

Bytes branch(const std::string& op) {
  return graph({.nodes = {{op, {"a", "w"}, {"r" + op}, {}, op + "_inside"},
                          {"Mul", {"r" + op, "v"}, {"o" + op}, {}, "scale_" + op}},
                .inputs = {},
                .outputs = {value_info("o" + op, kFloat, {"N", "128"})},
                .initializers = {float_tensor("v", {128}, counting(128, op == "Add" ? 2 : 3))}});
}

// x[N,4] -> MatMul -> a; If (both bodies read a and the outer w; each has weights of its own) -> y
Bytes branching_model() {
  return model(
      {.graph = {.nodes = {{"MatMul", {"x", "m"}, {"a"}, {}, "project"},
                           {"If",
                            {"c"},
                            {"y"},
                            {graph_attribute("then_branch", branch("Add")),
                             graph_attribute("else_branch", branch("Sub"))},
                            "choose"}},
                 .inputs = {value_info("x", kFloat, {"N", "4"}), value_info("c", kBool, {})},
                 .outputs = {value_info("y", kFloat, {"N", "128"})},
                 .initializers = {float_tensor("m", {4, 128}, counting(512)), float_tensor("w", {128}, counting(128))}},
       .opset = 17,
       .metadata = {{"author", "test"}}});
}

struct Inspect : testing::Test {
  const std::string onnx = testing::TempDir() + "trine_inspect.onnx", trn = testing::TempDir() + "trine_inspect.trn";
  void SetUp() override { std::ofstream(onnx, std::ios::binary) << branching_model(); }
  void TearDown() override {
    for (const auto& path : {onnx, trn}) std::filesystem::remove(path);
  }
  void build(std::vector<std::string> flags = {}) {
    std::vector<std::string> words{"build", onnx, "-o", trn, "--no-code"};
    words.insert(words.end(), flags.begin(), flags.end());
    ASSERT_EQ(tell_command(setup_build, words).error, "");
  }
  json inspect(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), "inspect");
    flags.push_back("--json");
    const Told told = tell_command(setup_inspect, flags);
    EXPECT_EQ(told.error, "");
    return json::parse(told.out);
  }
};

TEST_F(Inspect, AModelIsCountedWithItsBodies) {
  const json report = inspect({onnx});
  EXPECT_EQ(report["kind"], "model");
  EXPECT_EQ(report["opset"], 17);
  EXPECT_EQ(report["file_bytes"], branching_model().size());
  EXPECT_EQ(report["inputs"][0], json::parse(R"({"name": "x", "dtype": "f32", "shape": ["N", 4]})"));
  EXPECT_EQ(report["inputs"][1], json::parse(R"({"name": "c", "dtype": "bool", "shape": []})"));
  EXPECT_EQ(report["nodes"], 2);
  EXPECT_EQ(report["body_nodes"], 4);
  EXPECT_EQ(report["operators"], json::parse(R"({"matmul": 1, "if": 1, "add": 1, "sub": 1, "mul": 2})"));
  EXPECT_EQ(report["parameters"], 512 + 3 * 128) << "w, which both bodies take, is counted once";
  EXPECT_EQ(report["weight_bytes"], 4 * 896);
  EXPECT_EQ(report["metadata"]["author"], "test");
}

TEST_F(Inspect, TheRawGraphIsData) {
  const json graph = inspect({onnx, "--raw-graph"})["graph"];
  EXPECT_EQ(graph["nodes"][0]["op"], "matmul");
  EXPECT_EQ(graph["nodes"][0]["inputs"], json::parse(R"(["x", "m"])"));
  EXPECT_EQ(graph["nodes"][1]["bodies"][1]["nodes"][0]["op"], "sub");
  EXPECT_EQ(graph["constants"][0]["shape"], json::parse("[4, 128]"));
}

TEST_F(Inspect, AnEngineRemembersItsBuild) {
  build(
      {"--threads", "2", "--workspace", "3", "--deterministic", "--skip", "fold_constants", "--shapes", "x=1..5..9x4"});
  const json report = inspect({trn});
  EXPECT_EQ(report["kind"], "engine");
  EXPECT_EQ(report["file_bytes"], std::filesystem::file_size(trn));
  ASSERT_EQ(report["plans"].size(), 1u);
  EXPECT_EQ(report["plans"][0]["threads"], 2);
  EXPECT_EQ(report["plans"][0]["in_use"], true);
  EXPECT_NE(report["plans"][0]["cpu"], "");
  EXPECT_EQ(report["sizes"]["N"], json::parse(R"({"assumed": 5, "min": 1, "max": 9})"));
  const json& built = report["build"];
  EXPECT_EQ(built["threads"], 2);
  EXPECT_EQ(built["kernels"], "cost model");
  EXPECT_EQ(built["verify"], "fast");
  EXPECT_EQ(built["workspace_bytes"], 3 << 20);
  EXPECT_EQ(built["deterministic"], true);
  EXPECT_EQ(built["code"], false);
  EXPECT_EQ(built["skip_passes"], json::parse(R"(["fold_constants"])"));
  for (const auto& [key, value] : report["metadata"].items())
    EXPECT_FALSE(key.starts_with("trine.")) << key << ": what the engine remembers is told apart";
  EXPECT_EQ(report["parameters"], 896);
}

TEST_F(Inspect, AnEngineTellsTheSizesThatNobodyGave) {
  build();
  const json sizes = inspect({trn})["sizes"];
  EXPECT_TRUE(sizes["N"]["assumed"].is_number_integer()) << sizes;
  EXPECT_FALSE(sizes["N"].contains("min"));
}

TEST_F(Inspect, PlanAndMemoryAreData) {
  build();
  const json report = inspect({trn, "--plan", "--memory", "--graph"});
  const json& step = report["plan"]["steps"][0];
  EXPECT_EQ(step["node"], "project");
  EXPECT_EQ(step["operators"], json::parse(R"(["fused_matmul"])"));
  EXPECT_EQ(step["outputs"][0]["dtype"], "f32");
  EXPECT_GT(step["flops"].get<double>(), 0);
  EXPECT_TRUE(report["memory"]["arena_bytes"].is_number());
  EXPECT_EQ(report["graph"]["outputs"][0]["name"], "y");
}

TEST_F(Inspect, TellsTheTimeOfEveryStep) {
  build();
  const json report = inspect({trn, "--plan", "--time"});
  EXPECT_EQ(report["plan"]["steps"][0]["provider"], "own");
  ASSERT_GE(report["times"]["steps"].size(), 2u);
  EXPECT_EQ(report["times"]["steps"][0]["node"], "project");
  EXPECT_GT(report["times"]["steps"][0]["ms"].get<double>(), 0);
  EXPECT_GT(report["times"]["run_ms"].get<double>(), 0);
  const std::string page = testing::TempDir() + "trine_inspect.html";
  const Told told = tell_command(setup_inspect, {"inspect", trn, "--plan", "--time", "--html", page});
  ASSERT_EQ(told.error, "");
  EXPECT_NE(told.out.find("ms together"), std::string::npos) << told.out;
  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(html.find("<td>project</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>own</td>"), std::string::npos);
  std::filesystem::remove(page);
}

TEST_F(Inspect, TextNamesWhatMatters) {
  build({"--threads", "2"});
  const std::string model = tell_command(setup_inspect, {"inspect", onnx}).out,
                    engine = tell_command(setup_inspect, {"inspect", trn}).out;
  for (const char* part :
       {"ONNX model, opset 17", "2 nodes and 4 inside them", "896 parameters", "  x  f32[N,4]", "2  mul"})
    EXPECT_NE(model.find(part), std::string::npos) << part << " in\n" << model;
  for (const char* part : {": engine, ", "with 2 threads, used here", "verify: fast", "N: made for "})
    EXPECT_NE(engine.find(part), std::string::npos) << part << " in\n" << engine;
}

}  // namespace
}  // namespace trine::cli
