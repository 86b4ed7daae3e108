#include "backends/cuda/target.h"

#include <fmt/format.h>

namespace trine::cuda {
namespace {

constexpr int kArchitectures[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80, 86,
                                  87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

// NVIDIA's "PTX ISA", release notes: the driver's CUDA and the newest PTX that it takes.
struct PtxRow {
  int driver, ptx;
};
constexpr PtxRow kPtx[] = {{13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85},
                           {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81}};

}  // namespace

std::string architecture_for(int major, int minor) {
  int best = kArchitectures[0];
  for (int known : kArchitectures)
    if (known <= 10 * major + minor) best = known;
  return fmt::format("sm_{}", best);
}

std::string specific_architecture_for(int major, int minor) {
  const std::string architecture = architecture_for(major, minor);
  const bool exact = architecture == fmt::format("sm_{}", 10 * major + minor);
  return exact && major >= 9 ? architecture + "a" : architecture;
}

int ptx_version_for(int driver_version) {
  for (const PtxRow& row : kPtx)
    if (driver_version >= row.driver) return row.ptx;
  return 80;
}

}  // namespace trine::cuda
