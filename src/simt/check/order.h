// What the threads of a block know of each other's accesses: which of them come before what a thread does now.
//
// Barriers order all threads of a block, collective operations the lanes of their mask, barriers with a count the warps
// that take part, grid syncs all. Atomic and volatile accesses hand over: who reads what another thread wrote after a
// fence knows of all accesses before that fence. This takes more for ordered than is (any thread's fence of the
// writer's block counts, and all blocks' accesses before it), never less.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simt/check/cells.h"

namespace trine::simt {

// The clock of all accesses.
uint32_t time_now();
uint32_t time_passes();  // a new time

class BlockOrder {
 public:
  void begin(uint32_t block, uint32_t threads);

  void barrier_of_all();
  void barrier_of_warps(int id, uint64_t waiting_warps);  // bits; with those that have arrived before
  void arrive(int id, uint32_t warp);
  void collective(uint32_t warp, uint32_t lanes);
  void grid_sync(uint32_t time);
  void fence(bool whole_device);

  // Of entries of other threads with overlapping bytes. `base`: what is older belongs to others' lives.
  bool is_before(const Entry& entry, uint32_t thread, uint32_t base) const {
    if (entry.time < base) return true;
    if (entry.block != block_) return entry.time < grid_ || entry.time < threads_[thread].device;
    const uint32_t other = entry.thread();
    return other == thread || entry.time < known_ || is_before_in_warp(entry.time, other, thread) ||
           entry.time < threads_[thread].block || is_before_by_warps(entry.time, other, thread);
  }

  uint32_t block() const { return block_; }
  uint32_t start() const { return start_; }

  // Of hand-overs; times of fences.
  uint32_t fenced_for_block() const { return fence_block_; }
  uint32_t fenced_for_device() const { return fence_device_; }
  void acquire(uint32_t thread, uint32_t of_block, uint32_t of_device);

 private:
  struct Acquired {
    uint32_t block = 0, device = 0;
  };
  struct WarpTimes {
    uint32_t all = 0;  // known of all lanes by all
    std::unique_ptr<std::array<uint32_t, 32 * 32>> lanes;
  };
  using Warps = std::array<uint32_t, 32 * 32>;

  bool is_before_in_warp(uint32_t time, uint32_t other, uint32_t thread) const {
    if (other / 32 != thread / 32) return false;
    const WarpTimes& warp = warps_[thread / 32];
    return time < warp.all || (warp.lanes && time < (*warp.lanes)[thread % 32 * 32 + other % 32]);
  }
  bool is_before_by_warps(uint32_t time, uint32_t other, uint32_t thread) const {
    return between_ && time < (*between_)[thread / 32 * 32 + other / 32];
  }
  template <class Each>
  void share_acquired(const Each& each);

  uint32_t block_ = 0, start_ = 0, known_ = 0, grid_ = 0, fence_block_ = 0, fence_device_ = 0;
  bool handed_over_ = false;  // something was acquired
  std::vector<Acquired> threads_;
  std::vector<WarpTimes> warps_;
  std::unique_ptr<Warps> between_;  // [warp][of warp]
  struct Arrivals {
    std::array<uint32_t, 32> warps{};
  };
  std::array<std::unique_ptr<Arrivals>, 16> arrivals_;
};

}  // namespace trine::simt
