// ThreadPool: fork-join over a fixed set of threads, made for jobs of a few microseconds.
//
// The caller works too: a pool of n threads has n-1 workers. Every thread owns a slot on its own cache line and is
// dealt an equal, contiguous share of the parts (the same share each time: its caches still hold what it touched
// before); who is done early takes parts from the others, so a worker that sleeps or was preempted never makes a job
// slower than running it alone, given more parts than threads. A worker spins TRINE_SPIN_US for the next job, then
// sleeps on a futex.
//
// Bodies must not throw. A call from inside a body, or while another thread uses the pool, runs inline. Floating-point
// modes are left alone: denormals keep their value.
#pragma once

#include <cstdint>
#include <memory>

#include "trine/base/function_ref.h"

namespace trine {

class ThreadPool {
 public:
  // 0: default_thread_count(). The calling threads are not counted in advance: any thread may call run.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(part, thread) once for each part in [0, parts) and returns when all are done. `thread` is in [0,
  // threads()); parts that run at the same time have different ones, so that it may index scratch memory.
  void run(int parts, FunctionRef<void(int part, int thread)> body);

  // Splits [0, n) into contiguous ranges of at least `grain`, a few for each thread, and runs body(begin, end) on each.
  void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body);

  // Parts for work that takes `seconds` on one thread: a few for each thread, so that one which is held up is helped,
  // but none too short to be worth its dealing.
  int parts_for(double seconds) const;

  // A pool of one thread: everything runs inline.
  static ThreadPool& serial();

 private:
  struct Slot;
  struct State;
  void work(int index);
  void run_shares(int parts, FunctionRef<void(int part, int thread)> body);

  int threads_;
  std::unique_ptr<State> state_;
};

}  // namespace trine
