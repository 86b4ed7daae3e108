// The state of threads, warps and blocks while they run.
#pragma once

#include <array>
#include <cstdint>

#include "simt/run/abi.h"
#include "simt/run/fibre.h"

namespace trine::simt {

enum class Wait : uint8_t { nothing, barrier, grid, warp, convergence };
enum class WarpOperation : uint8_t { sync, shuffle, vote, match, reduce };

// What a thread brings to a collective operation of its warp, and takes away.
struct WarpRequest {
  WarpOperation operation = WarpOperation::sync;
  int32_t kind = 0;
  uint32_t mask = 0;
  uint64_t value = 0;
  int32_t lane = 0, clamp = 0;
  uint64_t result = 0;
  int32_t flag = 0;  // its predicate

  bool meets(const WarpRequest& other) const {
    return operation == other.operation && kind == other.kind && mask == other.mask;
  }
};

struct Thread {
  ThreadState state;
  Wait wait = Wait::nothing;
  bool exited = false;
  uint32_t warp = 0;    // index in the executor's list
  int32_t barrier = 0;  // while it waits for one
  int32_t predicate = 0, result = 0;
  const void* site = nullptr;  // convergence: the call
  WarpRequest request;
  Fibre* fibre = nullptr;
  Thread* next = nullptr;  // in a queue
};

class ThreadQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  void clear() { first_ = last_ = nullptr; }
  void push(Thread& thread) {
    thread.next = nullptr;
    (first_ ? last_->next : first_) = &thread;
    last_ = &thread;
  }
  Thread* pop() {
    Thread* thread = first_;
    if (thread) first_ = thread->next;
    return thread;
  }

 private:
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

struct Warp {
  size_t first_thread = 0;
  uint32_t present = 0;  // lanes that the block has
  uint32_t exited = 0, waiting = 0;
};

struct Barrier {
  uint32_t arrived = 0, waiting = 0;  // arrived without waiting: barrier.arrive
  uint32_t absent = 0;                // lanes that the last warp lacks, once a thread of it is here: they count too
  uint32_t expected = 0;              // 0: all that live
  int32_t kind = 0;
};
constexpr int kBarriers = 16;

class BlockChecks;

struct Block {
  BlockState state;
  size_t first_thread = 0;
  uint32_t threads = 0, live = 0;
  uint32_t open_barriers = 0;  // at which threads have arrived
  std::array<Barrier, kBarriers> barriers;
  BlockChecks* checks = nullptr;  // of checked launches
};

}  // namespace trine::simt
