// The blocks of tiles of a convolution by Winograd, on threads.
//
// Tiles go through in blocks whose V and M stay in L2. Planes are a line longer than they need be: at a distance of a
// power of two all of a tile's stores would fall into one L1 set.
#include "backends/cpu/kernels/winograd/winograd_run.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

#if defined(__x86_64__)
using namespace dnn;

namespace {

constexpr int64_t kBlockBytes = 1200 << 10;  // of V and M of a block of tiles
constexpr int64_t kLeastTiles = 12;          // of a block: fewer starve the microkernel
constexpr int64_t kChunkBytes = 640 << 10;   // of plain filters and of one row of planes of U, of a chunk of panels

GemmJob job_of(const WinogradPlan& plan, const ConvProblem& p, int64_t rows) {
  GemmJob job;
  job.rows = rows;
  job.columns = p.out_channels;
  job.kc = job.row_stride = plan.words;
  return job;
}

// Scratch of one block in work.
struct Scratch {
  float *v, *m, *u;
  char* tables;
  size_t table;

  Scratch(const GemmIsa& gemm, const ConvProblem& p, const WinogradPlan& plan, int threads, Carver& carver) {
    v = carver.take<float>(static_cast<size_t>(plan.planes() * plan.v_plane));
    m = carver.take<float>(static_cast<size_t>(plan.planes() * plan.m_plane));
    const int users = plan.blocks >= threads ? 1 : threads;  // a block in work belongs to one thread, or to all
    u = carver.take<float>(static_cast<size_t>(users * plan.chunk_words));
    table = gemm_part_bytes(gemm, job_of(plan, p, plan.block_tiles));
    tables = carver.take<char>(static_cast<size_t>(threads) * table);
  }
};

class Winograd {
 public:
  Winograd(const WinogradWay& way, const ConvProblem& p, const Args& args, const WinogradPlan& plan, const void* zeros)
      : way_(way),
        p_(p),
        plan_(plan),
        zeros_(zeros),
        x_(static_cast<const char*>(args.in[0])),
        y_(static_cast<char*>(args.out[0])),
        u_(static_cast<const float*>(args.packed)),
        x_step_(pixel_stride(p.in_pixel_stride, p.in_channels) * bytes()),
        y_step_(pixel_stride(p.out_pixel_stride, p.out_channels) * bytes()),
        epilogue_(TileEpilogue::from(p.epilogue, args.bias, args.residual, y_, way.isa.pixels)) {}

  // The stages of a block are shared by the threads of `pool`: tiles, planes, tiles.
  void run_block(int64_t block, const Scratch& scratch, ThreadPool& pool) const {
    int64_t first = plan_.tiles * block / plan_.blocks, last = plan_.tiles * (block + 1) / plan_.blocks;
    pool.parallel_for(last - first, 4, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) transform_input(first + t, scratch.v + t * plan_.words);
    });
    multiply(last - first, scratch, pool);
    pool.parallel_for(last - first, 4, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) transform_output(first + t, scratch.m + t * p_.out_channels);
    });
  }

 private:
  // Planes are dealt to the threads, or chunks of panels where U is made here.
  void multiply(int64_t tiles, const Scratch& scratch, ThreadPool& pool) const {
    const bool plain = way_.filters == WinogradFilters::plain;
    pool.run(plain ? static_cast<int>(plan_.chunks) : plan_.planes(), [&](int part, int thread) {
      char* table = scratch.tables + static_cast<size_t>(thread) * scratch.table;
      if (plain) multiply_chunk(part, tiles, scratch, scratch.u + thread * plan_.chunk_words, table);
      else multiply_plane(part, tiles, scratch, table);
    });
  }

  // A row of planes after the other: U of it is made, then used while it is near.
  void multiply_chunk(int64_t chunk, int64_t tiles, const Scratch& scratch, float* u, char* table) const {
    const int64_t from = plan_.panels * chunk / plan_.chunks, to = plan_.panels * (chunk + 1) / plan_.chunks;
    const int64_t panel = plan_.panel_words(), plane = (to - from) * panel;
    for (int row = 0; row < plan_.a; ++row) {
      for (int64_t k = from; k < to; ++k) {
        way_.isa.filter({u_ + k * 9 * panel, plan_.words, row, u + (k - from) * panel, plane});
      }
      for (int j = 0; j < plan_.a; ++j) {
        const int64_t q = row * plan_.a + j;
        GemmJob job = job_of(plan_, p_, tiles);
        job.columns = std::min(p_.out_channels, to * kPanel) - from * kPanel;
        const LinearRows rows = rows_of(scratch, q, from * kPanel);
        job.source = rows.source();
        job.b = u + j * plane;
        run_gemm_part(way_.gemm, job, {0, tiles, 0, to - from}, table);
      }
    }
  }

  struct Place {
    int64_t n, y, x;  // of the tile's first output pixel
  };
  Place place(int64_t tile) const {
    int64_t per_image = plan_.tiles_y * plan_.tiles_x, in_image = tile % per_image;
    return {tile / per_image, in_image / plan_.tiles_x * plan_.m, in_image % plan_.tiles_x * plan_.m};
  }

  void transform_input(int64_t tile, float* v) const {
    Place at = place(tile);
    WinogradInput t;
    t.channels = p_.in_channels;
    t.out = v;
    t.plane_bytes = plan_.v_plane * 4;
    for (int i = 0; i < plan_.a; ++i) {
      int64_t y = at.y + i - p_.pad_begin[1];
      bool inside = y >= 0 && y < p_.in[1];
      const char* line = x_ + (at.n * p_.in[1] + y) * p_.in[2] * x_step_;
      for (int j = 0; j < plan_.a; ++j) {
        int64_t x = at.x + j - p_.pad_begin[2];
        t.in[i * plan_.a + j] = inside && x >= 0 && x < p_.in[2] ? line + x * x_step_ : zeros_;
      }
    }
    way_.isa.input(t);
  }

  // V and M of plane q, from a column of M on.
  LinearRows rows_of(const Scratch& scratch, int64_t q, int64_t column) const {
    return {scratch.v + q * plan_.v_plane, plan_.words * 4, scratch.m + q * plan_.m_plane + column,
            p_.out_channels * 4};
  }

  void multiply_plane(int q, int64_t tiles, const Scratch& scratch, char* table) const {
    GemmJob job = job_of(plan_, p_, tiles);
    const LinearRows rows = rows_of(scratch, q, 0);
    job.source = rows.source();
    job.b = u_ + q * plan_.filter_words();
    if (q + 1 < plan_.planes()) job.next_b = job.b + plan_.filter_words();
    run_gemm_part(way_.gemm, job, {0, tiles, 0, job.panels()}, table);
  }

  void transform_output(int64_t tile, const float* m) const {
    Place at = place(tile);
    WinogradOutput t;
    t.in = m;
    t.plane = plan_.m_plane;
    t.channels = p_.out_channels;
    t.epilogue = &epilogue_;
    for (int i = 0; i < plan_.m; ++i)
      for (int j = 0; j < plan_.m; ++j) {
        int64_t y = at.y + i, x = at.x + j;
        bool inside = y < p_.out[1] && x < p_.out[2];
        t.out[i * plan_.m + j] = inside ? y_ + ((at.n * p_.out[1] + y) * p_.out[2] + x) * y_step_ : nullptr;
      }
    way_.isa.output(t);
  }

  int64_t bytes() const { return static_cast<int64_t>(byte_size(way_.isa.pixels)); }

  const WinogradWay& way_;
  const ConvProblem& p_;
  const WinogradPlan& plan_;
  const void* zeros_;
  const char* x_;
  char* y_;
  const float* u_;
  int64_t x_step_, y_step_;
  TileEpilogue epilogue_;
};

// Blocks go to threads whole when there are enough; then each thread has its own scratch.
int scratches(const WinogradPlan& plan, int threads) { return plan.blocks >= threads ? threads : 1; }

size_t zeros_bytes(const WinogradWay& way, const ConvProblem& p) {
  return static_cast<size_t>(p.in_channels) * byte_size(way.isa.pixels);
}

}  // namespace

WinogradPlan::WinogradPlan(const WinogradWay& way, const ConvProblem& p, int threads)
    : m(way.isa.m), a(m + 2), words(way.gemm.words(p.in_channels)) {
  tiles_y = (p.out[1] + m - 1) / m;
  tiles_x = (p.out[2] + m - 1) / m;
  tiles = p.n * tiles_y * tiles_x;
  int64_t per_tile = a * a * (words + p.out_channels) * 4;
  int64_t most = std::max(kBlockBytes / per_tile, kLeastTiles);
  blocks = std::max<int64_t>((tiles + most - 1) / most, 1);
  if (blocks >= threads) blocks = std::min((blocks + threads - 1) / threads * threads, std::max<int64_t>(tiles, 1));
  block_tiles = (tiles + blocks - 1) / blocks;
  v_plane = block_tiles * words + kPanel;
  m_plane = block_tiles * p.out_channels + kPanel;
  panels = (p.out_channels + kPanel - 1) / kPanel;
  int64_t chunk = std::clamp<int64_t>(kChunkBytes / ((a + 9) * panel_words() * 4), 1, kMaxPanels);
  chunks = (panels + chunk - 1) / chunk;
  const bool made_here = way.filters == WinogradFilters::plain;
  chunk_words = made_here ? a * ((panels + chunks - 1) / chunks) * panel_words() : 0;
}

size_t winograd_workspace(const WinogradWay& way, const ConvProblem& p, int threads) {
  WinogradPlan plan(way, p, threads);
  Carver carver;
  carver.take<char>(zeros_bytes(way, p));
  for (int i = 0; i < scratches(plan, threads); ++i) Scratch(way.gemm, p, plan, threads, carver);
  return carver.used();
}

void run_winograd(const WinogradWay& way, const ConvProblem& p, const Args& args) {
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  WinogradPlan plan(way, p, pool.threads());
  Carver carver(args.workspace);
  auto zeros = carver.take<char>(zeros_bytes(way, p));
  std::memset(zeros, 0, zeros_bytes(way, p));
  Winograd winograd(way, p, args, plan, zeros);
  auto scratch_of = [&](int thread) {
    Carver own = carver;
    Scratch scratch(way.gemm, p, plan, pool.threads(), own);
    for (int i = 0; i < thread; ++i) scratch = Scratch(way.gemm, p, plan, pool.threads(), own);
    return scratch;
  };
  bool whole = scratches(plan, pool.threads()) > 1;
  auto run_block = [&](int block, int thread) { winograd.run_block(block, scratch_of(thread), ThreadPool::serial()); };
  if (whole) return pool.run(static_cast<int>(plan.blocks), run_block);
  for (int64_t block = 0; block < plan.blocks; ++block) winograd.run_block(block, scratch_of(0), pool);
}
#endif

}  // namespace trine::cpu
