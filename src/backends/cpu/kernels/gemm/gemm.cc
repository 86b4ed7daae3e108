#include "backends/cpu/kernels/gemm/gemm.h"

#include <algorithm>
#include <cstring>

#include "trine/base/cpu.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

constexpr double kHertz = 3.5e9;          // assumed; only relations matter, and what is worth a fork
constexpr double kBytesPerSecond = 25e9;  // of memory
constexpr int64_t kMaxDepthLinear = 768;  // of a block of k, one tap
constexpr int64_t kMaxDepthTaps = 1536;   // of a block of taps
constexpr int64_t kRowBlockBytes = 400 << 10;
constexpr int64_t kRowBlockBytesSmallB = 48 << 10;  // when all of B is small, rather keep A near and write C whole
constexpr int64_t kSmallB = 256 << 10;
constexpr int64_t kMaxPointers = 16 << 10;  // of a block of rows
constexpr int64_t kLeastPartRows = 56;      // of one of several parts of a thread
constexpr int64_t kLeastPartPanels = 2 * kMaxPanels;
constexpr int kRowsWhenStridesCollide = 8;  // ways of an L1 set: rows 4 KB apart all fall into one

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Begin of part i when n things are dealt to `parts` as evenly as can be.
int64_t share(int64_t n, int64_t parts, int64_t i) { return n * i / parts; }

// Blocks of k: of several taps, or of a piece of the only one.
struct DepthBlocks {
  int64_t count;
  bool by_taps;
  int64_t total;

  static DepthBlocks of(const GemmJob& job) {
    if (job.epilogue.out != DType::f32 || job.epilogue.scales)
      return {1, job.taps > 1, job.taps > 1 ? job.taps : job.kc};
    if (job.taps > 1) {
      int64_t taps_each = std::clamp<int64_t>(kMaxDepthTaps / std::max<int64_t>(job.kc, 1), 1, job.taps);
      return {divide_up(job.taps, taps_each), true, job.taps};
    }
    return {std::max<int64_t>(divide_up(job.kc, kMaxDepthLinear), 1), false, job.kc};
  }
  // Pieces of one tap begin at multiples of 4: the microkernel's step.
  int64_t begin(int64_t i) const {
    if (i >= count) return total;
    int64_t at = share(total, count, i);
    return by_taps ? at : at / 4 * 4;
  }
};

int tile_rows(const GemmIsa& isa, const GemmJob& job, int panels) {
  int rows = isa.max_rows[panels];
  bool collide = job.row_stride > 0 && job.row_stride % 1024 == 0;
  return collide ? std::min(rows, kRowsWhenStridesCollide) : rows;
}

int64_t block_rows(const GemmJob& job) {
  // Neighbouring rows share most of what their taps read.
  int64_t depth = job.taps > 1 ? std::min<int64_t>(job.kc * 2, kMaxDepthTaps) : std::min(job.kc, kMaxDepthLinear);
  int64_t budget = job.k() * job.columns * 4 <= kSmallB ? kRowBlockBytesSmallB : kRowBlockBytes;
  int64_t rows = std::min(budget / (std::max<int64_t>(depth, 1) * 4), kMaxPointers / job.taps);
  return std::clamp<int64_t>(rows, kMaxTileRows, std::max<int64_t>(job.rows, kMaxTileRows));
}

// One block of rows, with its table of pointers: per tile [taps][mr] of A then [mr] of C.
class RowBlock {
 public:
  RowBlock(const GemmIsa& isa, const GemmJob& job, int64_t begin, int64_t end, void* workspace)
      : isa_(isa), job_(job), begin_(begin), rows_(end - begin), table_(static_cast<const void**>(workspace)) {}

  void run(int64_t panel_begin, int64_t panel_end) {
    int width = panels_per_group(isa_, rows_, panel_end - panel_begin);
    int64_t groups = divide_up(panel_end - panel_begin, width);
    int most = tile_rows(isa_, job_, width);
    // Narrower groups of an uneven division may have taller tiles, but one table must serve all.
    tiles_ = divide_up(rows_, most);
    fill_table();
    DepthBlocks depth = DepthBlocks::of(job_);
    for (int64_t d = 0; d < depth.count; ++d) {
      const auto begin_of = [&](int64_t g) { return panel_begin + share(panel_end - panel_begin, groups, g); };
      for (int64_t i = 0; i < groups; ++i) {
        const int64_t g = job_.backwards ? groups - 1 - i : i, next = job_.backwards ? g - 1 : g + 1;
        const int64_t from = begin_of(g), to = begin_of(g + 1);
        const bool last = i + 1 == groups;
        run_group(depth, d, from, static_cast<int>(to - from), last ? panel_begin : begin_of(next), last ? d + 1 : d);
      }
    }
  }

 private:
  int64_t tile_begin(int64_t i) const { return share(rows_, tiles_, i); }
  int tile_size(int64_t i) const { return static_cast<int>(tile_begin(i + 1) - tile_begin(i)); }
  const void** tile_pointers(int64_t i) const { return table_ + tile_begin(i) * (job_.taps + 1); }

  void fill_table() {
    for (int64_t i = 0; i < tiles_; ++i) {
      const void** a = tile_pointers(i);
      auto c = const_cast<void**>(a + int64_t{tile_size(i)} * job_.taps);
      job_.source.fill(job_.source.context, begin_ + tile_begin(i), tile_size(i), a, c);
      if (job_.needs_last_words()) fill_last_words(i, a);
    }
  }

  // Those of a tile stand beside its pointers, after those of all rows.
  uint32_t* last_words(int64_t i) const {
    return reinterpret_cast<uint32_t*>(table_ + rows_ * (job_.taps + 1)) + tile_begin(i) * job_.taps;
  }

  void fill_last_words(int64_t i, const void* const* a) const {
    uint32_t* to = last_words(i);
    for (int64_t p = 0; p < int64_t{tile_size(i)} * job_.taps; ++p) {
      to[p] = 0;
      std::memcpy(to + p, static_cast<const char*>(a[p]) + (job_.kc - 1) * 4, static_cast<size_t>(job_.last_bytes));
    }
  }

  const float* panel_at(const DepthBlocks& depth, int64_t d, int64_t panel) const {
    int64_t stride = job_.panel_stride ? job_.panel_stride : job_.k() * kPanel;
    int64_t k = depth.begin(d) * (depth.by_taps ? job_.kc : 1);
    return job_.b + panel * stride + k * job_.k_stride;
  }

  const float* panel_after(const DepthBlocks& depth, int64_t d, int64_t panel) const {
    if (d < depth.count) return panel_at(depth, d, panel);
    return job_.next_b ? job_.next_b + panel * job_.k() * kPanel : nullptr;
  }

  void run_group(const DepthBlocks& depth, int64_t d, int64_t panel, int width, int64_t next_panel, int64_t next_d) {
    int64_t begin = depth.begin(d), size = depth.begin(d + 1) - begin;
    Tile t{nullptr, nullptr};
    t.a_offset = depth.by_taps ? 0 : begin * 4;
    t.taps = depth.by_taps ? static_cast<int>(size) : 1;
    t.kc = depth.by_taps ? job_.kc : size;
    bool has_last = job_.last_bytes < 4 && (depth.by_taps || d + 1 == depth.count);
    if (has_last) --t.kc, t.last_mask = job_.last_mask();
    t.column = panel * kPanel;
    t.columns = static_cast<int>(std::min<int64_t>(job_.columns - t.column, width * kPanel));
    t.b = panel_at(depth, d, panel);
    t.k_stride = job_.k_stride;
    t.panel_stride = job_.panel_stride ? job_.panel_stride : job_.k() * kPanel;
    t.add_to_c = d > 0 || job_.accumulate;
    t.finish = d + 1 == depth.count;
    t.epilogue = &job_.epilogue;
    int64_t skipped = depth.by_taps ? begin : 0;
    for (int64_t i = 0; i < tiles_; ++i) {
      int rows = tile_size(i);
      t.a = tile_pointers(i) + skipped * rows;
      if (has_last && job_.needs_last_words()) t.last_words = last_words(i) + skipped * rows;
      t.c = const_cast<void* const*>(tile_pointers(i) + int64_t{rows} * job_.taps);
      // Tile i brings panel i of the next group: one line per k.
      const float* next = i < width && job_.k_stride == kPanel ? panel_after(depth, next_d, next_panel + i) : nullptr;
      t.prefetch = next ? next : t.b;
      t.prefetch_step = next ? kPanel : 0;
      isa_.tile_for(width, rows, t.columns)(t);
    }
  }

  const GemmIsa& isa_;
  const GemmJob& job_;
  int64_t begin_, rows_, tiles_ = 0;
  const void** table_;
};

double flops_of(const GemmIsa& isa, const GemmJob& job) {
  double elements = static_cast<double>(job.k() * 4 / isa.element_bytes());
  return 2.0 * static_cast<double>(job.rows) * static_cast<double>(job.columns) * elements;
}

// How rows and panels are dealt: `row_parts` x `panel_parts`.
struct Split {
  int64_t row_parts, panel_parts;
};

// What a core is taken to do.
double flops_per_second(const GemmIsa& isa) {
  static const bool wide = cpu_info().wide_fma;
  return isa.flops_per_cycle * kHertz * (isa.level == CpuLevel::avx512 && wide ? 2 : 1);
}

Split split_of(const GemmIsa& isa, const GemmJob& job, int threads) {
  if (threads == 1 || flops_of(isa, job) / flops_per_second(isa) < kMinForkSeconds) return {1, 1};
  double k = static_cast<double>(job.k()), m = static_cast<double>(job.rows), n = static_cast<double>(job.columns);
  bool weights_dominate = k * n > m * (k + n);
  Split best{1, 1};
  double best_cost = 1e300;
  for (int64_t panel_parts = 1; panel_parts <= threads; ++panel_parts) {
    int64_t row_parts = std::min<int64_t>(threads / panel_parts, divide_up(job.rows, 4));
    if (panel_parts > job.panels()) break;
    double largest = static_cast<double>(divide_up(job.rows, row_parts) * divide_up(job.panels(), panel_parts));
    // A tie goes to reading the larger operand once.
    double cost = largest * (1 + 0.05 * static_cast<double>(weights_dominate ? row_parts : panel_parts) / threads);
    if (cost < best_cost) best_cost = cost, best = {row_parts, panel_parts};
  }
  return best;
}

// Several parts for each thread where they stay large enough to run well alone.
Split finer(const GemmIsa& isa, const GemmJob& job, Split split, const ThreadPool& pool) {
  int64_t more = pool.parts_for(flops_of(isa, job) / flops_per_second(isa)) / pool.threads();
  if (split.panel_parts == 1) {
    split.row_parts *= std::clamp<int64_t>(job.rows / (split.row_parts * kLeastPartRows), 1, more);
  } else if (split.row_parts == 1) {
    split.panel_parts *= std::clamp<int64_t>(job.panels() / (split.panel_parts * kLeastPartPanels), 1, more);
  }
  return split;
}

size_t table_bytes(const GemmJob& job) {
  size_t words = job.needs_last_words() ? static_cast<size_t>(job.taps) * sizeof(uint32_t) : 0;
  size_t bytes = static_cast<size_t>(block_rows(job)) * (static_cast<size_t>(job.taps + 1) * sizeof(void*) + words);
  return (bytes + 63) / 64 * 64;
}

}  // namespace

int panels_per_group(const GemmIsa& isa, int64_t rows, int64_t panels) {
  auto made = [&](int p) { return isa.max_rows[p] > 0; };
  if (rows <= 2) {
    for (int p = kMaxPanels; p > 1; --p)
      if (isa.max_rows[p] >= rows && panels >= p) return p;
  }
  if (!made(3)) return 1;
  if (panels <= kMaxPanels) return static_cast<int>(panels);
  return panels % 3 == 0 ? 3 : panels % 4 == 0 ? 4 : 3;
}

size_t gemm_part_bytes(const GemmIsa&, const GemmJob& job) { return table_bytes(job); }

void run_gemm_part(const GemmIsa& isa, const GemmJob& job, const GemmRange& range, void* workspace) {
  int64_t rows = range.row_end - range.row_begin;
  if (rows <= 0 || range.panel_end <= range.panel_begin) return;
  int64_t blocks = divide_up(rows, block_rows(job));
  for (int64_t i = 0; i < blocks; ++i) {
    RowBlock block(isa, job, range.row_begin + share(rows, blocks, i), range.row_begin + share(rows, blocks, i + 1),
                   workspace);
    block.run(range.panel_begin, range.panel_end);
  }
}

void run_gemm(const GemmIsa& isa, const GemmJob& job, ThreadPool* pool, void* workspace) {
  Split split = split_of(isa, job, pool ? pool->threads() : 1);
  if (split.row_parts * split.panel_parts > 1) split = finer(isa, job, split, *pool);
  auto run_part = [&](int part, int thread) {
    int64_t r = part / split.panel_parts, p = part % split.panel_parts;
    GemmRange range{share(job.rows, split.row_parts, r), share(job.rows, split.row_parts, r + 1),
                    share(job.panels(), split.panel_parts, p), share(job.panels(), split.panel_parts, p + 1)};
    run_gemm_part(isa, job, range, static_cast<char*>(workspace) + static_cast<size_t>(thread) * table_bytes(job));
  };
  int parts = static_cast<int>(split.row_parts * split.panel_parts);
  if (parts == 1) return run_part(0, 0);
  pool->run(parts, run_part);
}

double gemm_seconds(const GemmIsa& isa, double flops, double bytes, int threads, double efficiency) {
  double compute = flops / (flops_per_second(isa) * efficiency);
  double seconds = std::max(compute, bytes / kBytesPerSecond) + 0.1 * std::min(compute, bytes / kBytesPerSecond);
  return seconds < kMinForkSeconds || threads <= 1 ? seconds : seconds / threads + 1e-6;
}

void pack_panels(const GemmIsa& isa, const float* src, int64_t ld, bool transposed, int64_t k, int64_t n, float* dst) {
  for (int64_t column = 0; column < n; column += kPanel, dst += k * kPanel) {
    int columns = static_cast<int>(std::min<int64_t>(n - column, kPanel));
    if (transposed) {
      isa.pack_panel_transposed(src + column * ld, ld, k, columns, dst);
    } else {
      isa.pack_panel(src + column, ld, k, columns, dst);
    }
  }
}

RowSource LinearRows::source() const {
  return {[](const void* context, int64_t row, int count, const void** a, void** c) {
            auto& rows = *static_cast<const LinearRows*>(context);
            for (int i = 0; i < count; ++i) {
              a[i] = static_cast<const char*>(rows.a) + (row + i) * rows.a_step;
              c[i] = static_cast<char*>(rows.c) + (row + i) * rows.c_step;
            }
          },
          this};
}

}  // namespace trine::cpu
