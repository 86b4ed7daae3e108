// Tables of small kernels with what they must compute, for every device and mode that runs kernels.
//
// The kernel of a row is `k(const int* in, int* out, int n)`: n is the number of threads of the grid; `in` and `out`
// have n elements, random and poisoned. Thread i of the grid counts blocks first, then threads as CUDA does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trine/compute/device.h"
#include "trine/compute/module.h"

namespace trine::compute {

// Where and how kernels run.
struct Target {
  std::string device;
  CpuMode mode;
};
std::vector<Target> targets();  // of this machine; with TRINE_TEST_DEVICE=cuda only those that begin so
std::string text_of(const Target& target);

struct Shape {
  Dim3 grid, block;
  int blocks() const { return static_cast<int>(grid.volume()); }
  int threads() const { return static_cast<int>(block.volume()); }
  int all() const { return blocks() * threads(); }
};

using Ints = std::vector<int>;
using Expected = void (*)(const Shape& shape, const Ints& in, Ints& out);

struct KernelCase {
  const char* name;
  const char* source;
  const std::vector<Shape>* shapes;
  Expected expected;
  uint32_t shared_bytes_for_thread = 0;  // dynamic
  bool cooperative = false;
  const char* only = "";  // devices whose names begin so: what others do not promise
};

extern const std::vector<Shape> kShapes;       // blocks of 1 to 1024 threads, grids of 1 to 7 blocks
extern const std::vector<Shape> kWarpShapes;   // blocks of whole warps
extern const std::vector<Shape> kSpaceShapes;  // of two and three dimensions
extern const std::vector<Shape> kSmallShapes;  // for kernels that are slow

void run_case(const KernelCase& row, const Target& target);
template <size_t n>
void run_cases(const KernelCase (&rows)[n]) {
  for (const Target& target : targets())
    for (const KernelCase& row : rows) run_case(row, target);
}

constexpr int kPoison = 0x5a5a5a5a;
Ints random_ints(int count, uint32_t seed);
uint32_t test_seed();  // printed once

// The text of the Error that compiling or launching `source` ends with; "" when there is none.
std::string failure(const Target& target, const char* source, const Shape& shape, bool cooperative = false);

}  // namespace trine::compute
