// Mistakes on the command line, in the files it is given, in the environment, and about devices.
#include <cstdlib>
#include <fstream>

#include "media/image.h"
#include "media/npy.h"
#include "media/wav.h"
#include "model_builder.h"
#include "provoke.h"
#include "trine/base/env.h"
#include "trine/base/error.h"
#include "trine/command.h"
#include "trine/compute/device.h"
#include "trine/inputs.h"
#include "trine/usage.h"

namespace trine::test {
namespace {

const std::string kEngineBeginning = "TRINE\r\n\x1a";

using Setup = std::function<int()> (*)(CLI::App& app);

// `trine <words>`, as main does it.
std::function<void()> command(Setup setup, const std::vector<std::string>& words) {
  return [=] {
    CLI::App app("", "trine");
    app.require_subcommand(1);
    const auto action = setup(*app.add_subcommand(words[0] == "bulid" ? "build" : words[0], ""));
    try {
      app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
      throw Error(ErrorCode::invalid_argument, cli::usage_problem(app, error, words));
    }
    action();
  };
}

// --input `specs` and --shapes `shapes` for inputs of these types, named a, b, ...
std::function<void()> inputs(const std::vector<std::string>& types, const std::vector<std::string>& specs,
                             const std::vector<std::string>& shapes = {}) {
  return [=] {
    std::vector<IoInfo> declared;
    for (const std::string& type : types)
      declared.push_back({std::string(1, static_cast<char>('a' + declared.size())), Type::parse(type)});
    cli::make_inputs(declared, {.specs = specs, .shapes = shapes});
  };
}

std::function<void()> with_file(const std::string& path, const std::string& bytes, const std::function<void()>& then) {
  return [=] {
    std::ofstream(path, std::ios::binary) << bytes;
    then();
  };
}

std::string npy(const std::string& header, const std::string& data = "") {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + data;
}

std::string small_model() {
  return model({.graph = {.nodes = {{"Relu", {"x"}, {"y"}, {}, "only"}},
                          .inputs = {value_info("x", kFloat, {"2"})},
                          .outputs = {value_info("y", kFloat, {"2"})}}});
}

void load_npy() { media::load_npy("x.npy"); }

}  // namespace

std::vector<Mistake> command_mistakes() {
  return {
      {"command.no_output", command(cli::setup_build, {"build", "m.onnx"})},
      {"command.unknown_flag", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--faster"})},
      {"command.mistyped", command(cli::setup_build, {"bulid", "m.onnx"})},
      {"command.mistyped_flag", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--thread", "2"})},
      {"command.too_many", command(cli::setup_build, {"build", "m.onnx", "more.onnx", "-o", "m.trn"})},
      {"command.budget", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--budget", "-3"})},
      {"command.duration", command(cli::setup_bench, {"bench", "m.onnx", "--duration", "0"})},
      {"command.tolerance", command(cli::setup_compare, {"compare", "m.onnx", "--tolerance", "-1"})},
      {"command.threads", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--threads", "many"})},
      {"command.threads_range", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--threads", "-3"})},
      {"command.verify", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--verify", "hard"})},
      {"command.device", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--device", "tpu"})},
      {"command.precision", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--precision", "fp4"})},
      {"command.workspace", command(cli::setup_build, {"build", "m.onnx", "-o", "m.trn", "--workspace", "-1"})},
      {"command.onto_itself", with_file("m.onnx", "x", command(cli::setup_build, {"build", "m.onnx", "-o", "m.onnx"}))},
      {"command.engine_flags",
       with_file("e.trn", kEngineBeginning, command(cli::setup_run, {"run", "e.trn", "--drop", "conv", "--no-code"}))},
      {"command.build_engine",
       with_file("e.trn", kEngineBeginning, command(cli::setup_build, {"build", "e.trn", "-o", "f.trn"}))},
      {"command.bisect_engine", with_file("e.trn", kEngineBeginning, command(cli::setup_bisect, {"bisect", "e.trn"}))},
      {"command.reduce_engine",
       with_file("e.trn", kEngineBeginning, command(cli::setup_reduce, {"reduce", "e.trn", "--while", "false"}))},
      {"command.raw_engine",
       with_file("e.trn", kEngineBeginning, command(cli::setup_inspect, {"inspect", "e.trn", "--raw-graph"}))},
      {"command.peer_engine",
       with_file("e.trn", kEngineBeginning,
                 command(cli::setup_run, {"run", "e.trn", "--check", "reference", "--peer-model", "e.trn"}))},
      {"command.reduce_missing",
       with_file("whole.onnx", small_model(),
                 command(cli::setup_reduce, {"reduce", "whole.onnx", "--while", "no_such_program {}"}))},
      {"command.reduce_succeeds",
       with_file("whole.onnx", small_model(), command(cli::setup_reduce, {"reduce", "whole.onnx", "--while", "true"}))},
      {"command.no_labels", command(cli::setup_run, {"run", "e.trn", "--labels", "missing.txt"})},
      {"command.head", command(cli::setup_run, {"run", "e.trn", "--head", "yolo99"})},
      {"command.csv", command(cli::setup_run, {"run", "e.trn", "-o", "y=y.csv"})},
      {"command.std", command(cli::setup_run, {"run", "e.trn", "--std", "0,0,0"})},
      {"command.peer_model",
       command(cli::setup_run, {"run", "e.trn", "--check", "reference", "--peer-model", "missing.onnx"})},
      {"command.no_model", command(cli::setup_build, {"build", "missing.onnx", "-o", "m.trn"})},
      {"shapes.no_size", [] { cli::parse_shapes({"x=1xtwo"}); }},
      {"shapes.falling", [] { cli::parse_shapes({"x=8..1"}); }},
      {"shapes.no_name", [] { cli::parse_shapes({"1x3"}); }},
      {"shapes.unknown_input", inputs({"f32[N,3]"}, {}, {"z=1x3"})},
      {"shapes.rank", inputs({"f32[N,3]"}, {}, {"a=1x3x3"})},
      {"input.unknown", inputs({"f32[2]", "f32[2]"}, {"z=rand"})},
      {"input.which", inputs({"f32[2]", "f32[2]"}, {"rand"})},
      {"input.twice", inputs({"f32[2]"}, {"a=rand", "a=1"})},
      {"input.open_sizes", inputs({"f32[N,T]"}, {})},
      {"input.no_number", inputs({"f32[]"}, {"a=cheese"})},
      {"input.count", inputs({"f32[3]"}, {"a=[1,2]"})},
      {"input.count_open", inputs({"f32[N,3]"}, {"a=[1,2]"})},
      {"input.empty", inputs({"f32[N]"}, {""})},
      {"input.no_value", inputs({"f32[N]"}, {"a="})},
      {"input.range", inputs({"u8[]"}, {"a=300"})},
      {"input.uneven", inputs({"f32[N,M]"}, {"a=[[1,2],[3]]"})},
      {"input.nested", inputs({"f32[2,3]"}, {"a=[[1,2],[3,4]]"})},
      {"input.not_the_shapes", inputs({"f32[N]"}, {"a=[1,2]"}, {"a=8"})},
      {"input.string", inputs({"string[1]"}, {})},
      {"input.no_file", inputs({"f32[3]"}, {"a=missing.npy"})},
      {"input.picture_for_vector", with_file("x.png", "", inputs({"f32[3]"}, {"a=x.png"}))},
      {"npy.foreign", with_file("x.npy", "PK\x03\x04 this is a zip file", load_npy)},
      {"npy.no_shape", with_file("x.npy", npy("{'descr': '<f4', 'fortran_order': False, }\n"), load_npy)},
      {"npy.fortran",
       with_file("x.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n", "12345678"), load_npy)},
      {"npy.records",
       with_file("x.npy", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n"), load_npy)},
      {"npy.type",
       with_file("x.npy", npy("{'descr': '<M8', 'fortran_order': False, 'shape': (1,), }\n", "12345678"), load_npy)},
      {"npy.short",
       with_file("x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }\n", "12345678"), load_npy)},
      {"picture.foreign", with_file("x.png", "no picture", [] { media::load_image("x.png"); })},
      {"sound.foreign", with_file("x.wav", "no sound", [] { media::load_wav("x.wav"); })},
      {"env.integer",
       [] {
         ::setenv("TRINE_DEBUG", "loud", 1);
         const auto value = [] { return env_integer("TRINE_DEBUG"); };
         try {
           value();
         } catch (...) {
           ::unsetenv("TRINE_DEBUG");
           throw;
         }
       }},
      {"env.range",
       [] {
         ::setenv("TRINE_SPIN_US", "-4", 1);
         try {
           check_environment();
         } catch (...) {
           ::unsetenv("TRINE_SPIN_US");
           throw;
         }
       }},
      {"device.unknown", [] { compute::Device::open("tpu:0"); }},
      {"device.copy_outside",
       [] {
         const auto device = compute::Device::open("cpu");
         const auto buffer = device.allocate(64);
         const char bytes[16] = {};
         device.create_stream().upload(buffer, 60, bytes, 16);
       }},
  };
}

}  // namespace trine::test
