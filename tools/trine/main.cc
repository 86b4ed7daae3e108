// trine: the command line. One row per command; a command is a file of its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

#include "command.h"
#include "terminal.h"
#include "trine/base/env.h"
#include "trine/base/error.h"
#include "trine/engine/build.h"
#include "usage.h"

namespace trine::cli {
namespace {

constexpr Command kCommands[] = {
    {"build", "turn a model into an engine file",
     "trine build resnet50.onnx -o resnet50.trn --threads 2\n"
     "trine build yolo.onnx -o yolo.trn --shapes images=1x3x640x640 --budget 30 --timing-cache timings.txt\n"
     "trine build resnet50.onnx -o small.trn --workspace 1 --max-mem 400 --deterministic",
     setup_build},
    {"run", "run a model or an engine once",
     "trine run resnet50.trn --input cat.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 --top 5\n"
     "trine run encoder.onnx --input ids=[[101,7592,102]] --print 10\n"
     "trine run yolo.onnx --input street.jpg --letterbox --head yolov5 --draw boxes.png",
     setup_run},
    {"bench", "measure run times, beside other runtimes if asked",
     "trine bench resnet50.onnx --threads 1 --against onnxruntime --json -\n"
     "trine bench resnet50.trn --warmup 5 --iterations 100\n"
     "trine bench resnet50.trn --duration 10 --layers\n"
     "trine bench resnet50.trn --threads 1 --streams 2",
     setup_bench},
    {"inspect", "show what a model or an engine holds",
     "trine inspect resnet50.onnx\n"
     "trine inspect resnet50.onnx --raw-graph\n"
     "trine inspect resnet50.trn --plan --shapes data=8x3x224x224\n"
     "trine inspect resnet50.trn --json",
     setup_inspect},
    {"compare", "find where two models or engines part, layer by layer", "trine compare resnet50.onnx resnet50.trn",
     setup_compare},
    {"bisect", "find the pass or kernel that makes a result wrong", "trine bisect model.onnx --tolerance 1e-4",
     setup_bisect},
    {"reduce", "find the smallest model that still fails",
     "trine reduce model.onnx --while 'trine compare {}' -o small.onnx", setup_reduce},
    {"cc", "compile a CUDA program for the CPU, and for GPUs",
     "trine cc vector_add.cu -o vector_add && ./vector_add\n"
     "trine cc main.cu kernels.cu -I include -O3 -std=c++17 -o program\n"
     "trine cc --check=memory,race reduce.cu -o reduce\n"
     "trine cc --gpu=sm_80,sm_90 gemm.cu -o gemm && TRINE_DEVICE=cpu ./gemm",
     setup_cc},
    {"profile", "run a program and show where the time of its kernels goes",
     "trine profile ./nbody\n"
     "trine profile -o trace.json --format csv --report kernels.csv ./matmul 1024",
     setup_profile},
    {"env", "list every environment variable", "trine env", setup_env},
    {"doctor", "check this machine and this installation", "trine doctor", setup_doctor},
};

int fail(const std::string& message, int status) {
  std::fflush(stdout);  // what came before stands before the error
  fmt::print(stderr, "{} {}\n", styled("error:", Style::red, 2), message);
  return status;
}

// Wrong settings are found before any work.
void check_settings() {
  check_environment();
  const auto known = pass_names();
  for (const std::string& name : env_list("TRINE_SKIP")) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("TRINE_SKIP: no pass is called '{}'; accepted are {}", name, fmt::join(known, ", ")));
  }
}

int run(int argc, char** argv) {
  CLI::App app("Deep-learning inference: models to engines, measured and checked.", "trine");
  app.set_version_flag("--version", TRINE_VERSION);
  app.require_subcommand(1);
  app.footer("trine COMMAND --help shows the flags of a command, with an example.");
  std::function<int()> chosen;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.doc);
    sub->footer(fmt::format("Examples:\n{}", command.examples));
    const auto action = command.setup(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(usage_problem(app, error, {argv + 1, argv + argc}), static_cast<int>(ErrorCode::invalid_argument));
  }
  check_settings();
  return chosen();
}

}  // namespace
}  // namespace trine::cli

int main(int argc, char** argv) {
  using trine::ErrorCode;
  try {
    return trine::cli::run(argc, argv);
  } catch (const trine::Error& error) {
    return trine::cli::fail(error.what(), static_cast<int>(error.code()));
  } catch (const std::bad_alloc&) {
    return trine::cli::fail("memory: not enough for this; a smaller batch or input needs less",
                            static_cast<int>(ErrorCode::out_of_memory));
  }
}
