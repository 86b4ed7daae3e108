// Executor: runs blocks on the thread that owns it, one CUDA thread at a time.
//
// A CUDA thread runs on a fibre until it must wait. Then the fibre itself picks who goes on: a thread that has not
// begun (on a stack that is free; threads that never wait share one), else the thread that was made ready first, else
// threads that meet at __activemask, else one that yielded. When there is none and not all have exited, what they wait
// for can never come: the launch fails with a table of who waits where. Blocks of a cooperative launch are all here at
// once.
#pragma once

#include <csetjmp>
#include <memory>
#include <string>
#include <vector>

#include "simt/run/debug_view.h"
#include "simt/run/fault.h"
#include "simt/run/fibre.h"
#include "simt/run/launch.h"
#include "simt/run/thread_queue.h"

namespace trine::simt {

class Executor {
 public:
  Executor();
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  static Executor& of_this_thread();
  static Executor* running();  // what this thread is inside of; null outside of kernels; for signal handlers too

  void run_threads(CpuLaunch& launch, uint64_t first_block, uint64_t blocks);
  void run_lanes(CpuLaunch& launch, uint64_t first_block, uint64_t blocks);  // one after the other

  // For the functions of abi.h. Those that wait return when another thread has made this one ready.
  Thread& current() { return *current_; }
  bool has_threads() const { return current_ != nullptr; }  // else lanes
  void wait(Wait reason);
  void wake(Thread& thread);
  void yield();
  void wait_for_block();  // a loop goes round that waits for what another block does
  [[noreturn]] void exit_thread();
  [[noreturn]] void fail(std::string message);  // ends the launch; said of the current thread
  [[noreturn]] void fail_launch(ErrorCode code, std::string message);
  Block& block_of(const Thread& thread) { return *reinterpret_cast<Block*>(thread.state.block); }
  Thread* threads_of(const Block& block) { return threads_.data() + block.first_thread; }
  uint32_t begun_of(const Block& block) const;  // the first so many of its threads have begun
  Warp& warp_of(const Thread& thread) { return warps_[thread.warp]; }
  Thread* lanes_of(const Thread& thread) { return threads_.data() + warps_[thread.warp].first_thread; }
  void wait_for_grid();
  void set_lane(uint32_t linear) { lane_ = linear; }

  std::string who() const;           // "kernel 'f(int*)', block (0,0,0), thread (1,0,0)"
  std::string place() const;         // " at kernel.cu:12", or nothing
  std::string place_before() const;  // "; last at kernel.cu:12", or nothing
  int describe_for_signal(char* text, size_t bytes, int signal) const;  // as snprintf; allocates nothing
  char* report_top() const { return fault_stack_.report_top(); }
  bool stack_holds(const void* address) const { return fibre_ && fibre_->holds(address); }
  bool stack_overflows_at(const void* address) const { return fibre_ && fibre_->overflows_at(address); }
  std::string& output() { return output_; }  // what printf has printed, not yet written
  void write_output();
  int inside_runtime = 0;  // while set, a fault is ours or the heap's, and not survived

 private:
  static void fibre_main() noexcept;
  void set_up(CpuLaunch& launch, uint64_t first_block, uint64_t blocks);
  void run_lanes_of(BlockState& block, uint64_t count);
  void set_up_checks(size_t shared_bytes);
  void begin_thread();  // the next one, on the current fibre
  void finish_thread();
  void leave(Context& from);
  bool release_convergence();
  void arrive_at_grid();
  [[noreturn]] void leave_for_good();  // of this thread; others go on
  [[noreturn]] void abandon();         // all of them
  [[noreturn]] void fail_deadlocked();
  void reserve_arena(size_t bytes);

  FaultStack fault_stack_;
  // The thread that begins next.
  struct Next {
    Block* block;
    uint32_t warp = 0;  // the block's first
    uint32_t linear = 0, x = 0, y = 0, z = 0;
    void advance(const uint32_t (&dim)[3], uint32_t threads);
  };

  CpuLaunch* launch_ = nullptr;
  DebugExecutor debug_;
  Next next_{};
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<BlockChecks>> checks_;  // of blocks, when they are checked
  size_t thread_count_ = 0, begun_ = 0, live_ = 0, at_grid_ = 0, converging_ = 0;
  ThreadQueue ready_, yielded_;
  Thread* current_ = nullptr;
  Fibre* fibre_ = nullptr;
  Context main_;
  FibrePool fibres_;
  char* arena_ = nullptr;  // shared memory of blocks, and frames
  size_t arena_bytes_ = 0;
  std::string output_;
  const BlockState* lanes_block_ = nullptr;
  uint32_t lane_ = 0;
  std::jmp_buf lanes_exit_;
};

}  // namespace trine::simt
