// One block of a checked launch while it runs.
#pragma once

#include <vector>

#include "simt/check/launch_checks.h"
#include "simt/check/order.h"

namespace trine::simt {

class BlockChecks {
 public:
  // `shared` is the block's arena of so many bytes.
  void begin(LaunchChecks& launch, uint32_t block, char* shared, uint64_t shared_bytes);

  LaunchChecks* launch = nullptr;
  BlockOrder order;
  std::vector<CheckCache> caches;
  Region& shared() { return *shared_; }
  void forget_regions();  // memory has come or gone

 private:
  std::unique_ptr<Region> shared_;
  uint64_t shared_capacity_ = 0;
  uint64_t generation_ = 0;
  const CheckTable* table_ = nullptr;
};

// An access that is not within what the cache holds: finds the region or fails the launch. `where` is for messages.
void check_race(BlockChecks& block, Region& region, uint64_t address, uint64_t bytes, uint64_t value, uint32_t site,
                uint32_t thread);

// "write of 4 bytes"
std::string access_text(const CheckSite& site, uint64_t bytes);
// "'tile' + 12", "allocation 3 (cudaMalloc, 4096 bytes) + 64"
std::string owner_text(const LaunchChecks& launch, const Region& region, uint64_t address);
const CheckVariable* shared_variable(const CheckTable& table, uint64_t offset, uint64_t& end, uint64_t arena_bytes);

}  // namespace trine::simt
