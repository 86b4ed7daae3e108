// Four ways to lay iterations out over threads:
//
//   points    a thread computes points, each with its folds: elementwise groups (90 % of bandwidth), short folds
//   rows      2 to 512 neighbouring threads share a point and walk along its row: softmax, norms, folds over contiguous
//             axes (85 % where rows stay in registers, less where they are read again)
//   squares   a block reads 32 or 64 contiguous elements of as many rows into shared memory and writes them across:
//             transposes, with what is fused to them (80 %)
//   columns   neighbours are points that lie side by side, threads above one another share a point: folds over strided
//             axes (85 %)
//
// In each a thread takes up to 16 bytes of every operand at once where memory allows.
#include "codegen/cuda/schedule.h"

#include <algorithm>
#include <bit>

#include "codegen/cuda/packs.h"

namespace trine::codegen {
namespace {

constexpr int64_t kFewThreads = 256, kManyThreads = 1024;  // of a multiprocessor
constexpr int kMostTeam = 512;                             // of a row
constexpr int kMostKept = 64, kComfortable = 32;           // 4-byte registers for values of a row
constexpr int kMostUnrolled = 16;                          // packs of a row
constexpr int kColumns = 32;
constexpr int64_t kShortEdge = 16;  // below it what lies beside is in the cache anyway

int64_t up_to_power(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}
int64_t divided_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

class Scheduler {
 public:
  Scheduler(const BoundLoops& loops, const RenderTarget& target)
      : loops_(loops),
        target_(target),
        multiprocessors_(std::max(target.multiprocessors, 1)),
        chains_(row_chains(loops)) {}

  ThreadSchedule run() {
    s_.wide_index = target_.wide_index || !loops_.fits_32_bits();
    s_.overlap = target_.overlap;
    order_points();
    longest_ = 0;
    for (const Chain& c : chains_) longest_ = std::max(longest_, count_of(c));
    if (longest_ <= 1 && squares()) return s_;
    if (longest_ <= 1) points();
    else if (rows_lie_side_by_side()) rows();
    else columns();
    return s_;
  }

 private:
  // Neighbouring threads take neighbours of the loop along which most accesses are contiguous, stores above all.
  void order_points() {
    s_.order.assign(loops_.parallel().rbegin(), loops_.parallel().rend());
    const auto accesses = memory_accesses(loops_, *loops_.path().front());
    const auto worth = [&](int loop) {
      int sum = 0;
      for (const MemoryAccess& a : accesses)
        if (loops_.stride(a.access, loop) == 1)
          sum += loops_.operand_of(a.access).kind == Operand::Kind::output ? 4 : 1;
      return sum;
    };
    const auto fastest =
        std::max_element(s_.order.begin(), s_.order.end(), [&](int a, int b) { return worth(a) < worth(b); });
    if (fastest != s_.order.end()) std::rotate(s_.order.begin(), fastest, fastest + 1);
  }
  int fastest() const { return s_.order.empty() ? -1 : s_.order.front(); }

  int64_t count_of(const Chain& chain) const {
    int64_t count = 1;
    for (int l : chain.loops) count *= loops_.extent(l);
    return count;
  }

  bool rows_lie_side_by_side() const {
    int along = 0, across = 0;
    for (const Chain& c : chains_) {
      const auto accesses = memory_accesses(loops_, *c.blocks.front());
      along += unit_strides(loops_, accesses, c.fastest());
      across += unit_strides(loops_, accesses, fastest());
    }
    return along >= across;
  }

  void pack(int loop, int width) {
    if (width <= 1) return;
    s_.width = width;
    s_.packed |= loop_bit(loop);
    s_.whole &= loops_.extent(loop) % width == 0;
  }

  // Packs of points, fewer elements each when there would be few threads.
  int point_width(int64_t threads_of_a_point, int64_t enough) const {
    const int loop = fastest();
    if (loop < 0 || occurrences(loops_.kernel().body, loop) != 1) return 1;
    int width = pack_width(loops_, memory_accesses(loops_, *loops_.path().front()), loop, target_.pack_bytes);
    while (width > 1 && loops_.points() / width * threads_of_a_point < multiprocessors_ * enough) width /= 2;
    return width;
  }

  void points() {
    pack(fastest(), point_width(1, kFewThreads));
    s_.block_x = loops_.points() / s_.width < multiprocessors_ * kManyThreads ? 128 : 256;
  }

  // Where stores are contiguous along one loop and loads along another.
  bool squares() {
    if (fastest() < 0 || loops_.extent(fastest()) < kShortEdge) return false;
    const auto accesses = memory_accesses(loops_, *loops_.path().front());
    for (const MemoryAccess& a : accesses)
      if (loops_.operand_of(a.access).kind == Operand::Kind::output && loops_.stride(a.access, fastest()) > 1)
        return false;
    s_.write_along = fastest();
    int bytes = 0;
    for (const Inst& i : loops_.kernel().insts) {
      for (size_t n = 1; n < s_.order.size() && s_.read_along < 0; ++n) {
        s_.read_along = s_.order[n];
        if (loops_.extent(s_.read_along) < kShortEdge || !crosses(loops_, s_, i)) s_.read_along = -1;
      }
      if (s_.read_along < 0 || !crosses(loops_, s_, i)) continue;
      bytes = std::max(bytes, static_cast<int>(byte_size(loops_.operand_of(i.access).dtype)));
    }
    if (s_.read_along < 0) return false;
    s_.edge = bytes < 4 ? 64 : 32;
    s_.block_x = 256;
    const auto second = std::find(s_.order.begin(), s_.order.end(), s_.read_along);
    std::rotate(s_.order.begin() + 1, second, second + 1);
    return true;
  }

  void columns() {
    // Several blocks of columns for every multiprocessor come before wide packs, and those before tall teams.
    const int width = point_width(1, 2 * kColumns);
    const int64_t threads = std::max<int64_t>(loops_.points() / width, 1);
    int64_t team = up_to_power(multiprocessors_ * kManyThreads * 2 / 3 / threads);
    team = std::min({team, up_to_power(longest_) / 2, int64_t{16}});
    pack(fastest(), width);
    if (team <= 1) {
      s_.block_x = 128;
      return;
    }
    s_.columns = true;
    s_.team = static_cast<int>(team);
    const int64_t each = divided_up(longest_, team);
    if (chains_.size() > 1 && each <= kMostUnrolled && each * width * kept_words() <= kMostKept)
      s_.keep = static_cast<int>(each);
    s_.block_x = loops_.points() / width / kColumns < multiprocessors_ ? kColumns / 2 : kColumns;
    s_.block_y = s_.team;
  }

  void rows() {
    const int width = row_width();
    for (const Chain& c : chains_)
      if (c.fastest() >= 0 && !s_.is_packed(c.fastest())) pack(c.fastest(), width);
    const int64_t packs = divided_up(longest_, width), each_kept = std::max(width * kept_words(), 1);
    int64_t team = std::min<int64_t>(up_to_power(packs), 32);
    // A warp holds a row where there are rows enough; more warps are put to one where rows are few or long.
    const bool few = loops_.points() * 32 < multiprocessors_ * kManyThreads;
    if (packs > 32 && few) team = std::min<int64_t>(up_to_power(packs), kMostTeam);
    while (team >= 32 && team < kMostTeam && divided_up(packs, team) * each_kept > kComfortable) team *= 2;
    s_.team = static_cast<int>(team);
    s_.block_x = s_.team;
    const int64_t spread = loops_.points() * team / multiprocessors_;  // threads for each multiprocessor
    while (team <= 32 && s_.block_x < 128 && (s_.block_x < 32 || s_.block_x < spread)) s_.block_x *= 2;
    const int64_t each = divided_up(packs, team);
    if (each * each_kept <= kMostKept && each <= kMostUnrolled) s_.keep = static_cast<int>(each);
  }

  // One width for all chains; each packed loop must stand only where a team walks it fastest.
  int row_width() const {
    int width = 16;
    for (const Chain& c : chains_) {
      if (c.fastest() < 0) continue;
      const auto fastest_of =
          std::count_if(chains_.begin(), chains_.end(), [&](const Chain& o) { return o.fastest() == c.fastest(); });
      if (occurrences(loops_.kernel().body, c.fastest()) != fastest_of) return 1;
      width = std::min(width,
                       pack_width(loops_, memory_accesses(loops_, *c.blocks.front()), c.fastest(), target_.pack_bytes));
    }
    // A team of fewer than 8 threads would read short pieces.
    while (width > 1 && longest_ / width < 8) width /= 2;
    return width;
  }

  // Registers for one element of a row: the most values that wait between one pass and a later one.
  int kept_words() const {
    const std::vector<SharedValue> shared = shared_values(loops_, chains_);
    int most = 1;
    for (size_t n = 1; n < chains_.size(); ++n) {
      int words = 0;
      for (const SharedValue& v : shared)
        if (v.first < n && v.last >= n) words += byte_size(loops_.inst(v.inst).type) == 8 ? 2 : 1;
      most = std::max(most, words);
    }
    return most;
  }

  const BoundLoops& loops_;
  const RenderTarget& target_;
  const int64_t multiprocessors_;
  const std::vector<Chain> chains_;
  int64_t longest_ = 0;
  ThreadSchedule s_;
};

}  // namespace

bool crosses(const BoundLoops& loops, const ThreadSchedule& s, const Inst& inst) {
  if (inst.kind != InstKind::load || inst.a >= 0 || inst.b >= 0) return false;
  return loops.stride(inst.access, s.read_along) == 1 && loops.stride(inst.access, s.write_along) >= kShortEdge;
}

ThreadSchedule schedule_threads(const BoundLoops& loops, const RenderTarget& target) {
  return Scheduler(loops, target).run();
}

}  // namespace trine::codegen
