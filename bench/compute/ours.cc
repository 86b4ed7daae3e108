#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "party.h"
#include "trine/base/error.h"
#include "trine/compute/program.h"

namespace trine::bench_compute {

using compute::Buffer;
using compute::CpuMode;
using compute::Device;
using compute::Kernel;
using compute::Module;
using compute::Stream;

namespace {

compute::CompileOptions options_of(const Case& problem) {
  compute::CompileOptions options;
  options.name = problem.name + ".cu";
  options.headers = {{"support.h", held_text("support.h")}};
  options.instances = problem.instances;
  options.whole_program = true;
  return options;
}

std::string path_of(const Case& problem, const std::string& folder) { return folder + "/" + problem.name + ".program"; }

Module compiled(const Device& device, const Case& problem, CpuMode mode, const std::string& programs) {
  if (!programs.empty()) {
    std::ifstream file(path_of(problem, programs), std::ios::binary);
    if (!file) throw Error(ErrorCode::io, fmt::format("bench_compute: cannot read {}", path_of(problem, programs)));
    return Module::load(device, std::string(std::istreambuf_iterator<char>(file), {}));
  }
  compute::CompileOptions options = options_of(problem);
  options.mode = mode;
  return Module::compile(device, held_text(options.name), options);
}

}  // namespace

struct Ours::State {
  State(const std::string& id, const Case& from, CpuMode wanted, const std::string& programs)
      : problem(from), device(Device::open(id)), stream(device.create_stream()), mode(wanted) {
    for (const Array& array : problem.arrays) buffers.push_back(device.allocate(array.content.size()));
    steps = problem.steps(Language::cuda, problem.block);
    const bool on_cpu = id == "cpu";
    modules.push_back(
        compiled(device, problem, on_cpu && mode == CpuMode::automatic ? CpuMode::lanes : mode, programs));
    reset();
    for (const Step& step : steps)
      if (!step.kernel.empty()) choose(step);
  }

  // The kernel as lanes run it, or else as threads do.
  void choose(const Step& step) {
    if (kernels.count(step.kernel)) return run_step(step);
    kernels.emplace(step.kernel, modules[0].kernel(step.kernel));
    try {
      run_step(step);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported || mode != CpuMode::automatic) throw;
      refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", step.kernel, error.what());
      if (modules.size() == 1) modules.push_back(compiled(device, problem, CpuMode::threads, ""));
      kernels.erase(step.kernel);
      kernels.emplace(step.kernel, modules[1].kernel(step.kernel));
      run_step(step);
    }
    stream.synchronize();
  }

  void reset() {
    for (size_t i = 0; i < buffers.size(); ++i)
      stream.upload(buffers[i], 0, problem.arrays[i].content.data(), buffers[i].bytes());
    stream.synchronize();
  }

  const Buffer& buffer(int index) const { return buffers[static_cast<size_t>(index)]; }

  void run_step(const Step& step) {
    if (step.kernel.empty()) {
      if (step.from < 0) stream.fill(buffer(step.to), 0);
      else stream.copy(buffer(step.to), 0, buffer(step.from), 0, buffer(step.to).bytes());
      return;
    }
    std::array<void*, 16> addresses{};
    std::array<const void*, 16> arguments{};
    std::array<uint32_t, 16> bytes{};
    TRINE_CHECK(step.arguments.size() <= arguments.size(), "a kernel of more than 16 arguments");
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const Argument& argument = step.arguments[i];
      if (argument.array >= 0) addresses[i] = buffer(argument.array).data();
      arguments[i] = argument.array >= 0 ? static_cast<const void*>(&addresses[i]) : argument.value.data();
      bytes[i] = argument.bytes;
    }
    kernels.at(step.kernel)
        .launch_raw(stream, {.grid = step.grid, .block = step.block}, arguments.data(), bytes.data(),
                    step.arguments.size());
  }

  const Case& problem;
  Device device;
  Stream stream;
  CpuMode mode;
  std::vector<Buffer> buffers;
  std::vector<Module> modules;  // for lanes; for threads, when lanes refuse a kernel
  std::map<std::string, Kernel> kernels;
  std::vector<Step> steps;
  std::string refusals;
};

void pack(const Case& problem, const std::string& folder, const std::string& architecture) {
  const std::string source = held_text(problem.name + ".cu");
  std::ofstream file(path_of(problem, folder), std::ios::binary);
  file << compute::compile_program(source, options_of(problem), {architecture}).bytes;
  if (!file.flush())
    throw Error(ErrorCode::io, fmt::format("bench_compute: cannot write {}", path_of(problem, folder)));
}

Ours::Ours(const std::string& device, const Case& problem, CpuMode mode, const std::string& programs)
    : state_(std::make_shared<State>(device, problem, mode, programs)) {}
Ours::~Ours() = default;

std::string Ours::refusals() const { return state_->refusals; }

Party Ours::party(const std::string& name) const {
  const auto state = state_;
  const auto run = [state] {
    for (const Step& step : state->steps) state->run_step(step);
    state->stream.synchronize();
  };
  const auto outputs = [state] {
    Contents contents;
    for (size_t i = 0; i < state->buffers.size(); ++i) {
      if (!state->problem.arrays[i].is_output) continue;
      contents.emplace_back(state->buffers[i].bytes());
      state->stream.download(contents.back().data(), state->buffers[i], 0, contents.back().size());
    }
    state->stream.synchronize();
    return contents;
  };
  return {.name = name, .note = state->refusals, .reset = [state] { state->reset(); }, .run = run, .outputs = outputs};
}

}  // namespace trine::bench_compute
