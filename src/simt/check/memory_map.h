// The memory that kernels may use: what the device has given out, what was freed of late, variables of modules, and
// host memory that was registered. Filled from the first checked module on.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "simt/check/abi.h"
#include "simt/check/cells.h"
#include "simt/check/shadow.h"

namespace trine::simt {

enum class RegionKind : uint8_t { device, host, heap, variable, constant, shared };

struct Region {
  uint64_t low = 0, bytes = 0;
  RegionKind kind = RegionKind::device;
  bool freed = false;
  bool of_program = false;  // allocated through the runtime API: a leak when it is there at the end
  std::string name;         // "allocation 3", "'tile'"
  std::string freed_by;

  bool holds(uint64_t address) const { return address - low < bytes; }
  Cells& cells();  // made when first asked for; from any thread
  void watch();    // for the check `init`: from now on nobody has written there. May throw Error{out_of_memory}
  Watched watched() const;

 private:
  std::atomic<Cells*> cells_{nullptr};
  std::unique_ptr<Cells> owned_;
  std::unique_ptr<Shadow> shadow_;
  std::mutex mutex_;
};

class MemoryMap {
 public:
  static MemoryMap& of_process();
  void enable();
  static bool is_enabled();
  void watch_writes();  // of memory that is given out from now on, for the check `init`

  // `is_new`: nobody can have written there.
  void add(uint64_t low, uint64_t bytes, RegionKind kind, std::string name, bool is_new = false);
  void add_variables(const CheckTable& table);
  void name(const void* begin, const std::string& by);  // "cudaMalloc": who allocated it
  // Kept as freed for a while; false when it is not known.
  bool release(uint64_t low, const std::string& by);
  void remove(uint64_t low);

  Region* find(uint64_t address);                          // freed ones too
  std::string describe(uint64_t address, uint64_t bytes);  // where an access lies that is none
  // Changes with every change of what there is.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  void begin_launch() { launches_.fetch_add(1); }
  void end_launch() { launches_.fetch_sub(1); }

  // Copies and fills that the host orders.
  bool before_copy(void* to, const void* from, size_t bytes);  // true: call after_copy
  void after_copy(void* to, size_t bytes);
  void before_fill(void* to, size_t bytes);

  struct Leak {
    std::string name;
    uint64_t bytes;
  };
  std::vector<Leak> leaks();  // named blocks that are still there

 private:
  using Map = std::map<uint64_t, std::unique_ptr<Region>>;
  void insert(std::unique_ptr<Region> region);
  void shrink_quarantine();
  Watched watched(const void* address, size_t bytes);  // so many bytes of one region
  void changed() { generation_.fetch_add(1, std::memory_order_acq_rel); }

  std::shared_mutex mutex_;
  Map regions_;
  std::vector<uint64_t> quarantine_;  // oldest first
  uint64_t quarantine_bytes_ = 0;
  uint32_t allocations_ = 0;
  std::atomic<uint64_t> generation_{1};
  std::atomic<int> launches_{0};
  std::atomic<bool> watches_writes_{false};
};

}  // namespace trine::simt
