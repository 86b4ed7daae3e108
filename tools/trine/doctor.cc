// trine doctor: what is here, what does not match, what to do about it.
#include "doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.h"
#include "peers.h"
#include "terminal.h"
#include "trine/base/env.h"
#include "trine/compute/device.h"

extern char** environ;

namespace trine::cli {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) return line + " ";
  }
  return "";
}

Finding cpu() {
  const auto info = compute::Device::open("cpu").info();
  const std::string capped = env_text("TRINE_CPU");
  const std::string text = fmt::format("{}, {}", info.name, info.architecture);
  if (!capped.empty()) return {State::note, "cpu", text, "TRINE_CPU=" + capped + " caps it; unset it for full speed"};
  if (cpu_flags().find(" avx2 ") == std::string::npos) {
    return {State::note, "cpu", text, "no AVX2: kernels are the slow baseline ones"};
  }
  return {State::good, "cpu", text, ""};
}

Finding cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int here = static_cast<int>(std::thread::hardware_concurrency());
  const std::string quota = first_line("/sys/fs/cgroup/cpu.max");  // "200000 100000" or "max 100000"
  double limit = allowed;
  long used = 0, period = 0;
  if (std::sscanf(quota.c_str(), "%ld %ld", &used, &period) == 2 && period > 0) {
    limit = std::min(limit, static_cast<double>(used) / static_cast<double>(period));
  }
  const std::string text = fmt::format("{} usable of {}", limit, std::max(here, allowed));
  if (limit < allowed)
    return {State::note, "cores", text, fmt::format("a quota is set: run with --threads {:.0f}", limit)};
  return {State::good, "cores", text, ""};
}

Finding memory() {
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  std::string text = bytes_text(bytes);
  if (!limit.empty() && limit != "max") text += ", limited to " + bytes_text(std::strtod(limit.c_str(), nullptr));
  return {State::good, "memory", text, ""};
}

Finding huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (line.find("[never]") == std::string::npos)
    return {State::good, "huge pages", line.empty() ? "not known" : line, ""};
  return {State::note, "huge pages", line,
          "large weights read faster with: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

// Where a module of ours is, beside libtrine or where the system looks; empty: nowhere.
std::string module_path(const char* name) {
  Dl_info self{};
  std::vector<std::string> places = {name};
  if (::dladdr(reinterpret_cast<const void*>(&compute::devices), &self) && self.dli_fname)
    places.push_back(std::filesystem::path(self.dli_fname).parent_path() / name);
  for (const std::string& place : places)
    if (void* module = ::dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      ::dlclose(module);
      return place;
    }
  return "";
}

Finding code_generator() {
  const std::string path = module_path("libtrine_llvm.so");
  if (!path.empty()) return {State::good, "code generator", path, ""};
  return {State::note, "code generator", "not found",
          "fused loops are interpreted: slower; install libtrine_llvm.so beside libtrine.so"};
}

Finding kernel_compiler() {
  const std::string path = module_path("libtrine_simt.so");
  if (!path.empty()) return {State::good, "CUDA C++ compiler", path, ""};
  return {State::note, "CUDA C++ compiler", "not found",
          "kernels cannot be compiled: install libtrine_simt.so beside libtrine_compute.so"};
}

Finding peers() {
  const auto versions = peer_versions();
  std::string text;
  for (const auto& [name, version] : versions)
    if (is_peer(name)) text += fmt::format("{} {}, ", name, version);
  const bool usable = !text.empty() && versions.contains("numpy");
  text = fmt::format("{}in {}", text.empty() ? "none " : text, python_path());
  if (usable) return {State::good, "peers", text, ""};
  return {State::note, "peers", text,
          "bench --against and --check need one: pip install numpy onnxruntime, or set TRINE_PYTHON"};
}

// TRINE_ variables that no table knows: a typing mistake, most likely.
std::vector<Finding> variables() {
  std::vector<Finding> findings;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const auto known = env_variables();
    if (!name.starts_with("TRINE_")) continue;
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const EnvVariable& v) { return v.name == name; });
    findings.push_back({is_known ? State::note : State::bad, "environment", text,
                        is_known ? "" : "no such variable; trine env lists them"});
  }
  return findings;
}

int run(bool json) {
  std::vector<Finding> findings = {cpu(), cores(), memory(), huge_pages(), code_generator(), kernel_compiler()};
  for (Finding& f : gpu_findings()) findings.push_back(std::move(f));
  findings.push_back(peers());
  const auto set = variables();
  findings.insert(findings.end(), set.begin(), set.end());
  constexpr const char* kStates[] = {"ok", "note", "BAD"};
  const bool good =
      std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.state == State::bad; });
  if (json) {
    nlohmann::ordered_json report = {{"passed", good}};
    for (const Finding& f : findings) {
      report["findings"].push_back(
          {{"state", kStates[static_cast<int>(f.state)]}, {"what", f.what}, {"found", f.found}, {"advice", f.advice}});
    }
    fmt::print("{}\n", report.dump(2));
  } else {
    Table table({"", "what", "found", "what to do"});
    for (const Finding& f : findings) table.add({kStates[static_cast<int>(f.state)], f.what, f.found, f.advice});
    fmt::print("{}", table.text());
  }
  return good ? 0 : 1;
}

}  // namespace

std::function<int()> setup_doctor(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "report as JSON");
  return [json] { return run(*json); };
}

}  // namespace trine::cli
