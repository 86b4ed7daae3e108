// Barriers of blocks and in shared memory, fences, and what says when to go on.
#pragma once

#include "memory.h"

extern "C" __attribute__((device, convergent)) int trine_simt_barrier(int kind, int id, int threads, int predicate);
extern "C" __attribute__((device, convergent)) void trine_simt_barrier_arrive(int id, int threads);

namespace trine_ptx {

// bar.sync id[, threads]; bar.arrive id, threads; bar.red.operation.type d, id[, threads], predicate
template <Text op, class... All>
PTX void i_bar(All... all) {
  static_assert(op.only("sync arrive warp cta aligned "));
  if constexpr (op.has("warp")) __syncwarp(as<u32>(pick<0>(all...)));
  else if constexpr (op.has("arrive")) trine_simt_barrier_arrive(as<s32>(pick<0>(all...)), as<s32>(pick<1>(all...)));
  else if constexpr (sizeof...(All) == 0) __syncthreads();
  else if constexpr (sizeof...(All) == 1) __barrier_sync(as<u32>(pick<0>(all...)));
  else __barrier_sync_count(as<u32>(pick<0>(all...)), as<u32>(pick<1>(all...)));
}
template <Text op, class T, class D, class... All>
PTX void i_bar(D& d, All... all) {
  static_assert(op.only("red cta aligned popc and or "));
  static_assert(op.has("red"));
  const int kind = op.has("popc") ? 1 : op.has("and") ? 2 : 3;  // as BarrierKind of run/abi.h
  const int id = as<s32>(pick<0>(all...));
  int threads = 0;
  if constexpr (sizeof...(All) == 3) threads = as<s32>(pick<1>(all...));
  const int result = trine_simt_barrier(kind, id, threads, as<bool>(pick<sizeof...(All) - 1>(all...)));
  if constexpr (op.has("popc")) put(d, static_cast<u32>(result));
  else put(d, result != 0);
}
template <Text op, class... All>
PTX void i_barrier(All&&... all) {
  static_assert(!op.has("cluster"));
  i_bar<op>(all...);
}
template <Text op, class T, class... All>
PTX void i_barrier(All&&... all) {
  i_bar<op, T>(all...);
}
template <Text op, class... All>
PTX void i_membar(All...) {
  if constexpr (op.has("cta")) __threadfence_block();
  else __threadfence();
}
template <Text op, class... All>
PTX void i_fence(All...) {
  __threadfence();
}
template <Text op, class A>
PTX void i_nanosleep(A nanoseconds) {
  __nanosleep(as<u32>(nanoseconds));
}
template <Text op>
PTX void i_griddepcontrol() {}  // a launch begins when the one before is done
template <Text op, class A>
PTX void i_setmaxnreg(A) {}
template <Text op, class A>
PTX void i_pmevent(A) {}
template <Text op>
PTX void i_trap() {
  __trap();
}
template <Text op>
PTX void i_brkpt() {}
template <Text op>
PTX void i_exit() {
  __nvvm_exit();
}

// A barrier in shared memory: bit 63 is the phase; arrivals of a phase, arrivals that are missing, bytes that are.
struct Mbarrier {
  static constexpr u64 ones = (1 << 20) - 1;
  static PTX u64 make(u64 phase, u64 expected, u64 pending, u64 bytes) {
    return phase << 63 | (bytes & (2 * ones + 1)) << 40 | pending << 20 | expected;
  }
  // So many arrivals and bytes come, fewer are expected from now on. Returns what was.
  static PTX u64 change(u64* word, u64 arrivals, s64 bytes, u64 leaving) {
    u64 seen = *static_cast<volatile u64*>(word), before;
    do {
      before = seen;
      const u64 expected = (before & ones) - leaving, pending = (before >> 20 & ones) - arrivals;
      const u64 missing = (before >> 40) + static_cast<u64>(bytes) & (2 * ones + 1);
      const bool done = pending == 0 && missing == 0;
      const u64 phase = before >> 63;
      seen = atomicCAS(word, before,
                       done ? make(phase ^ 1, expected, expected, 0) : make(phase, expected, pending, missing));
    } while (seen != before);
    return before;
  }
};

#define PTX_MBARRIER                                                                                               \
  "init inval arrive arrive_drop expect_tx complete_tx noComplete release acquire relaxed cta cluster gpu shared " \
  "global "                                                                                                        \
  "test_wait try_wait parity pending_count "
PTX void arrive_at(u64* word) { Mbarrier::change(word, 1, 0, 0); }

template <Text op, class T, class First, class... All>
PTX void i_mbarrier(First&& first, All... all) {
  static_assert(op.only(PTX_MBARRIER));
  if constexpr (op.has("pending_count")) {
    put(first, static_cast<u32>(as<u64>(pick<0>(all...)) >> 20 & Mbarrier::ones));
  } else if constexpr (op.has("test_wait") || op.has("try_wait")) {
    const u64 now = *pointer<op, volatile u64>(pick<0>(all...));
    bool done;
    if constexpr (op.has("parity")) done = now >> 63 != (as<u32>(pick<1>(all...)) & 1);
    else done = now >> 63 != as<u64>(pick<1>(all...)) >> 63;
    if (!done) __nanosleep(20);
    put(first, done);
  } else if constexpr (!same<First, Address>) {  // arrive with a state
    u64* word = pointer<op, u64>(pick<0>(all...));
    u64 count = 1;
    s64 bytes = 0;
    if constexpr (sizeof...(All) == 2) {
      if constexpr (op.has("expect_tx")) bytes = as<s32>(pick<1>(all...));
      else count = as<u32>(pick<1>(all...));
    }
    put(first, Mbarrier::change(word, count, bytes, op.has("arrive_drop") ? count : 0));
  } else {
    u64* word = pointer<op, u64>(first);
    if constexpr (op.has("init")) {
      const u64 count = as<u32>(pick<0>(all...));
      *word = Mbarrier::make(0, count, count, 0);
    } else if constexpr (op.has("inval")) {
      *word = 0;
    } else if constexpr (op.has("arrive") || op.has("arrive_drop")) {
      i_mbarrier<op, T>(Sink{}, first, all...);
    } else {
      const s64 bytes = as<s32>(pick<0>(all...));
      Mbarrier::change(word, 0, op.has("expect_tx") ? bytes : -bytes, 0);
    }
  }
}

}  // namespace trine_ptx
