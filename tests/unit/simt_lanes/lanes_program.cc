#include "lanes_program.h"

#include <cstdio>
#include <cstdlib>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

std::string printed;
uint32_t lane = 0;

void set_lane(uint32_t linear) { lane = linear; }
int32_t print(const char* format, const void* arguments) {
  int32_t number = 0;
  if (std::strchr(format, '%')) std::memcpy(&number, arguments, sizeof number);
  char text[256];
  const int length = std::snprintf(text, sizeof text, format, number);
  printed += std::to_string(lane) + ": " + text;
  return length;
}
void assert_fail(const char* message, const char*, uint32_t, const char*) {
  throw Error(ErrorCode::device, std::to_string(lane) + ": " + message);
}
void trap() { throw Error(ErrorCode::device, "trap"); }
// Blocks before are done; a loop over them may go round with its waiting.
void wait() {
  static int rounds = 0;
  if (++rounds > 1'000'000) throw Error(ErrorCode::device, "a block waits though those before it are done");
}
uint64_t ticks() {
  static uint64_t now = 0;
  return ++now;
}

const RuntimeSymbol kRuntime[] = {{"trine_simt_set_lane", reinterpret_cast<void*>(set_lane)},
                                  {"trine_simt_vprintf", reinterpret_cast<void*>(print)},
                                  {"trine_simt_assert_fail", reinterpret_cast<void*>(assert_fail)},
                                  {"trine_simt_trap", reinterpret_cast<void*>(trap)},
                                  {"trine_simt_wait", reinterpret_cast<void*>(wait)},
                                  {"trine_simt_clock", reinterpret_cast<void*>(ticks)},
                                  {"trine_simt_nanoseconds", reinterpret_cast<void*>(ticks)},
                                  {"trine_simt_malloc", reinterpret_cast<void*>(std::malloc)},
                                  {"trine_simt_free", reinterpret_cast<void*>(std::free)}};

struct Aligned {
  explicit Aligned(size_t bytes) : memory(static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64))) {
    std::memset(memory, 0x5a, (bytes + 127) / 64 * 64);
  }
  ~Aligned() { std::free(memory); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  char* memory;
};

}  // namespace

LanesProgram::LanesProgram(const std::string& source)
    : module_(compiler().parse("#pragma clang fp contract(off)\n" + source, {})),
      program_(compiler().load_cpu(module_, std::span<const RuntimeSymbol>(kRuntime, std::size(kRuntime)))) {}

const KernelInfo& LanesProgram::find(const std::string& kernel) const {
  for (const KernelInfo& info : module_.kernels)
    if (info.name.substr(0, info.name.find('(')) == kernel) return info;
  throw Error(ErrorCode::invalid_argument, "no kernel " + kernel);
}

CpuKernel LanesProgram::compiled(const KernelInfo& kernel, const Dim3& block, int width) {
  std::string key = kernel.symbol;
  for (uint32_t part : {block.x, block.y, block.z, uint32_t(width)}) key += " " + std::to_string(part);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  return made_[key] = program_->kernel(kernel, {.mode = compute::CpuMode::lanes, .block = block, .width = width});
}

std::string LanesProgram::refusal(const std::string& kernel, const Dim3& block) {
  try {
    compiled(find(kernel), block, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void LanesProgram::run_grid(const CpuKernel& code, const Dim3& grid, const Dim3& block,
                            const std::vector<char>& parameters) const {
  const Aligned shared(code.shared_bytes + dynamic_shared_bytes), frame(code.frame_bytes);
  for (uint32_t z = 0; z < grid.z; ++z)
    for (uint32_t y = 0; y < grid.y; ++y)
      for (uint32_t x = 0; x < grid.x; ++x) {
        BlockState state{{grid.x, grid.y, grid.z},
                         {block.x, block.y, block.z},
                         {x, y, z},
                         dynamic_shared_bytes,
                         shared.memory,
                         frame.memory};
        code.run_block(&state, parameters.data());
      }
}

std::string take_printed() { return std::exchange(printed, {}); }

uint32_t test_seed() {
  static const uint32_t seed = [] {
    const char* given = std::getenv("TRINE_SEED");
    const uint32_t fresh = given ? uint32_t(std::atoll(given)) : std::random_device{}();
    std::printf("seed %u\n", fresh);
    return fresh;
  }();
  return seed;
}

}  // namespace trine::simt
