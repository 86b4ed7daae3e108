// What compiled kernels and the runtime on the CPU agree on.
//
// Blocks of threads (mode `threads`): every thread is a fibre that runs ThreadFunction; it learns who it is from
// trine_simt_thread() and meets others in the functions below. Fibres of a block share one worker, one at a time.
// Lanes (mode `lanes`): BlockFunction runs a whole block; it calls only the functions marked L, for one lane at a time.
#pragma once

#include <cstdint>

#include "simt/check/abi.h"

namespace trine::simt {

struct BlockState {
  uint32_t grid_dim[3], block_dim[3], block_index[3];
  uint32_t dynamic_shared_bytes;
  char* shared;              // arena of the block, 64-byte aligned: static, then dynamic (16-byte aligned)
  char* frame;               // lanes: CpuKernel::frame_bytes, 64-byte aligned
  CheckCache* check_caches;  // of each site of a checked kernel
};

struct ThreadState {
  BlockState* block;
  uint32_t thread_index[3];
  uint32_t linear;  // x + y * block_dim.x + ...; lane = linear % 32
  // "kernel.cu:12": where its latest call of the runtime stands; null when not known. Kernels write it before calls.
  const char* where;
};

// `parameters` is the block of parameters of KernelInfo.
using ThreadFunction = void (*)(const void* parameters);
using BlockFunction = void (*)(BlockState* block, const void* parameters);

enum class BarrierKind : int32_t { plain, count_true, all_true, any_true };
enum class ShuffleKind : int32_t { up, down, butterfly, index };
enum class VoteKind : int32_t { all, any, unified, ballot };
enum class MatchKind : int32_t { any, all };
enum class ReduceKind : int32_t { add, min_signed, max_signed, min_unsigned, max_unsigned, bit_and, bit_or, bit_xor };

extern "C" {
const ThreadState* trine_simt_thread();
// Barrier `id` of the block for `threads` threads (0: all that have not exited). Returns what the kind asks of the
// predicates.
int32_t trine_simt_barrier(int32_t kind, int32_t id, int32_t threads, int32_t predicate);
void trine_simt_barrier_arrive(int32_t id, int32_t threads);  // as PTX's barrier.arrive: counted, without waiting
void trine_simt_grid_sync();                                  // cooperative launches
// What a warp does together waits for all lanes of the mask. Lanes that the block does not have are left out; it is an
// error when a lane has exited, or the caller is not in the mask.
void trine_simt_warp_sync(uint32_t mask);
// The lanes that have come to this call; who comes waits until no other thread can go on.
uint32_t trine_simt_active_mask();
// As PTX's shfl.sync: `clamp` is its operand c (segment mask and clamp). Returns the value; *inside is its predicate.
uint32_t trine_simt_shuffle(int32_t kind, uint32_t mask, uint32_t value, int32_t lane, int32_t clamp, int32_t* inside);
uint32_t trine_simt_vote(int32_t kind, uint32_t mask, int32_t predicate);
// As match.sync on 64 bits; narrower values are zero-extended. *all is its predicate.
uint32_t trine_simt_match(int32_t kind, uint32_t mask, uint64_t value, int32_t* all);
uint32_t trine_simt_reduce(int32_t kind, uint32_t mask, uint32_t value);  // as redux.sync
int32_t trine_simt_is_local(const void* address);                         // on the stack of this thread
[[noreturn]] void trine_simt_exit();                                      // of this thread
// Lanes: the functions below are called for this thread of the block, until told otherwise.
void trine_simt_set_lane(uint32_t linear);                              // L
int32_t trine_simt_vprintf(const char* format, const void* arguments);  // L
[[noreturn]] void trine_simt_assert_fail(const char* message, const char* file, uint32_t line,
                                         const char* function);  // L
[[noreturn]] void trine_simt_trap();                             // L
uint64_t trine_simt_clock();                                     // L
uint64_t trine_simt_nanoseconds();                               // L
void* trine_simt_malloc(uint64_t bytes);                         // L
void trine_simt_free(void* memory);                              // L
void trine_simt_wait();                                          // L: another block is to do something first
void trine_simt_yield();  // other threads of the block may run: at nanosleep, and where a loop may wait for them
}

}  // namespace trine::simt
