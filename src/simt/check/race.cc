// Two accesses of the same byte by different threads, at least one of which writes, and neither known to come before
// the other, are a race; unless both are atomic or volatile.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simt/check/block_checks.h"
#include "trine/base/env.h"

namespace trine::simt {
namespace {

// What is said of a race.
enum class RaceClass : int { value_changing, same_value, involves_atomic };
constexpr const char* kClasses[] = {"value-changing", "same-value", "involves an atomic access"};

bool shows_same_value() {
  static const bool shows = !env_text("TRINE_CHECK_SAME_VALUE").empty();
  return shows;
}

// Of one access, which may be of several words.
class RaceAccess {
 public:
  RaceAccess(BlockChecks& block, Region& region, uint32_t index, uint32_t thread)
      : block_(block),
        region_(region),
        launch_(*block.launch),
        site_(launch_.site(index)),
        index_(index < kMostSites ? index : 0),
        thread_(thread),
        base_(region.kind == RegionKind::shared ? block.order.start() : launch_.start),
        writes_(site_.flags & kSiteWrites) {}

  void run(uint64_t address, uint64_t bytes, uint64_t value) {
    if (writes_) silent_ = keeps_value(address, bytes, value);
    mine_.time = time_now();
    mine_.block = block_.order.block();
    const uint64_t first = address - region_.low, end = first + bytes;
    Cells& cells = region_.cells();
    for (uint64_t word = first / 4; word * 4 < end; ++word) {
      const uint64_t from = std::max(first, word * 4) - word * 4, to = std::min(end, word * 4 + 4) - word * 4;
      touch(cells.of_word(word), static_cast<uint32_t>((1u << to) - (1u << from)), region_.low + word * 4 + from);
    }
  }

 private:
  bool is_atomic() const { return site_.flags & kSiteAtomic; }
  bool is_volatile() const { return site_.flags & kSiteVolatile; }

  bool keeps_value(uint64_t address, uint64_t bytes, uint64_t value) const {
    const bool known = bytes <= 8 && !(site_.flags & kSiteAtomic) && (site_.flags & kSiteConstantSize);
    return known && std::memcmp(reinterpret_cast<const void*>(address), &value, bytes) == 0;
  }

  uint32_t packed(uint32_t bytes) const {
    return index_ << 17 | thread_ << 7 | bytes << 3 | uint32_t{is_atomic()} << 2 | uint32_t{is_volatile()} << 1 |
           uint32_t{silent_};
  }

  void touch(Cell& cell, uint32_t bytes, uint64_t address) {
    mine_.packed = packed(bytes);
    if (writes_ ? is_mine(cell.write) : is_mine(cell.reads[0]) || is_mine(cell.reads[1])) return;
    const bool shared_by_workers = launch_.parallel && region_.kind != RegionKind::shared;
    if (!shared_by_workers) return touch_alone(cell, address);
    while (cell.lock.exchange(1, std::memory_order_acquire))
      while (cell.lock.load(std::memory_order_relaxed)) continue;
    touch_alone(cell, address);
    cell.lock.store(0, std::memory_order_release);
  }

  // The same access again, with nothing in between. A race on the words themselves shows as something else.
  bool is_mine(const Entry& entry) const {
    return entry.time == mine_.time && entry.packed == mine_.packed && entry.block == mine_.block;
  }

  void touch_alone(Cell& cell, uint64_t address) {
    compare(cell.write, address, true);
    if (!writes_) return keep_read(cell);
    compare(cell.reads[0], address, false);
    compare(cell.reads[1], address, false);
    cell.write = mine_;
  }

  bool meets(const Entry& other) const {
    if (other.time < base_ || !(other.bytes() & mine_.packed >> 3 & 15)) return false;
    if (other.block == mine_.block && other.thread() == thread_) return false;
    if (!both_synchronise(other)) return !block_.order.is_before(other, thread_, base_);
    return false;
  }

  bool both_synchronise(const Entry& other) const {
    if (!(is_atomic() || is_volatile()) || !(other.is_atomic() || other.is_volatile())) return false;
    // Volatile alone does not order the lanes of a warp in shared memory, as it did before Volta.
    const bool same_warp = other.block == mine_.block && other.thread() / 32 == thread_ / 32;
    return !(region_.kind == RegionKind::shared && same_warp && !is_atomic() && !other.is_atomic());
  }

  void compare(const Entry& other, uint64_t address, bool other_writes) {
    if (!meets(other)) return;
    const bool same = (writes_ && silent_) || (!writes_ && other_writes && other.is_silent());
    const RaceClass kind = is_atomic() || other.is_atomic() ? RaceClass::involves_atomic
                           : same                           ? RaceClass::same_value
                                                            : RaceClass::value_changing;
    if (kind == RaceClass::same_value && !shows_same_value()) return;
    const LaunchChecks::Key key{std::min(other.site(), index_), std::max(other.site(), index_), static_cast<int>(kind)};
    if (launch_.is_known(key)) return;
    launch_.add(key, finding(other, address, kind));
  }

  Finding finding(const Entry& other, uint64_t address, RaceClass kind) const {
    const CheckSite& earlier = launch_.site(other.site());
    const auto text = [](const CheckSite& site) {
      return site.flags & kSiteConstantSize ? access_text(site, site.bytes) : access_text(site, 4);
    };
    Finding f;
    f.check = "race";
    f.kernel = launch_.kernel;
    f.about = kClasses[static_cast<int>(kind)];
    f.owner = owner_text(launch_, region_, address);
    f.address = address;
    f.accesses = {{earlier.place, text(earlier), launch_.thread_text(other.block, other.thread())},
                  {site_.place, text(site_), launch_.thread_text(mine_.block, thread_)}};
    return f;
  }

  bool is_dead(const Entry& entry) const {
    return entry.time < base_ || (entry.block == mine_.block && entry.thread() == thread_) ||
           block_.order.is_before(entry, thread_, base_);
  }
  static bool same_warp(const Entry& a, const Entry& b) {
    return a.block == b.block && a.thread() / 32 == b.thread() / 32;
  }

  // Two threads of different warps, better of different blocks, where there are such.
  void keep_read(Cell& cell) const {
    for (Entry& read : cell.reads)
      if (is_dead(read)) {
        read = mine_;
        return;
      }
    const bool alike = same_warp(cell.reads[0], cell.reads[1]);
    const bool of_one_block = cell.reads[0].block == cell.reads[1].block;
    if ((alike && !same_warp(cell.reads[0], mine_)) || (of_one_block && cell.reads[0].block != mine_.block))
      cell.reads[1] = mine_;
  }

  BlockChecks& block_;
  Region& region_;
  LaunchChecks& launch_;
  const CheckSite& site_;
  const uint32_t index_, thread_, base_;
  const bool writes_;
  bool silent_ = false;
  Entry mine_;
};

}  // namespace

void check_race(BlockChecks& block, Region& region, uint64_t address, uint64_t bytes, uint64_t value, uint32_t site,
                uint32_t thread) {
  RaceAccess(block, region, site, thread).run(address, bytes, value);
}

}  // namespace trine::simt
