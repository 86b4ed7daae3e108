#include "simt/run/deadlock.h"

#include <fmt/format.h>

#include "simt/run/warp.h"

namespace trine::simt {
namespace {

constexpr int kMostLines = 16;

std::string triple(const uint32_t (&v)[3]) { return fmt::format("({},{},{})", v[0], v[1], v[2]); }

std::string what_for(const Thread& thread) {
  const auto& block = *reinterpret_cast<const Block*>(thread.state.block);
  std::string text;
  if (thread.wait == Wait::barrier) {
    const Barrier& b = block.barriers[static_cast<size_t>(thread.barrier)];
    text = fmt::format("barrier {}, where {} of {} threads are", thread.barrier, b.arrived + b.waiting,
                       b.expected ? b.expected : block.live);
  } else if (thread.wait == Wait::grid) {
    text = "grid sync";
  } else {
    text = text_of(thread.request);
  }
  return thread.state.where ? fmt::format("{} at {}", text, thread.state.where) : text;
}

}  // namespace

std::string deadlock_text(const char* kernel, std::span<const Thread> threads) {
  std::string text = fmt::format(
      "kernel '{}': threads wait for what never comes; all threads of a barrier or a mask must reach it", kernel);
  int lines = 0;
  for (size_t i = 0; i < threads.size();) {
    const Thread& first = threads[i];
    if (first.exited) {
      ++i;
      continue;
    }
    const std::string waits = what_for(first);
    size_t end = i + 1;
    while (end < threads.size() && threads[end].state.block == first.state.block && !threads[end].exited &&
           what_for(threads[end]) == waits)
      ++end;
    if (++lines > kMostLines) return text + "\n  ...";
    text += fmt::format("\n  block {}: thread {}", triple(first.state.block->block_index),
                        triple(first.state.thread_index));
    if (end > i + 1) text += fmt::format(" to {}", triple(threads[end - 1].state.thread_index));
    text += ": " + waits;
    i = end;
  }
  return text;
}

}  // namespace trine::simt
