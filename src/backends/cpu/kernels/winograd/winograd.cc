// 3x3 convolution of stride 1 by Winograd's F(2x2, 3x3) and F(4x4, 3x3): 2.25 and 4 times fewer multiplications.
//
//   V_q = B^T d B of every tile      M_q = V_q U_q   a product [tiles x C] [C x K] for each of the a*a planes q
//   y = A^T M A, epilogue            a = m + 2
//
// The transformed filters U are made at build, or by each run from the plain filters (rows named _panels): then they
// take 1.8 or 4 times less memory and bandwidth, and the part of U in work stays in L2.
//
// Tiles go through in blocks whose V and M stay in L2. Planes are a line longer than they need be: at a distance of a
// power of two all of a tile's stores would fall into one L1 set.
#include "backends/cpu/kernels/winograd/winograd.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

void winograd_filter(int m, const double* w, double* u) {
  constexpr double kTwo[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  const double al = std::sqrt(0.5), be = std::sqrt(2.0), third = -2.0 / 3, sixth = 1.0 / 6;
  const double four[6][3] = {{1, 0, 0},
                             {third, third * al, third / 2},
                             {third, -third * al, third / 2},
                             {sixth, sixth * be, sixth * 2},
                             {sixth, -sixth * be, sixth * 2},
                             {0, 0, 1}};
  const double (*g)[3] = m == 2 ? kTwo : four;
  int a = m + 2;
  double rows[kMaxWinogradTile][3];  // G w
  for (int i = 0; i < a; ++i)
    for (int x = 0; x < 3; ++x) rows[i][x] = g[i][0] * w[x] + g[i][1] * w[3 + x] + g[i][2] * w[6 + x];
  for (int i = 0; i < a; ++i)
    for (int j = 0; j < a; ++j) u[i * a + j] = rows[i][0] * g[j][0] + rows[i][1] * g[j][1] + rows[i][2] * g[j][2];
}

#if defined(__x86_64__)
namespace {

using namespace dnn;

constexpr int64_t kBlockBytes = 1200 << 10;  // of V and M of a block of tiles
constexpr int64_t kLeastTiles = 12;          // of a block: fewer starve the microkernel
constexpr double kFilterBytesPerSecond = 20e9;
constexpr int64_t kChunkBytes = 640 << 10;  // of plain filters and of one row of planes of U, of a chunk of panels

// What is stored: U, or the plain filters that each run makes it from.
enum class Filters : uint8_t { transformed, plain };

const WinogradIsa& winograd_isa(CpuLevel level) { return level == CpuLevel::avx512 ? kWinogradAvx512 : kWinogradAvx2; }

struct WinogradPlan {
  int m, a;
  Filters filters;
  int64_t tiles_y, tiles_x, tiles;  // tiles of all images
  int64_t blocks, block_tiles;
  int64_t v_plane, m_plane;  // floats
  int64_t panels, chunks;    // of plain filters; a chunk of panels is transformed at a time

  WinogradPlan(const ConvProblem& p, int m_, Filters stored, int threads) : m(m_), a(m_ + 2), filters(stored) {
    tiles_y = (p.out[1] + m - 1) / m;
    tiles_x = (p.out[2] + m - 1) / m;
    tiles = p.n * tiles_y * tiles_x;
    int64_t per_tile = a * a * (p.in_channels + p.out_channels) * 4;
    int64_t most = std::max(kBlockBytes / per_tile, kLeastTiles);
    blocks = std::max<int64_t>((tiles + most - 1) / most, 1);
    if (blocks >= threads) blocks = std::min((blocks + threads - 1) / threads * threads, std::max<int64_t>(tiles, 1));
    block_tiles = (tiles + blocks - 1) / blocks;
    v_plane = block_tiles * p.in_channels + kPanel;
    m_plane = block_tiles * p.out_channels + kPanel;
    panels = (p.out_channels + kPanel - 1) / kPanel;
    int64_t chunk = std::clamp<int64_t>(kChunkBytes / ((a + 9) * panel_floats(p) * 4), 1, kMaxPanels);
    chunks = (panels + chunk - 1) / chunk;
  }
  static int64_t panel_floats(const ConvProblem& p) { return p.in_channels * kPanel; }
  // U of one row of planes and the largest chunk.
  int64_t chunk_floats(const ConvProblem& p) const {
    return filters == Filters::plain ? a * ((panels + chunks - 1) / chunks) * panel_floats(p) : 0;
  }
  int planes() const { return a * a; }
  int64_t filter_floats(const ConvProblem& p) const { return panels_floats(p.in_channels, p.out_channels); }
};

GemmJob job_of(const ConvProblem& p, int64_t rows) {
  GemmJob job;
  job.rows = rows;
  job.columns = p.out_channels;
  job.kc = p.in_channels;
  job.row_stride = p.in_channels;
  return job;
}

// Scratch of one block in work.
struct Scratch {
  float *v, *m, *u;
  char* tables;
  size_t table;

  Scratch(const GemmIsa& isa, const ConvProblem& p, const WinogradPlan& plan, int threads, Carver& carver) {
    v = carver.take<float>(static_cast<size_t>(plan.planes() * plan.v_plane));
    m = carver.take<float>(static_cast<size_t>(plan.planes() * plan.m_plane));
    const int users = plan.blocks >= threads ? 1 : threads;  // a block in work belongs to one thread, or to all
    u = carver.take<float>(static_cast<size_t>(users * plan.chunk_floats(p)));
    table = gemm_part_bytes(isa, job_of(p, plan.block_tiles));
    tables = carver.take<char>(static_cast<size_t>(threads) * table);
  }
};

class Winograd {
 public:
  Winograd(CpuLevel level, const ConvProblem& p, const Args& args, const WinogradPlan& plan, const float* zeros)
      : gemm_(gemm_isa(level)),
        isa_(winograd_isa(level)),
        p_(p),
        plan_(plan),
        zeros_(zeros),
        x_(static_cast<const float*>(args.in[0])),
        y_(static_cast<float*>(args.out[0])),
        u_(static_cast<const float*>(args.packed)),
        ldx_(pixel_stride(p.in_pixel_stride, p.in_channels)),
        ldy_(pixel_stride(p.out_pixel_stride, p.out_channels)),
        epilogue_(TileEpilogue::from(p.epilogue, args.bias, args.residual, y_)) {}

  // The stages of a block are shared by the threads of `pool`: tiles, planes, tiles.
  void run_block(int64_t block, const Scratch& scratch, ThreadPool& pool) const {
    int64_t first = plan_.tiles * block / plan_.blocks, last = plan_.tiles * (block + 1) / plan_.blocks;
    pool.parallel_for(last - first, 4, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) transform_input(first + t, scratch.v + t * p_.in_channels);
    });
    multiply(last - first, scratch, pool);
    pool.parallel_for(last - first, 4, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) transform_output(first + t, scratch.m + t * p_.out_channels);
    });
  }

 private:
  // Planes are dealt to the threads, or chunks of panels where U is made here.
  void multiply(int64_t tiles, const Scratch& scratch, ThreadPool& pool) const {
    const bool plain = plan_.filters == Filters::plain;
    pool.run(plain ? static_cast<int>(plan_.chunks) : plan_.planes(), [&](int part, int thread) {
      char* table = scratch.tables + static_cast<size_t>(thread) * scratch.table;
      if (plain) multiply_chunk(part, tiles, scratch, scratch.u + thread * plan_.chunk_floats(p_), table);
      else multiply_plane(part, tiles, scratch, table);
    });
  }

  // A row of planes after the other: U of it is made, then used while it is near.
  void multiply_chunk(int64_t chunk, int64_t tiles, const Scratch& scratch, float* u, char* table) const {
    const int64_t from = plan_.panels * chunk / plan_.chunks, to = plan_.panels * (chunk + 1) / plan_.chunks;
    const int64_t panel = WinogradPlan::panel_floats(p_), plane = (to - from) * panel;
    for (int row = 0; row < plan_.a; ++row) {
      for (int64_t k = from; k < to; ++k) {
        const WinogradFilter t{u_ + k * 9 * panel, p_.in_channels, row, u + (k - from) * panel, plane};
        plan_.m == 2 ? isa_.filter2(t) : isa_.filter4(t);
      }
      for (int j = 0; j < plan_.a; ++j) {
        const int64_t q = row * plan_.a + j;
        GemmJob job = job_of(p_, tiles);
        job.columns = std::min(p_.out_channels, to * kPanel) - from * kPanel;
        auto rows = LinearRows::of_floats(scratch.v + q * plan_.v_plane, p_.in_channels,
                                          scratch.m + q * plan_.m_plane + from * kPanel, p_.out_channels);
        job.source = rows.source();
        job.b = u + j * plane;
        run_gemm_part(gemm_, job, {0, tiles, 0, to - from}, table);
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
    t.plane = plan_.v_plane;
    for (int i = 0; i < plan_.a; ++i) {
      int64_t y = at.y + i - p_.pad_begin[1];
      bool inside = y >= 0 && y < p_.in[1];
      const float* line = x_ + (at.n * p_.in[1] + y) * p_.in[2] * ldx_;
      for (int j = 0; j < plan_.a; ++j) {
        int64_t x = at.x + j - p_.pad_begin[2];
        t.in[i * plan_.a + j] = inside && x >= 0 && x < p_.in[2] ? line + x * ldx_ : zeros_;
      }
    }
    plan_.m == 2 ? isa_.input2(t) : isa_.input4(t);
  }

  void multiply_plane(int q, int64_t tiles, const Scratch& scratch, char* table) const {
    GemmJob job = job_of(p_, tiles);
    auto rows = LinearRows::of_floats(scratch.v + q * plan_.v_plane, p_.in_channels, scratch.m + q * plan_.m_plane,
                                      p_.out_channels);
    job.source = rows.source();
    job.b = u_ + q * plan_.filter_floats(p_);
    if (q + 1 < plan_.planes()) job.next_b = job.b + plan_.filter_floats(p_);
    run_gemm_part(gemm_, job, {0, tiles, 0, job.panels()}, table);
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
        t.out[i * plan_.m + j] = inside ? y_ + ((at.n * p_.out[1] + y) * p_.out[2] + x) * ldy_ : nullptr;
      }
    plan_.m == 2 ? isa_.output2(t) : isa_.output4(t);
  }

  const GemmIsa& gemm_;
  const WinogradIsa& isa_;
  const ConvProblem& p_;
  const WinogradPlan& plan_;
  const float* zeros_;
  const float* x_;
  float* y_;
  const float* u_;
  int64_t ldx_, ldy_;
  TileEpilogue epilogue_;
};

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

// Blocks go to threads whole when there are enough; then each thread has its own scratch.
int scratches(const WinogradPlan& plan, int threads) { return plan.blocks >= threads ? threads : 1; }

size_t workspace(CpuLevel level, int m, Filters filters, const ConvProblem& p, int threads) {
  WinogradPlan plan(p, m, filters, threads);
  Carver carver;
  carver.take<float>(static_cast<size_t>(p.in_channels));
  for (int i = 0; i < scratches(plan, threads); ++i) Scratch(gemm_isa(level), p, plan, threads, carver);
  return carver.used();
}

void run(CpuLevel level, int m, Filters filters, const ConvProblem& p, const Args& args) {
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  WinogradPlan plan(p, m, filters, pool.threads());
  Carver carver(args.workspace);
  auto zeros = carver.take<float>(static_cast<size_t>(p.in_channels));
  std::fill_n(zeros, p.in_channels, 0.f);
  Winograd winograd(level, p, args, plan, zeros);
  auto scratch_of = [&](int thread) {
    Carver own = carver;
    Scratch scratch(gemm_isa(level), p, plan, pool.threads(), own);
    for (int i = 0; i < thread; ++i) scratch = Scratch(gemm_isa(level), p, plan, pool.threads(), own);
    return scratch;
  };
  bool whole = scratches(plan, pool.threads()) > 1;
  auto run_block = [&](int block, int thread) { winograd.run_block(block, scratch_of(thread), ThreadPool::serial()); };
  if (whole) return pool.run(static_cast<int>(plan.blocks), run_block);
  for (int64_t block = 0; block < plan.blocks; ++block) winograd.run_block(block, scratch_of(0), pool);
}

const char* fits(const Problem& problem) {
  const ConvProblem& p = of(problem);
  bool plain = p.kernel == Extents{1, 3, 3} && p.stride == Extents{1, 1, 1} && p.dilation == Extents{1, 1, 1};
  if (!plain || p.in[0] != 1 || p.out[0] != 1 || p.pad_begin[0] != 0) return "not 3x3 with stride and dilation 1";
  if (p.transposed || p.groups != 1) return "transposed or grouped";
  if (!p.types.are_f32()) return "operands other than f32";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  return p.in_channels < 16 || p.out_channels < 16 ? "fewer than 16 channels" : nullptr;
}

// Multiplications, or the stream of filters if that takes longer; and the transforms.
double seconds(CpuLevel level, int m, Filters stored, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  WinogradPlan plan(p, m, stored, threads);
  const GemmIsa& isa = gemm_isa(level);
  auto tiles = static_cast<double>(plan.tiles), in = static_cast<double>(p.in_channels);
  auto out = static_cast<double>((p.out_channels + kPanel - 1) / kPanel * kPanel);
  double products = 2 * plan.planes() * tiles * in * out;
  double filters = static_cast<double>((stored == Filters::plain ? 9 : plan.planes()) * plan.filter_floats(p)) * 4;
  double compute = gemm_seconds(isa, products, 0, 1, plan.block_tiles < 9 ? 0.75 : 0.9);
  double lanes = level == CpuLevel::avx512 ? 16 : 8;
  double transforms = tiles / lanes * (m == 4 ? in * 60e-9 + out * 50e-9 : in * 25e-9 + out * 18e-9);
  if (stored == Filters::plain)
    transforms += static_cast<double>(plan.blocks) * in * out / lanes * (m == 4 ? 30e-9 : 14e-9);
  double total = std::max(compute, filters / kFilterBytesPerSecond) + transforms;
  return threads > 1 && total > kMinForkSeconds ? total / threads + 3e-6 : total;
}

size_t packed(int m, const Problem& problem) {
  WinogradPlan plan(of(problem), m, Filters::transformed, 1);
  return static_cast<size_t>(plan.planes() * plan.filter_floats(of(problem))) * sizeof(float);
}

void prepack(int m, const Problem& problem, const float* weights, float* to) {
  const ConvProblem& p = of(problem);
  WinogradPlan plan(p, m, Filters::transformed, 1);
  int64_t k = p.in_channels;
  std::fill_n(to, plan.planes() * plan.filter_floats(p), 0.f);
  for (int64_t out = 0; out < p.out_channels; ++out)
    for (int64_t c = 0; c < k; ++c) {
      double w[9], u[kMaxWinogradTile * kMaxWinogradTile];
      std::copy_n(weights + (out * k + c) * 9, 9, w);
      winograd_filter(m, w, u);
      for (int q = 0; q < plan.planes(); ++q)
        to[q * plan.filter_floats(p) + (out / kPanel * k + c) * kPanel + out % kPanel] = static_cast<float>(u[q]);
    }
}

template <CpuLevel kLevel, int kOut, Filters kFilters>
KernelRow row(std::string_view name) {
  KernelRow row{
      .name = name,
      .op = OpKind::conv,
      .needs = kLevel,
      .numerics = Numerics::winograd,
      .packing = kOut == 2 ? Packing::winograd2 : Packing::winograd4,
      .fits = fits,
      .cost = [](const Problem& p, int threads) { return seconds(kLevel, kOut, kFilters, p, threads); },
      .workspace_bytes = [](const Problem& p,
                            int threads) { return workspace(kLevel, kOut, kFilters, of(p), threads); },
      .packed_bytes = [](const Problem& p) { return packed(kOut, p); },
      .prepack = [](const Problem& p, std::span<const void* const> weights,
                    void* dst) { prepack(kOut, p, static_cast<const float*>(weights[0]), static_cast<float*>(dst)); },
      .run = [](const Problem& p, const Args& args) { run(kLevel, kOut, kFilters, of(p), args); }};
  if (kFilters == Filters::transformed) return row;
  row.packing = Packing::panels16;
  row.packed_bytes = [](const Problem& p) { return filter_bytes(kGemmBaseline, of(p)); };
  row.prepack = [](const Problem& p, std::span<const void* const> weights, void* dst) {
    pack_filters(kGemmBaseline, of(p), weights[0], dst);
  };
  return row;
}

const KernelRow kWinograd[] = {
    row<CpuLevel::avx512, 4, Filters::transformed>("conv_f32_f32_winograd4x3_avx512"),
    row<CpuLevel::avx512, 4, Filters::plain>("conv_f32_f32_winograd4x3_panels_avx512"),
    row<CpuLevel::avx512, 2, Filters::transformed>("conv_f32_f32_winograd2x3_avx512"),
    row<CpuLevel::avx512, 2, Filters::plain>("conv_f32_f32_winograd2x3_panels_avx512"),
    row<CpuLevel::avx2, 4, Filters::transformed>("conv_f32_f32_winograd4x3_avx2"),
    row<CpuLevel::avx2, 4, Filters::plain>("conv_f32_f32_winograd4x3_panels_avx2"),
    row<CpuLevel::avx2, 2, Filters::transformed>("conv_f32_f32_winograd2x3_avx2"),
    row<CpuLevel::avx2, 2, Filters::plain>("conv_f32_f32_winograd2x3_panels_avx2"),
};
const RegisterRows registered(kWinograd);

}  // namespace
#endif

}  // namespace trine::cpu
