#include "simt/compile/arguments.h"

#include <fmt/format.h>

#include <filesystem>

#include "simt/compile/headers.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> those_there(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  std::error_code error;
  for (const std::string& folder : folders)
    if (fs::is_directory(folder, error)) found.push_back(folder);
  return found;
}

// The newest libstdc++ here; kernels that include nothing of it do not need it.
std::vector<std::string> cxx_headers() {
  const std::string root = "/usr/include/c++/", machine = "x86_64-linux-gnu";
  std::error_code error;
  int newest = 0;
  for (const auto& entry : fs::directory_iterator(root, error))
    newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
  const std::string version = std::to_string(newest);
  return those_there({root + version, "/usr/include/" + machine + "/c++/" + version, root + version + "/" + machine,
                      root + version + "/x86_64-redhat-linux", root + version + "/backward"});
}

std::vector<std::string> c_headers() {
  return those_there({"/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include"});
}

void add_folder(std::vector<std::string>& arguments, const char* flag, std::string folder) {
  arguments.insert(arguments.end(), {flag, std::move(folder)});
}

std::string standard(int value) {
  if (value != 14 && value != 17 && value != 20)
    throw Error(ErrorCode::invalid_argument, fmt::format("compile: standard {}; accepted are 14, 17, 20", value));
  return fmt::format("-std=c++{}", value);
}

}  // namespace

std::vector<std::string> language_arguments(const compute::CompileOptions& options) {
  static const std::vector<std::string> cxx = cxx_headers(), c = c_headers();
  const std::string resources(kCompilerHeaders);
  std::vector<std::string> all = {
      "-triple", "nvptx64-nvidia-cuda", "-aux-triple", "x86_64-unknown-linux-gnu", "-target-cpu", "sm_80",
      "-target-feature", "+ptx80", "-x", "cuda", "-fcuda-is-device", standard(options.standard),
      // Launches in host code become calls of __cudaPushCallConfiguration.
      "-target-sdk-version=12.8",
      // A shuffle's value may be set in the lanes that give it only: that it is passed at all proves nothing.
      "-no-enable-noundef-analysis", "-fdeclspec", "-fgnuc-version=4.2.1", "-fcxx-exceptions", "-fexceptions",
      "-fdeprecated-macro", "-complex-range=improved", "-ffp-contract=fast", "-disable-llvm-passes",
      "-disable-llvm-verifier",
      // Kernels read eight halves as a float4, and bits of floats as ints, as nvcc lets them.
      "-relaxed-aliasing", "-resource-dir", resources, "-fno-validate-pch",
      // Libraries name their namespaces by it, as the host compiler does too.
      "-D__CUDA_ARCH_LIST__=800"};
  add_folder(all, "-internal-isystem", std::string(kDeviceHeaders));
  for (const std::string& folder : cxx) add_folder(all, "-internal-isystem", folder);
  add_folder(all, "-internal-isystem", resources + "/include");
  for (const std::string& folder : c) add_folder(all, "-internal-externc-isystem", folder);
  all.push_back(options.debug ? "-O0" : "-O3");
  if (!options.unit.empty()) all.push_back("-fgpu-rdc");
  if (options.fast_math)
    all.insert(all.end(),
               {"-fgpu-approx-transcendentals", "-D__USE_FAST_MATH__=1", "-fdenormal-fp-math-f32=preserve-sign"});
  return all;
}

std::vector<std::string> source_arguments(const compute::CompileOptions& options) {
  std::vector<std::string> all;
  // Checks name lines and variables; gdb wants everything.
  if (options.debug || !options.checks.empty())
    all.insert(all.end(), {"-debug-info-kind=standalone", "-dwarf-version=5"});
  else if (options.mode == compute::CpuMode::threads)  // where threads wait, and what they were at when they failed
    all.push_back("-debug-info-kind=line-tables-only");
  // Static variables that the host reaches get names with this in them; the host's compiler is told the same.
  if (!options.unit.empty()) all.push_back("-cuid=" + options.unit);
  // As nvcc does, which programs count on.
  if (options.whole_program) all.insert(all.end(), {"-include", "cuda_runtime.h"});
  for (const std::string& define : options.defines) all.push_back("-D" + define);
  for (const std::string& folder : options.include_dirs) all.push_back("-I" + folder);
  return all;
}

}  // namespace trine::simt
