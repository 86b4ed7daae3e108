// One checked launch: what its blocks share.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simt/check/abi.h"
#include "simt/check/check_set.h"
#include "simt/check/findings.h"
#include "simt/check/memory_map.h"
#include "trine/compute/module.h"

namespace trine::simt {

// What an atomic or volatile access has handed over at an address: times of fences.
struct HandedOver {
  uint32_t device = 0, of_block = 0, block = UINT32_MAX;
};

class LaunchChecks {
 public:
  LaunchChecks(const CheckTable& table, const char* kernel, const compute::LaunchShape& shape, uint64_t parameters,
               uint64_t parameter_bytes);
  ~LaunchChecks();
  LaunchChecks(const LaunchChecks&) = delete;
  LaunchChecks& operator=(const LaunchChecks&) = delete;

  const CheckTable& table;
  const char* const kernel;
  const compute::LaunchShape shape;
  const uint64_t parameters, parameter_bytes;  // the block of parameters, which kernels may read
  const uint32_t start;                        // older accesses are of earlier launches
  const bool parallel;                         // blocks run at the same time

  bool checks(uint32_t bit) const { return table.checks & bit; }
  const CheckSite& site(uint32_t index) const { return table.sites[index]; }
  std::string thread_text(uint32_t block, uint32_t thread) const;

  void hand_over(uint64_t address, const HandedOver& what);
  bool handed_over(uint64_t address, HandedOver& what);  // false: nothing

  // Counts it where one of its check, lines and description is known.
  using Key = std::tuple<uint32_t, uint32_t, int>;
  bool is_known(const Key& key);
  void add(const Key& key, Finding finding);
  void add(Finding finding) { add({next_single_--, 0, -1}, std::move(finding)); }
  // Writes them out; the first one's text, or "".
  std::string report();

 private:
  std::mutex mutex_;  // of what was found
  std::map<Key, Finding> found_;
  std::vector<Key> order_;
  uint32_t next_single_ = UINT32_MAX;

  static constexpr size_t kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, HandedOver> addresses;
  };
  std::atomic<bool> any_handed_over_{false};
  std::array<Shard, kShards> shards_;
};

}  // namespace trine::simt
