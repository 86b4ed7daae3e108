// `trine reduce`: what it does with its command and its files. That it finds a wrong kernel is in fault_test.cc.
#include <filesystem>
#include <fstream>

#include "model_builder.h"
#include "run_command.h"
#include "trine/engine/build.h"

namespace trine::cli {
namespace {

using namespace test;
namespace fs = std::filesystem;

// x -> ReduceMax -> scalar s; x, s -> Sub -> a; Exp -> b; Neg -> y.  The inner values have no declared type.
Bytes scalar_model() {
  return model({.graph = {.nodes = {{"ReduceMax", {"x"}, {"s"}, {int_attribute("keepdims", 0)}, "largest"},
                                    {"Sub", {"x", "s"}, {"a"}, {}, "shift"},
                                    {"Exp", {"a"}, {"b"}, {}, "grow"},
                                    {"Neg", {"b"}, {"y"}, {}, "turn"}},
                          .inputs = {value_info("x", kFloat, {"2", "3"})},
                          .outputs = {value_info("y", kFloat, {"2", "3"})}}});
}

struct Reduce : testing::Test {
  void SetUp() override {
    fs::create_directories(folder);
    std::ofstream(whole, std::ios::binary) << scalar_model();
  }
  void TearDown() override { fs::remove_all(folder); }

  Told reduce(const std::string& command) {
    return tell_command(setup_reduce, {"reduce", whole, "--while", command, "-o", small});
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})); }

  const std::string folder = testing::TempDir() + "trine_reduce/", whole = folder + "whole.onnx",
                    small = folder + "small.onnx";
};

TEST_F(Reduce, EveryBraceIsTheFileAndTheResultIsTold) {
  const Told told = reduce("test {} = {} && grep -q shift {} && exit 3; exit 0");
  EXPECT_EQ(told.error, "");
  EXPECT_NE(told.out.find(small + ": 1 of 4 nodes left (Sub 'shift'), still exit status 3"), std::string::npos)
      << told.out;
  EXPECT_EQ(load(small).node_count(), 1u);
  EXPECT_EQ(files(), 2u) << "the candidate is left over";
}

TEST_F(Reduce, AScalarStaysAScalar) {
  ASSERT_EQ(reduce("grep -q shift {} && exit 3; exit 0").error, "");
  const Model model = load(small);
  ASSERT_EQ(model.inputs().size(), 2u);
  for (const IoInfo& input : model.inputs())
    EXPECT_EQ(input.type.text(), input.name == "s" ? "f32[]" : "f32[2,3]") << input.name;
}

TEST_F(Reduce, ACommandThatCannotRunIsAnError) {
  const Told missing = reduce("no_such_program_here {}");
  EXPECT_NE(missing.error.find("exit status 127, the shell does not find it"), std::string::npos) << missing.error;
  const Told barred = reduce("'" + whole + "'");  // a file that is no program
  EXPECT_NE(barred.error.find("exit status 126, the shell cannot run it"), std::string::npos) << barred.error;
  const Told fine = reduce("true");
  EXPECT_NE(fine.error.find("succeeds on"), std::string::npos) << fine.error;
  EXPECT_EQ(files(), 1u) << "errors leave nothing behind";
}

TEST_F(Reduce, TheModelItselfIsNotOverwritten) {
  const Told told = tell_command(setup_reduce, {"reduce", whole, "--while", "false", "-o", whole});
  EXPECT_NE(told.error.find("give another path"), std::string::npos) << told.error;
  EXPECT_EQ(load(whole).node_count(), 4u);
}

}  // namespace
}  // namespace trine::cli
