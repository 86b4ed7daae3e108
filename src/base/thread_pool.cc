// A slot's word is  epoch << 32 | begin << 16 | end : the parts of this job that nobody has claimed yet. Claims are
// compare-and-swaps on the whole word, so a late worker can never take a part of a job it has not read: while a part is
// claimed and not finished, run() has not returned and the job's fields stand.
#include "trine/base/thread_pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "trine/base/cpu.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr int kMaxParts = 0xffff;
constexpr int kMaxThreads = 1024;
constexpr int kPartsPerThread = 4;
constexpr double kPartSeconds = 40e-6;
constexpr int64_t kMaxSpinUs = 1'000'000;
constexpr int kPausesBeforeYield = 4000;  // of about 40 ns: who is awaited longer than that may lack a core

thread_local bool inside_body = false;

void pause_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

uint64_t pack(uint32_t epoch, int begin, int end) {
  return uint64_t{epoch} << 32 | static_cast<uint32_t>(begin) << 16 | static_cast<uint32_t>(end);
}
uint32_t epoch_of(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
int begin_of(uint64_t word) { return static_cast<int>(word >> 16 & 0xffff); }
int end_of(uint64_t word) { return static_cast<int>(word & 0xffff); }

void futex_wait(std::atomic<uint32_t>& word, uint32_t while_it_is) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, while_it_is, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

struct alignas(128) ThreadPool::Slot {
  std::atomic<uint64_t> word{0};
  std::atomic<uint32_t> asleep{0};

  // Takes the first part left for `epoch`, if any; the slot's owner goes through them in order.
  std::optional<int> claim(uint32_t epoch) {
    uint64_t now = word.load(std::memory_order_acquire);
    while (epoch_of(now) == epoch && begin_of(now) < end_of(now)) {
      uint64_t next = pack(epoch, begin_of(now) + 1, end_of(now));
      if (word.compare_exchange_weak(now, next, std::memory_order_acq_rel)) return begin_of(now);
    }
    return std::nullopt;
  }
};

struct ThreadPool::State {
  explicit State(int threads)
      : slots(static_cast<size_t>(threads)),
        spin_time(std::clamp<int64_t>(env_integer("TRINE_SPIN_US"), 0, kMaxSpinUs)) {}

  std::vector<Slot> slots;  // slot 0 is the caller's
  std::vector<std::thread> workers;
  // A network's serial steps are shorter than this: waking a sleeping worker costs as much as a small layer.
  std::chrono::microseconds spin_time;
  alignas(128) std::atomic<int> left{0};  // parts not finished
  alignas(128) std::atomic_flag busy;
  std::atomic<bool> quit{false};
  uint32_t epoch = 0;
  const FunctionRef<void(int, int)>* body = nullptr;

  void wake(Slot& slot) {
    if (slot.asleep.load(std::memory_order_seq_cst) && slot.asleep.exchange(0)) futex_wake(slot.asleep);
  }
  // Runs the parts of `index`'s own slot, then those left in the others'.
  void take_part(int index, uint32_t job) {
    int done = 0;
    int n = static_cast<int>(slots.size());
    for (int i = 0; i < n; ++i) {
      Slot& slot = slots[static_cast<size_t>((index + i) % n)];
      while (auto part = slot.claim(job)) {
        (*body)(*part, index);
        ++done;
      }
    }
    if (done) left.fetch_sub(done, std::memory_order_acq_rel);
  }
  // Waits until the slot's epoch differs from `seen`: spinning first, then asleep.
  uint32_t wait_for_job(Slot& slot, uint32_t seen) {
    auto deadline = std::chrono::steady_clock::now() + spin_time;
    for (;;) {
      for (int i = 0; i < 64; ++i) {
        if (uint32_t e = epoch_of(slot.word.load(std::memory_order_acquire)); e != seen) return e;
        pause_cpu();
      }
      if (std::chrono::steady_clock::now() < deadline) continue;
      slot.asleep.store(1, std::memory_order_seq_cst);
      while (epoch_of(slot.word.load(std::memory_order_seq_cst)) == seen && slot.asleep.load()) {
        futex_wait(slot.asleep, 1);
      }
      slot.asleep.store(0);
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::clamp(threads > 0 ? threads : default_thread_count(), 1, kMaxThreads)) {
  if (threads_ == 1) return;
  state_ = std::make_unique<State>(threads_);
  for (int i = 1; i < threads_; ++i) state_->workers.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  if (!state_) return;
  state_->quit = true;
  uint32_t epoch = ++state_->epoch;
  for (Slot& slot : state_->slots) {
    slot.word.store(pack(epoch, 0, 0), std::memory_order_seq_cst);
    state_->wake(slot);
  }
  for (std::thread& worker : state_->workers) worker.join();
}

void ThreadPool::work(int index) {
  inside_body = true;
  Slot& slot = state_->slots[static_cast<size_t>(index)];
  uint32_t seen = 0;
  for (;;) {
    seen = state_->wait_for_job(slot, seen);
    if (state_->quit.load(std::memory_order_relaxed)) return;
    state_->take_part(index, seen);
  }
}

void ThreadPool::run(int parts, FunctionRef<void(int part, int thread)> body) {
  bool alone = !state_ || parts <= 1 || parts > kMaxParts || inside_body;
  if (alone || state_->busy.test_and_set(std::memory_order_acquire)) {
    for (int part = 0; part < parts; ++part) body(part, 0);
    return;
  }
  inside_body = true;
  run_shares(parts, body);
  inside_body = false;
  state_->busy.clear(std::memory_order_release);
}

void ThreadPool::run_shares(int parts, FunctionRef<void(int part, int thread)> body) {
  State& state = *state_;
  uint32_t epoch = ++state.epoch;
  state.body = &body;
  state.left.store(parts, std::memory_order_relaxed);
  int used = std::min(parts, threads_);  // the other workers sleep on
  auto share = [&](int i) { return static_cast<int>(int64_t{parts} * i / used); };
  for (int i = used - 1; i >= 0; --i) {
    // seq_cst: the word must be seen before `asleep` is looked at, or a worker that dozes off now would miss it.
    state.slots[static_cast<size_t>(i)].word.store(pack(epoch, share(i), share(i + 1)), std::memory_order_seq_cst);
  }
  for (int i = 1; i < used; ++i) state.wake(state.slots[static_cast<size_t>(i)]);
  state.take_part(0, epoch);
  for (int i = 0; state.left.load(std::memory_order_acquire) > 0; ++i) {
    if (i < kPausesBeforeYield) pause_cpu();
    else std::this_thread::yield();
  }
}

void ThreadPool::parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body) {
  if (n <= 0) return;
  int64_t parts =
      std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1, threads_ == 1 ? 1 : threads_ * kPartsPerThread);
  if (parts > threads_) parts = parts / threads_ * threads_;
  run(static_cast<int>(parts), [&](int part, int) { body(n * part / parts, n * (part + 1) / parts); });
}

int ThreadPool::parts_for(double seconds) const {
  if (threads_ == 1) return 1;
  double each = seconds / threads_ / kPartSeconds;
  return threads_ * static_cast<int>(std::clamp<double>(each, 1, kPartsPerThread));
}

ThreadPool& ThreadPool::serial() {
  static ThreadPool pool(1);
  return pool;
}

}  // namespace trine
