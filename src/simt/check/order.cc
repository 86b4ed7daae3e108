#include "simt/check/order.h"

#include <algorithm>
#include <bit>

namespace trine::simt {
namespace {

std::atomic<uint32_t> clock_of_all{1};

template <class Body>
void for_bits(uint64_t bits, const Body& body) {
  for (; bits; bits &= bits - 1) body(static_cast<uint32_t>(std::countr_zero(bits)));
}

}  // namespace

uint32_t time_now() { return clock_of_all.load(std::memory_order_relaxed); }
uint32_t time_passes() { return clock_of_all.fetch_add(1, std::memory_order_relaxed) + 1; }

void BlockOrder::begin(uint32_t block, uint32_t threads) {
  block_ = block;
  start_ = known_ = time_passes();
  grid_ = fence_block_ = fence_device_ = 0;
  handed_over_ = false;
  threads_.assign(threads, {});
  warps_.resize((threads + 31) / 32);
  for (WarpTimes& warp : warps_) {
    warp.all = 0;
    warp.lanes.reset();
  }
  between_.reset();
  for (auto& arrivals : arrivals_) arrivals.reset();
}

template <class Each>
void BlockOrder::share_acquired(const Each& each) {
  if (!handed_over_) return;
  Acquired most;
  each([&](uint32_t t) {
    most.block = std::max(most.block, threads_[t].block);
    most.device = std::max(most.device, threads_[t].device);
  });
  each([&](uint32_t t) { threads_[t] = most; });
}

void BlockOrder::barrier_of_all() {
  known_ = time_passes();
  share_acquired([&](const auto& body) {
    for (uint32_t t = 0; t < threads_.size(); ++t) body(t);
  });
}

void BlockOrder::grid_sync(uint32_t time) {
  known_ = grid_ = time;
  share_acquired([&](const auto& body) {
    for (uint32_t t = 0; t < threads_.size(); ++t) body(t);
  });
}

void BlockOrder::arrive(int id, uint32_t warp) {
  auto& arrivals = arrivals_[static_cast<size_t>(id)];
  if (!arrivals) arrivals = std::make_unique<Arrivals>();
  arrivals->warps[warp] = time_passes();
}

void BlockOrder::barrier_of_warps(int id, uint64_t waiting) {
  const uint32_t now = time_passes();
  if (!between_) between_ = std::make_unique<Warps>(Warps{});
  auto& arrivals = arrivals_[static_cast<size_t>(id)];
  std::array<uint32_t, 32> together{};
  const auto join = [&](uint32_t warp, uint32_t time) {
    for (uint32_t w = 0; w < 32; ++w) together[w] = std::max(together[w], (*between_)[warp * 32 + w]);
    together[warp] = std::max(together[warp], time);
  };
  for_bits(waiting, [&](uint32_t warp) { join(warp, now); });
  for (uint32_t w = 0; arrivals && w < 32; ++w)
    if (arrivals->warps[w]) join(w, arrivals->warps[w]);
  for_bits(waiting, [&](uint32_t warp) { std::copy(together.begin(), together.end(), &(*between_)[warp * 32]); });
  arrivals.reset();
  share_acquired([&](const auto& body) {
    for_bits(waiting, [&](uint32_t warp) {
      for (uint32_t t = warp * 32; t < std::min<size_t>(warp * 32 + 32, threads_.size()); ++t) body(t);
    });
  });
}

void BlockOrder::collective(uint32_t warp, uint32_t lanes) {
  const uint32_t now = time_passes();
  WarpTimes& times = warps_[warp];
  const size_t have = std::min<size_t>(32, threads_.size() - warp * size_t{32});
  const uint32_t all = have == 32 ? ~0u : (1u << have) - 1;
  if (lanes == all) {
    times.all = now;
  } else {
    if (!times.lanes) times.lanes = std::make_unique<std::array<uint32_t, 32 * 32>>();
    std::array<uint32_t, 32> together{};
    for_bits(lanes, [&](uint32_t lane) {
      for (uint32_t l = 0; l < 32; ++l) together[l] = std::max(together[l], (*times.lanes)[lane * 32 + l]);
    });
    for_bits(lanes, [&](uint32_t lane) { together[lane] = now; });
    for_bits(lanes, [&](uint32_t lane) { std::copy(together.begin(), together.end(), &(*times.lanes)[lane * 32]); });
  }
  share_acquired([&](const auto& body) { for_bits(lanes, [&](uint32_t lane) { body(warp * 32 + lane); }); });
}

void BlockOrder::fence(bool whole_device) {
  fence_block_ = time_passes();
  if (whole_device) fence_device_ = fence_block_;
}

void BlockOrder::acquire(uint32_t thread, uint32_t of_block, uint32_t of_device) {
  Acquired& mine = threads_[thread];
  if (of_block <= mine.block && of_device <= mine.device) return;
  handed_over_ = true;
  mine.block = std::max(mine.block, of_block);
  mine.device = std::max(mine.device, of_device);
}

}  // namespace trine::simt
