// Its longjmp takes a jump between stacks for a mistake.
#undef _FORTIFY_SOURCE

#include "simt/run/executor.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "simt/check/block_checks.h"
#include "simt/run/barrier.h"
#include "simt/run/deadlock.h"
#include "simt/run/warp.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// Read by signal handlers: there must be no lazy allocation behind it.
__attribute__((tls_model("initial-exec"))) thread_local Executor* running_here = nullptr;

constexpr size_t kArenaAlign = 128;
constexpr uint32_t kWarp = 32;
constexpr size_t kKeptStacks = 1024;  // what a block may need; cooperative launches need more, and mappings are few

size_t rounded(size_t bytes) { return (bytes + kArenaAlign - 1) / kArenaAlign * kArenaAlign; }

void set_dims(uint32_t (&to)[3], const compute::Dim3& from) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

void place_block(BlockState& state, const compute::LaunchShape& shape, uint64_t index) {
  set_dims(state.grid_dim, shape.grid);
  set_dims(state.block_dim, shape.block);
  state.block_index[0] = static_cast<uint32_t>(index % shape.grid.x);
  state.block_index[1] = static_cast<uint32_t>(index / shape.grid.x % shape.grid.y);
  state.block_index[2] = static_cast<uint32_t>(index / shape.grid.x / shape.grid.y);
  state.dynamic_shared_bytes = shape.shared_bytes;
}

std::string triple(const uint32_t (&v)[3]) { return fmt::format("({},{},{})", v[0], v[1], v[2]); }

}  // namespace

Executor::Executor() : fibres_(fibre_main, main_) {
  debug_.begun = &begun_;
  debug_.current = &current_;
  show_debugger(debug_);
}
Executor::~Executor() {
  hide_from_debugger(debug_);
  std::free(arena_);
}

Executor& Executor::of_this_thread() {
  static thread_local Executor executor;
  return executor;
}
Executor* Executor::running() { return running_here; }

void Executor::reserve_arena(size_t bytes) {
  if (bytes <= arena_bytes_) return;
  std::free(arena_);
  arena_bytes_ = 0;
  arena_ = static_cast<char*>(std::aligned_alloc(kArenaAlign, rounded(bytes)));
  if (!arena_)
    throw Error(ErrorCode::out_of_memory, fmt::format("launch: no {} bytes for the shared memory of blocks", bytes));
  arena_bytes_ = rounded(bytes);
}

void Executor::set_up(CpuLaunch& launch, uint64_t first_block, uint64_t blocks) {
  launch_ = &launch;
  const size_t threads = launch.shape.block.volume();
  const size_t warps = (threads + kWarp - 1) / kWarp;
  const size_t shared = rounded(launch.code.shared_bytes + launch.shape.shared_bytes);
  reserve_arena(std::max<size_t>(shared * blocks, kArenaAlign));
  thread_count_ = live_ = threads * blocks;
  begun_ = at_grid_ = converging_ = 0;
  if (threads_.size() < thread_count_) threads_.resize(thread_count_);
  warps_.assign(warps * blocks, Warp{});
  blocks_.assign(blocks, Block{});
  for (uint64_t b = 0; b < blocks; ++b) {
    Block& block = blocks_[b];
    block.first_thread = b * threads;
    block.threads = block.live = static_cast<uint32_t>(threads);
    block.state.shared = arena_ + b * shared;
    block.state.frame = nullptr;
    block.state.check_caches = nullptr;
    place_block(block.state, launch.shape, first_block + b);
    for (size_t w = 0; w < warps; ++w) {
      Warp& warp = warps_[b * warps + w];
      warp.first_thread = block.first_thread + w * kWarp;
      const size_t lanes = std::min<size_t>(kWarp, threads - w * kWarp);
      warp.present = lanes == kWarp ? ~0u : (1u << lanes) - 1;
    }
  }
  debug_.threads = threads_.data();
  debug_.thread_count = thread_count_;
  debug_.block_threads = threads;
  debug_.first_block = first_block;
  debug_.kernel = launch.name;
  if (launch.checks) set_up_checks(launch.code.shared_bytes + launch.shape.shared_bytes);
  next_ = {.block = blocks_.data()};
  ready_.clear();
  yielded_.clear();
}

void Executor::set_up_checks(size_t shared_bytes) {
  while (checks_.size() < blocks_.size()) checks_.push_back(std::make_unique<BlockChecks>());
  for (size_t b = 0; b < blocks_.size(); ++b) {
    BlockState& state = blocks_[b].state;
    const uint64_t index =
        state.block_index[0] +
        state.grid_dim[0] * (state.block_index[1] + uint64_t{state.grid_dim[1]} * state.block_index[2]);
    blocks_[b].checks = checks_[b].get();
    checks_[b]->begin(*launch_->checks, static_cast<uint32_t>(index), state.shared, shared_bytes);
    state.check_caches = checks_[b]->caches.data();
  }
}

void Executor::Next::advance(const uint32_t (&dim)[3], uint32_t threads) {
  if (++linear == threads) {
    *this = {.block = block + 1, .warp = warp + (threads + kWarp - 1) / kWarp};
    return;
  }
  if (++x < dim[0]) return;
  x = 0;
  if (++y < dim[1]) return;
  y = 0;
  ++z;
}

void Executor::run_threads(CpuLaunch& launch, uint64_t first_block, uint64_t blocks) {
  set_up(launch, first_block, blocks);
  current_ = nullptr;
  struct Inside {
    explicit Inside(Executor* executor) { running_here = executor; }
    ~Inside() { running_here = nullptr; }
  };
  {
    const Inside inside(this);
    leave(main_);  // may throw: no memory for a first stack
  }
  debug_.kernel = nullptr;
  current_ = nullptr;
  fibre_ = nullptr;
  if (live_ != 0) fibres_.restart_all();  // it failed: they are stuck in the middle
  fibres_.keep(kKeptStacks);
  write_output();
}

void Executor::run_lanes(CpuLaunch& launch, uint64_t first, uint64_t count) {
  const size_t shared = rounded(launch.code.shared_bytes + launch.shape.shared_bytes);
  reserve_arena(std::max<size_t>(shared + launch.code.frame_bytes, kArenaAlign));
  BlockState block;
  place_block(block, launch.shape, first);
  block.shared = arena_;
  block.frame = arena_ + shared;
  launch_ = &launch;
  lanes_block_ = &block;
  lane_ = 0;
  running_here = this;
  if (_setjmp(lanes_exit_) == 0) run_lanes_of(block, count);
  running_here = nullptr;
  write_output();  // of a block that failed
}

void Executor::run_lanes_of(BlockState& block, uint64_t count) {
  for (;;) {
    launch_->code.run_block(&block, launch_->parameters);
    if (!output_.empty()) write_output();
    if (--count == 0) return;
    lane_ = 0;
    if (++block.block_index[0] < block.grid_dim[0]) continue;
    block.block_index[0] = 0;
    if (++block.block_index[1] < block.grid_dim[1]) continue;
    block.block_index[1] = 0;
    ++block.block_index[2];
  }
}

void Executor::begin_thread() {
  Thread& thread = threads_[begun_++];
  Block& block = *next_.block;
  thread.state = {&block.state, {next_.x, next_.y, next_.z}, next_.linear, nullptr};
  thread.wait = Wait::nothing;
  thread.exited = false;
  thread.warp = next_.warp + next_.linear / kWarp;
  next_.advance(block.state.block_dim, block.threads);
  thread.fibre = fibre_;
  current_ = &thread;
  launch_->code.run_thread(launch_->parameters);
  finish_thread();
}

void Executor::finish_thread() {
  Thread& thread = *current_;
  thread.exited = true;
  --live_;
  Block& block = block_of(thread);
  --block.live;
  warp_after_exit(*this, thread);
  barriers_after_exit(*this, block);
  if (at_grid_ && at_grid_ == live_) arrive_at_grid();
}

void Executor::fibre_main() noexcept {
  Executor& self = *running_here;  // fibres stay on the thread that made them
  for (;;) {
    while (self.begun_ < self.thread_count_) self.begin_thread();
    Fibre& own = *self.fibre_;
    self.fibres_.give(own);
    self.leave(own.context);
  }
}

void Executor::exit_thread() {
  finish_thread();
  Fibre& own = *fibre_;
  fibres_.restart(own);
  fibres_.give(own);
  leave_for_good();
}

uint32_t Executor::begun_of(const Block& block) const {
  return static_cast<uint32_t>(std::min<size_t>(begun_ - std::min(begun_, block.first_thread), block.threads));
}

void Executor::wait(Wait reason) {
  current_->wait = reason;
  if (reason == Wait::convergence) ++converging_;
  leave(current_->fibre->context);
}

void Executor::wake(Thread& thread) {
  thread.wait = Wait::nothing;
  ready_.push(thread);
}

void Executor::yield() {
  if (begun_ == thread_count_ && ready_.empty() && yielded_.empty() && converging_ == 0) {
    wait_for_block();
    return;
  }
  yielded_.push(*current_);
  leave(current_->fibre->context);
}

// What is waited for is in another block, which runs elsewhere; or has failed, and never does it.
void Executor::wait_for_block() {
  if (launch_->failed.load(std::memory_order_relaxed)) abandon();
  sched_yield();
}

void Executor::arrive_at_grid() {
  for (size_t i = 0; i < thread_count_; ++i)
    if (threads_[i].wait == Wait::grid) wake(threads_[i]);
  if (launch_->checks) {
    const uint32_t now = time_passes();
    for (Block& block : blocks_) block.checks->order.grid_sync(now);
  }
  at_grid_ = 0;
}

void Executor::wait_for_grid() {
  if (!launch_->shape.cooperative) fail("grid sync in a launch that is not cooperative; see LaunchShape::cooperative");
  ++at_grid_;
  if (at_grid_ < live_) return wait(Wait::grid);
  arrive_at_grid();
}

bool Executor::release_convergence() {
  if (converging_ == 0) return false;
  for (Warp& warp : warps_) converging_ -= converge(*this, threads_.data() + warp.first_thread, warp);
  return true;
}

void Executor::leave(Context& from) {
  Fibre* next = nullptr;
  if (begun_ < thread_count_) {
    try {
      next = &fibres_.take();
    } catch (const Error& error) {
      // Neither through compiled code nor, when this is the first fibre, to a context that nobody has saved.
      if (&from == &main_) throw;
      fail_launch(error.code(), error.what());
    }
  } else {
    Thread* thread = ready_.pop();
    if (!thread && release_convergence()) thread = ready_.pop();
    if (!thread) thread = yielded_.pop();
    if (!thread && live_ != 0) fail_deadlocked();
    if (!thread) return Context::swap(from, main_);
    current_ = thread;
    next = thread->fibre;
  }
  fibre_ = next;
  if (&next->context != &from) Context::swap(from, next->context);
}

void Executor::leave_for_good() {
  if (!fibre_) _longjmp(lanes_exit_, 1);
  Context dropped;
  leave(dropped);
  std::abort();  // not reached
}

void Executor::abandon() {
  if (!fibre_) _longjmp(lanes_exit_, 1);
  Context dropped;
  Context::swap(dropped, main_);
  std::abort();  // not reached
}

std::string Executor::who() const {
  if (!fibre_) {
    const uint32_t x = lanes_block_->block_dim[0], y = lanes_block_->block_dim[1];
    return fmt::format("kernel '{}', block {}, thread ({},{},{})", launch_->name, triple(lanes_block_->block_index),
                       lane_ % x, lane_ / x % y, lane_ / x / y);
  }
  return fmt::format("kernel '{}', block {}, thread {}", launch_->name, triple(current_->state.block->block_index),
                     triple(current_->state.thread_index));
}

std::string Executor::place() const {
  return fibre_ && current_->state.where ? fmt::format(" at {}", current_->state.where) : std::string();
}

std::string Executor::place_before() const {
  return fibre_ && current_->state.where ? fmt::format("; last seen at {}", current_->state.where) : std::string();
}

int Executor::describe_for_signal(char* text, size_t bytes, int signal) const {
  const uint32_t* block = fibre_ ? current_->state.block->block_index : lanes_block_->block_index;
  return std::snprintf(text, bytes, "kernel '%s', block (%u,%u,%u), thread %u of the block: signal %d\n", launch_->name,
                       block[0], block[1], block[2], fibre_ ? current_->state.linear : lane_, signal);
}

// Nobody comes back to the stack of a thread that is abandoned: what it owns is given up before.
void Executor::fail(std::string message) {
  std::string whole = who() + ": ";
  whole += std::exchange(message, {});
  fail_launch(ErrorCode::device, std::move(whole));
}

void Executor::fail_launch(ErrorCode code, std::string message) {
  launch_->fail(code, std::exchange(message, {}));
  abandon();
}

void Executor::fail_deadlocked() {
  fail_launch(ErrorCode::device, deadlock_text(launch_->name, {threads_.data(), thread_count_}));
}

void Executor::write_output() {
  if (output_.empty()) return;
  std::fwrite(output_.data(), 1, output_.size(), stdout);
  std::fflush(stdout);
  output_.clear();
}

}  // namespace trine::simt
