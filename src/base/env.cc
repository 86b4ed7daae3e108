#include "trine/base/env.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr EnvVariable kVariables[] = {
    {"HOME", "", "compiled kernels are kept below it, in .cache/trine, unless a variable names another folder"},
    {"NO_COLOR", "", "any value: the command line writes no colours"},
    {"TRINE_CACHE", "", "folder of compiled kernels; off: none are kept"},
    {"TRINE_CHECK_JSON", "", "file to which checked kernels add a line of JSON for each finding"},
    {"TRINE_CHECK_SAME_VALUE", "", "any value: races in which all write the value that was there are told too"},
    {"TRINE_CPU", "",
     "caps what kernels use of the CPU: baseline, avx2, avx512 or, with extensions, avx512+vnni+bf16; never raises it"},
    {"TRINE_CUDA_DRIVER", "libcuda.so.1", "library of the CUDA driver"},
    {"TRINE_DEBUG", "0",
     "prints to stderr: 1 devices, 2 kernel times and how kernels run on the CPU, 3 choices and refusals, 4 generated "
     "source, 5 graph after each "
     "pass"},
    {"TRINE_DEVICE", "",
     "what programs of `trine cc` run on: cpu or cuda; else GPUs where the program has code for them, else the CPU"},
    {"TRINE_DUMP", "", "folder that receives generated code and graphs as files"},
    {"TRINE_MAX_MEM", "0", "memory for tensors, in MiB; 0: what the machine or the container has"},
    {"TRINE_PROFILE", "",
     "file that receives a trace of kernels, copies and ranges (docs/profiling.md); %p in its name is the process"},
    {"TRINE_PROFILE_EVENTS", "262144",
     "events that such a trace keeps, 128 bytes each; others count in its table only"},
    {"TRINE_PROFILE_PAUSED", "0", "1: such a trace begins at cudaProfilerStart() or Profiler::resume()"},
    {"TRINE_PYTHON", "",
     "Python that runs peers in `bench --against`; else .venv/bin/python here or above the program, else python3"},
    {"TRINE_SKIP", "", "passes to leave out, separated by commas; names as in docs/passes.md"},
    {"TRINE_SPIN_US", "1000",
     "microseconds that an idle worker thread waits awake before it sleeps; 0: sleeps at once"},
    {"XDG_CACHE_HOME", "", "folder of caches; compiled kernels are kept in its folder trine"},
};

struct IntegerRange {
  std::string_view name;
  int64_t least, most;
};
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr IntegerRange kIntegers[] = {{"TRINE_DEBUG", 0, 5},
                                      {"TRINE_MAX_MEM", 0, kAny},
                                      {"TRINE_PROFILE_EVENTS", 0, 100'000'000},
                                      {"TRINE_PROFILE_PAUSED", 0, 1},
                                      {"TRINE_SPIN_US", 0, kAny}};

std::string accepted_text(const IntegerRange& range) {
  return range.most == kAny ? "an integer of at least " + std::to_string(range.least)
                            : "an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

const EnvVariable& row_of(std::string_view name) {
  for (const EnvVariable& row : kVariables)
    if (row.name == name) return row;
  TRINE_CHECK(false, std::string(name) + " is not in the table of environment variables");
  return kVariables[0];
}

}  // namespace

std::span<const EnvVariable> env_variables() { return kVariables; }

std::string env_text(std::string_view name) {
  const EnvVariable& row = row_of(name);
  const char* value = std::getenv(std::string(row.name).c_str());
  return value && *value ? std::string(value) : std::string(row.otherwise);
}

int64_t env_integer(std::string_view name) {
  const std::string text = env_text(name);
  const auto range = std::find_if(std::begin(kIntegers), std::end(kIntegers), [&](auto& r) { return r.name == name; });
  TRINE_CHECK(range != std::end(kIntegers), std::string(name) + " is no integer");
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < range->least || value > range->most)
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + ": got '" + text + "'; accepted is " + accepted_text(*range));
  return value;
}

void check_environment() {
  for (const IntegerRange& range : kIntegers) env_integer(range.name);
  cpu_level();  // reads TRINE_CPU
}

std::vector<std::string> env_list(std::string_view name) {
  std::vector<std::string> items;
  std::string item;
  for (char c : env_text(name) + ",") {
    if (c != ',') {
      item += c;
    } else if (!item.empty()) {
      items.push_back(std::move(item));
      item.clear();
    }
  }
  return items;
}

bool debug_shows(DebugLevel level) {
  static const int64_t chosen = env_integer("TRINE_DEBUG");
  return chosen >= static_cast<int64_t>(level);
}

}  // namespace trine
