// Kernels run in lanes, of a width that the test chooses, without the rest of the runtime.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "simt/compiler.h"
#include "trine/base/cpu.h"
#include "trine/compute/module.h"

namespace trine::simt {

using compute::Dim3;

class LanesProgram {
 public:
  explicit LanesProgram(const std::string& source);

  // Grid and block; width 0 is the compiler's choice.
  template <class... T>
  void run(const std::string& kernel, const Dim3& grid, const Dim3& block, int width, const T&... arguments) {
    const KernelInfo& info = find(kernel);
    std::vector<char> parameters(info.parameter_bytes + 64);
    size_t i = 0;
    ((std::memcpy(parameters.data() + info.parameters.at(i++).offset, &arguments, sizeof arguments)), ...);
    run_grid(compiled(info, block, width), grid, block, parameters);
  }
  CpuKernel compiled(const KernelInfo& kernel, const Dim3& block, int width);
  const KernelInfo& find(const std::string& kernel) const;
  std::string refusal(const std::string& kernel, const Dim3& block);  // "" when it is accepted

  void use_store(std::shared_ptr<CodeStore> store) { program_->use_store(std::move(store)); }

  uint32_t dynamic_shared_bytes = 0;

 private:
  void run_grid(const CpuKernel& code, const Dim3& grid, const Dim3& block, const std::vector<char>& parameters) const;

  DeviceModule module_;
  std::unique_ptr<CpuProgram> program_;
  std::map<std::string, CpuKernel> made_;
};

// What kernels have printed since the last call, with the thread that did: "33: text".
std::string take_printed();

uint32_t test_seed();  // printed once; TRINE_SEED gives it
constexpr int kWidths[] = {8, 16, 32};
// Code is made for these, where the machine has them.
constexpr CpuLevel kCpuLevels[] = {CpuLevel::avx512, CpuLevel::avx2, CpuLevel::baseline};

}  // namespace trine::simt
