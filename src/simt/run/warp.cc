// A collective operation is complete when every lane of its mask that the block has waits in the same one. Who comes
// last computes for all.
#include "simt/run/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simt/check/hooks.h"

namespace trine::simt {
namespace {

constexpr uint32_t kWarp = 32;

template <class Body>
void for_lanes(uint32_t mask, const Body& body) {
  for (; mask; mask &= mask - 1) body(static_cast<uint32_t>(std::countr_zero(mask)));
}

// PTX ISA, shfl.sync.
void shuffle(Thread* lanes, uint32_t members) {
  for_lanes(members, [&](uint32_t lane) {
    WarpRequest& r = lanes[lane].request;
    const int own = static_cast<int>(lane), b = r.lane & 31;
    const int segment = r.clamp >> 8 & 31;
    const int least = own & segment, most = least | (r.clamp & 31 & ~segment);
    int from = own;
    bool inside = true;
    switch (static_cast<ShuffleKind>(r.kind)) {
      case ShuffleKind::up:
        from = own - b;
        inside = from >= most;
        break;
      case ShuffleKind::down:
        from = own + b;
        inside = from <= most;
        break;
      case ShuffleKind::butterfly:
        from = own ^ b;
        inside = from <= most;
        break;
      case ShuffleKind::index:
        from = least | (b & ~segment);
        inside = from <= most;
        break;
    }
    r.flag = inside;
    const bool is_there = inside && (members >> from & 1);  // else undefined in CUDA
    r.result = is_there ? lanes[from].request.value : r.value;
  });
}

void vote(Thread* lanes, uint32_t members) {
  uint32_t ballot = 0;
  for_lanes(members, [&](uint32_t lane) { ballot |= uint32_t{lanes[lane].request.value != 0} << lane; });
  for_lanes(members, [&](uint32_t lane) {
    WarpRequest& r = lanes[lane].request;
    switch (static_cast<VoteKind>(r.kind)) {
      case VoteKind::all: r.result = ballot == members; break;
      case VoteKind::any: r.result = ballot != 0; break;
      case VoteKind::unified: r.result = ballot == members || ballot == 0; break;
      case VoteKind::ballot: r.result = ballot; break;
    }
  });
}

void match(Thread* lanes, uint32_t members) {
  for_lanes(members, [&](uint32_t lane) {
    WarpRequest& r = lanes[lane].request;
    uint32_t same = 0;
    for_lanes(members, [&](uint32_t other) { same |= uint32_t{lanes[other].request.value == r.value} << other; });
    r.flag = same == members;
    r.result = static_cast<MatchKind>(r.kind) == MatchKind::any || r.flag ? same : 0;
  });
}

uint32_t combine(ReduceKind kind, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (kind) {
    case ReduceKind::add: return a + b;
    case ReduceKind::min_signed: return static_cast<uint32_t>(std::min(x, y));
    case ReduceKind::max_signed: return static_cast<uint32_t>(std::max(x, y));
    case ReduceKind::min_unsigned: return std::min(a, b);
    case ReduceKind::max_unsigned: return std::max(a, b);
    case ReduceKind::bit_and: return a & b;
    case ReduceKind::bit_or: return a | b;
    case ReduceKind::bit_xor: return a ^ b;
  }
  return 0;
}

void reduce(Thread* lanes, uint32_t members) {
  const auto first = static_cast<uint32_t>(std::countr_zero(members));
  const auto kind = static_cast<ReduceKind>(lanes[first].request.kind);
  auto total = static_cast<uint32_t>(lanes[first].request.value);
  for_lanes(members & (members - 1),
            [&](uint32_t lane) { total = combine(kind, total, static_cast<uint32_t>(lanes[lane].request.value)); });
  for_lanes(members, [&](uint32_t lane) { lanes[lane].request.result = total; });
}

void compute(Thread* lanes, uint32_t members) {
  switch (lanes[std::countr_zero(members)].request.operation) {
    case WarpOperation::sync: break;
    case WarpOperation::shuffle: shuffle(lanes, members); break;
    case WarpOperation::vote: vote(lanes, members); break;
    case WarpOperation::match: match(lanes, members); break;
    case WarpOperation::reduce: reduce(lanes, members); break;
  }
}

bool all_meet(const Thread* lanes, uint32_t members, const WarpRequest& request) {
  bool same = true;
  for_lanes(members, [&](uint32_t lane) { same &= lanes[lane].request.meets(request); });
  return same;
}

[[noreturn]] void fail_exited(Executor& executor, const WarpRequest& request, uint32_t exited) {
  executor.fail(fmt::format("{}{} names lanes that have exited: {:#010x}; all lanes of a mask must take part",
                            text_of(request), executor.place(), exited));
}

const WarpRequest& collective(const WarpRequest& request) {
  Executor& executor = *Executor::running();
  Thread& self = executor.current();
  Warp& warp = executor.warp_of(self);
  Thread* lanes = executor.lanes_of(self);
  const uint32_t own = 1u << self.state.linear % kWarp;
  const uint32_t members = request.mask & warp.present;
  self.request = request;
  if (!(members & own))
    executor.fail(fmt::format("{}{} by a lane that the mask leaves out", text_of(request), executor.place()));
  if (members & warp.exited) fail_exited(executor, request, members & warp.exited);
  if ((members & ~warp.waiting) == own && all_meet(lanes, members, request)) {
    compute(lanes, members);
    if (Block& block = executor.block_of(self); block.checks)
      check_collective(block, self.state.linear / kWarp, members);
    warp.waiting &= ~members;
    for_lanes(members & ~own, [&](uint32_t lane) { executor.wake(lanes[lane]); });
  } else {
    warp.waiting |= own;
    executor.wait(Wait::warp);
  }
  return self.request;
}

}  // namespace

std::string text_of(const WarpRequest& request) {
  static constexpr const char* kNames[] = {"warp sync", "shuffle", "vote", "match", "warp reduction"};
  return fmt::format("{} with mask {:#010x}", kNames[static_cast<size_t>(request.operation)], request.mask);
}

void warp_after_exit(Executor& executor, Thread& thread) {
  Warp& warp = executor.warp_of(thread);
  const uint32_t own = 1u << thread.state.linear % kWarp;
  warp.exited |= own;
  const Thread* lanes = executor.lanes_of(thread);
  for_lanes(warp.waiting, [&](uint32_t lane) {
    const Thread& waits = lanes[lane];
    if (waits.request.mask & own) {
      executor.fail(fmt::format("exits while lane {} waits for it: {}{}{}", lane, text_of(waits.request),
                                waits.state.where ? " at " : "", waits.state.where ? waits.state.where : ""));
    }
  });
}

size_t converge(Executor& executor, Thread* lanes, Warp& warp) {
  uint32_t together = 0;
  const void* site = nullptr;
  for_lanes(warp.present & ~warp.exited, [&](uint32_t lane) {
    const Thread& thread = lanes[lane];
    if (thread.wait != Wait::convergence || (together && thread.site != site)) return;
    site = thread.site;
    together |= 1u << lane;
  });
  for_lanes(together, [&](uint32_t lane) {
    lanes[lane].request.result = together;
    executor.wake(lanes[lane]);
  });
  return static_cast<size_t>(std::popcount(together));
}

extern "C" {

void trine_simt_warp_sync(uint32_t mask) { collective({.operation = WarpOperation::sync, .mask = mask}); }

uint32_t trine_simt_active_mask() {
  Executor& executor = *Executor::running();
  Thread& self = executor.current();
  self.site = __builtin_return_address(0);
  executor.wait(Wait::convergence);
  return static_cast<uint32_t>(self.request.result);
}

uint32_t trine_simt_shuffle(int32_t kind, uint32_t mask, uint32_t value, int32_t lane, int32_t clamp, int32_t* inside) {
  const WarpRequest& done = collective(
      {.operation = WarpOperation::shuffle, .kind = kind, .mask = mask, .value = value, .lane = lane, .clamp = clamp});
  if (inside) *inside = done.flag;
  return static_cast<uint32_t>(done.result);
}

uint32_t trine_simt_vote(int32_t kind, uint32_t mask, int32_t predicate) {
  const auto value = static_cast<uint64_t>(predicate != 0);
  const WarpRequest& done = collective({.operation = WarpOperation::vote, .kind = kind, .mask = mask, .value = value});
  return static_cast<uint32_t>(done.result);
}

uint32_t trine_simt_match(int32_t kind, uint32_t mask, uint64_t value, int32_t* all) {
  const WarpRequest& done = collective({.operation = WarpOperation::match, .kind = kind, .mask = mask, .value = value});
  if (all) *all = done.flag;
  return static_cast<uint32_t>(done.result);
}

uint32_t trine_simt_reduce(int32_t kind, uint32_t mask, uint32_t value) {
  const WarpRequest& done =
      collective({.operation = WarpOperation::reduce, .kind = kind, .mask = mask, .value = value});
  return static_cast<uint32_t>(done.result);
}

}  // extern "C"

}  // namespace trine::simt
