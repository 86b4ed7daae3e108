// trine doctor: NVIDIA's driver, GPUs and libraries.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "doctor.h"
#include "terminal.h"
#include "trine/base/env.h"
#include "trine/compute/device.h"
#include "trine/compute/vendor_libraries.h"

namespace trine::cli {
namespace {

constexpr int kOldestDriver = 12000, kOldestArchitecture = 75, kOldestCudnn = 90000;
constexpr int kNoDevice = 100, kDriverMismatch = 803;  // of cuInit

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line, '\n');
  return line.substr(0, line.find('\0'));
}

template <class F>
F* symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(::dlsym(library, name));
}

bool is_wsl() { return first_line("/proc/version").find("icrosoft") != std::string::npos; }

// "NVIDIA Jetson AGX Orin Developer Kit"; empty elsewhere.
std::string jetson() {
  const std::string model = first_line("/proc/device-tree/model");
  if (model.find("Jetson") != std::string::npos) return model;
  return std::filesystem::exists("/etc/nv_tegra_release") ? first_line("/etc/nv_tegra_release") : "";
}

// A display or 3D controller of NVIDIA on the PCI bus.
bool has_card() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/pci/devices", ignored))
    if (first_line(entry.path() / "vendor") == "0x10de" && first_line(entry.path() / "class").starts_with("0x03"))
      return true;
  return false;
}

struct DriverState {
  bool found = false;
  int version = 0;  // the newest CUDA that it takes
  int result = 0;   // of cuInit
};

DriverState driver_state() {
  DriverState state;
  void* library = ::dlopen(env_text("TRINE_CUDA_DRIVER").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return state;
  state.found = true;
  if (auto* version = symbol<int(int*)>(library, "cuDriverGetVersion")) version(&state.version);
  if (auto* init = symbol<int(unsigned)>(library, "cuInit")) state.result = init(0);
  return state;
}

std::string install_driver() {
  if (is_wsl()) return "install NVIDIA's driver in Windows, none in WSL: it brings /usr/lib/wsl/lib/libcuda.so.1";
  if (!jetson().empty()) return "install JetPack 6 or later: it brings the driver";
  return fmt::format("install NVIDIA's driver of CUDA {}.0 or later", kOldestDriver / 1000);
}

// "580.82.07", of the module in the kernel; empty where it does not say.
std::string module_version() { return first_line("/sys/module/nvidia/version"); }

Finding driver(const DriverState& state) {
  const std::string what = "nvidia driver", module = module_version();
  if (!state.found) {
    if (!has_card() && jetson().empty()) return {State::good, what, "none: runs on the CPU", ""};
    return {State::note, what, "none, but there is a GPU", install_driver()};
  }
  const std::string text =
      fmt::format("{}{}takes CUDA up to {}", module, module.empty() ? "" : ", ", cuda_version_text(state.version));
  if (state.version < kOldestDriver) return {State::bad, what, text, install_driver()};
  if (state.result == kDriverMismatch)
    return {State::bad, what, text, "restart the machine: the driver was updated, its module in the kernel was not"};
  if (state.result == kNoDevice)
    return {State::note, what, text + "; shows no GPU",
            std::getenv("CUDA_VISIBLE_DEVICES") ? "CUDA_VISIBLE_DEVICES is set: it may hide them"
                                                : "check nvidia-smi; a container must be given the GPUs (--gpus all)"};
  if (state.result != 0)
    return {State::bad, what, fmt::format("{}; cuInit fails with {}", text, state.result),
            "check with nvidia-smi that the driver works"};
  return {State::good, what, text, ""};
}

std::vector<Finding> gpus() {
  std::vector<Finding> findings;
  for (const compute::DeviceInfo& info : compute::devices()) {
    if (!info.id.starts_with("cuda")) continue;
    const std::string text = fmt::format("{}, {}, {} multiprocessors, {}", info.name, info.architecture,
                                         info.compute_units, bytes_text(static_cast<double>(info.memory_bytes)));
    const bool old = std::atoi(info.architecture.c_str() + 3) < kOldestArchitecture;
    findings.push_back({old ? State::note : State::good, info.id, text,
                        old ? fmt::format("kernels need sm_{} or later: use the CPU", kOldestArchitecture) : ""});
  }
  return findings;
}

std::vector<Finding> platform() {
  std::vector<Finding> findings;
  if (is_wsl()) {
    const bool here = std::filesystem::exists("/usr/lib/wsl/lib/libcuda.so.1");
    findings.push_back({State::good, "platform", here ? "WSL, with Windows' driver" : "WSL", ""});
  }
  if (const std::string board = jetson(); !board.empty()) findings.push_back({State::good, "platform", board, ""});
  return findings;
}

using compute::VendorLibrary;

Finding missing(const std::string& what, const VendorLibrary& library, const std::string& use) {
  if (library.problem == "not found") return {State::good, what, "none: " + use, ""};
  return {State::note, what, library.problem, "it is there but cannot be opened: install it again"};
}

std::string pip_name(const std::string& stem, int driver) { return stem + (driver >= 13000 ? "-cu13" : "-cu12"); }

Finding nvrtc(int driver) {
  const VendorLibrary library = compute::open_vendor_library({"libnvrtc.so.13", "libnvrtc.so.12"});
  if (!library.handle) return missing("NVRTC", library, "not needed, libtrine_simt compiles kernels");
  int major = 0, minor = 0;
  if (auto* version = symbol<int(int*, int*)>(library.handle, "nvrtcVersion")) version(&major, &minor);
  return judge_library("NVRTC", fmt::format("{}.{}, {}", major, minor, library.path), major * 1000 + minor * 10, driver,
                       driver >= 13000 ? "nvidia-cuda-nvrtc" : "nvidia-cuda-nvrtc-cu12");
}

Finding cudnn(int driver) {
  const VendorLibrary library = compute::open_vendor_library({"libcudnn.so.9"});
  if (!library.handle) return missing("cuDNN", library, "not needed, may be faster for some layers");
  auto* version = symbol<size_t()>(library.handle, "cudnnGetVersion");
  auto* built = symbol<size_t()>(library.handle, "cudnnGetCudartVersion");
  const int number = version ? static_cast<int>(version()) : 0;
  const std::string text =
      fmt::format("{}.{}.{}, {}", number / 10000, number % 10000 / 100, number % 100, library.path);
  if (number < kOldestCudnn) return {State::note, "cuDNN", text, "not used: install cuDNN 9"};
  return judge_library("cuDNN", text, built ? static_cast<int>(built()) : 0, driver, pip_name("nvidia-cudnn", driver));
}

Finding cublaslt(int driver) {
  const VendorLibrary library = compute::open_vendor_library({"libcublasLt.so.13", "libcublasLt.so.12"});
  if (!library.handle) return missing("cuBLASLt", library, "not needed, may be faster for some products");
  auto* version = symbol<size_t()>(library.handle, "cublasLtGetVersion");
  auto* built = symbol<size_t()>(library.handle, "cublasLtGetCudartVersion");
  const int number = version ? static_cast<int>(version()) : 0;
  return judge_library(
      "cuBLASLt", fmt::format("{}.{}.{}, {}", number / 10000, number % 10000 / 100, number % 100, library.path),
      built ? static_cast<int>(built()) : 0, driver, driver >= 13000 ? "nvidia-cublas" : "nvidia-cublas-cu12");
}

Finding nccl() {
  const VendorLibrary library = compute::open_vendor_library({"libnccl.so.2"});
  if (!library.handle) return missing("NCCL", library, "needed only by several GPUs");
  int number = 0;
  if (auto* version = symbol<int(int*)>(library.handle, "ncclGetVersion")) version(&number);
  return {State::good, "NCCL",
          fmt::format("{}.{}.{}, {}", number / 10000, number % 10000 / 100, number % 100, library.path), ""};
}

}  // namespace

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Finding judge_library(const std::string& what, const std::string& found, int built, int driver,
                      const std::string& package) {
  if (driver == 0 || built / 1000 <= driver / 1000) return {State::good, what, found, ""};
  return {State::note, what, fmt::format("{}, of CUDA {}", found, built / 1000),
          fmt::format("the driver takes CUDA {} at most: pip install {}, or a newer driver", cuda_version_text(driver),
                      package)};
}

std::vector<Finding> gpu_findings() {
  const DriverState state = driver_state();
  std::vector<Finding> findings = platform();
  findings.push_back(driver(state));
  for (Finding& gpu : gpus()) findings.push_back(std::move(gpu));
  for (const Finding& library : {nvrtc(state.version), cudnn(state.version), cublaslt(state.version), nccl()})
    findings.push_back(library);
  return findings;
}

}  // namespace trine::cli
