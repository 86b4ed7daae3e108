// Strassen's product in Winograd's form, one level: seven products of half the size in place of eight.
//
//   A = A1 A2   S1 = A3 + A4   T1 = B2 - B1   P1 = A1 B1   P5 = S1 T1     U2 = P1 + P6   C1 = P1 + P2
//       A3 A4   S2 = S1 - A1   T2 = B4 - T1   P2 = A2 B3   P6 = S2 T2     U3 = U2 + P7   C2 = U2 + P5 + P3
//               S3 = A1 - A3   T3 = B4 - B2   P3 = S4 B4   P7 = S3 T3                    C3 = U3 - P4
//               S4 = A2 - S2   T4 = T2 - B3   P4 = A4 T4                                 C4 = U3 + P5
//
// The sums T come packed. Errors are those of the largest elements: small sums beside large ones lose digits, which is
// why only `fast` allows it. Of an odd number of rows the lower half has one less.
#include <algorithm>

#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

#if defined(__x86_64__)
namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kLeastRows = 64, kLeastDepth = 256, kLeastColumns = 256;
constexpr double kSumBytesPerSecond = 20e9;  // of the passes that add

// What is packed, in this order; kMinusT4 so that C3 is a sum.
enum Panels : uint8_t { kB1, kB3, kB4, kT1, kT2, kT3, kMinusT4, kPanelsCount };

const MatmulProblem& of(const Problem& problem) { return std::get<MatmulProblem>(problem); }

struct Sizes {
  int64_t rows, top, bottom;  // of A; of its halves
  int64_t depth, columns;     // of a quarter of B

  explicit Sizes(const MatmulProblem& p)
      : rows(element_count(p.a_batch) * p.m), top((rows + 1) / 2), bottom(rows / 2), depth(p.k / 2), columns(p.n / 2) {}
  int64_t panels() const { return panels_floats(depth, columns); }
};

GemmJob job_of(const Sizes& s, int64_t rows) {
  GemmJob job;
  job.rows = rows;
  job.columns = s.columns;
  job.kc = s.depth;
  return job;
}

struct Scratch {
  float *s[4], *x, *y;
  char* tables;

  Scratch(const GemmIsa& isa, const Sizes& sizes, int threads, Carver& carver) {
    for (float*& sum : s) sum = carver.take<float>(static_cast<size_t>(sizes.top * sizes.depth));
    x = carver.take<float>(static_cast<size_t>(sizes.top * sizes.columns));
    y = carver.take<float>(static_cast<size_t>(sizes.top * sizes.columns));
    tables = carver.take<char>(static_cast<size_t>(threads) * table_bytes(isa, sizes));
  }
  // Those of an epilogue alone have the longest blocks of rows.
  static size_t table_bytes(const GemmIsa& isa, const Sizes& sizes) {
    GemmJob finish = job_of(sizes, sizes.top);
    finish.kc = 0;
    return std::max(gemm_part_bytes(isa, finish), gemm_part_bytes(isa, job_of(sizes, sizes.top)));
  }
};

class Strassen {
 public:
  Strassen(const GemmIsa& isa, const MatmulProblem& p, const Args& args)
      : isa_(isa),
        sizes_(p),
        pool_(args.pool ? *args.pool : ThreadPool::serial()),
        carver_(args.workspace),
        scratch_(isa, sizes_, pool_.threads(), carver_),
        a_(static_cast<const float*>(args.in[0])),
        lda_(p.k),
        b_(static_cast<const float*>(args.packed)),
        c_(static_cast<float*>(args.out[0])),
        ldc_(p.out_row_stride ? p.out_row_stride : p.n),
        epilogue_(TileEpilogue::from(p.epilogue, args.bias, args.residual, c_)) {
    epilogue_.scale = p.alpha;
  }

  void run() {
    const float *a1 = a_, *a2 = a_ + sizes_.depth, *a4 = a2 + sizes_.top * lda_;
    const Half x{scratch_.x, sizes_.columns}, y{scratch_.y, sizes_.columns};
    add_quarters();
    multiply(a1, lda_, kB1, sizes_.top, x);
    put_block(1, x);
    finish_block(1, a2, lda_, kB3);
    multiply(scratch_.s[1], sizes_.depth, kT2, sizes_.top, x, /*add=*/true);
    multiply(scratch_.s[0], sizes_.depth, kT1, sizes_.top, y);
    put_block(2, x, y);
    finish_block(2, scratch_.s[3], sizes_.depth, kB4);
    multiply(scratch_.s[2], sizes_.depth, kT3, sizes_.top, x, /*add=*/true);
    put_block(3, x);
    finish_block(3, a4, lda_, kMinusT4);
    put_block(4, x, y);
    finish_block(4, a1, lda_, kB1, /*depth=*/0);
  }

 private:
  struct Half {
    float* data;
    int64_t stride;
  };

  // S1 to S4 of every row of the upper half; rows that the lower half lacks are 0.
  void add_quarters() {
    const int64_t depth = sizes_.depth, grain = std::max<int64_t>(1, 4096 / depth);
    pool_.parallel_for(sizes_.top, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float *a1 = a_ + i * lda_, *a2 = a1 + depth, *a3 = a1 + sizes_.top * lda_, *a4 = a3 + depth;
        float* s[4];
        for (int k = 0; k < 4; ++k) s[k] = scratch_.s[k] + i * depth;
        if (i < sizes_.bottom) {
          for (int64_t j = 0; j < depth; ++j) {
            const float s1 = a3[j] + a4[j], s2 = s1 - a1[j];
            s[0][j] = s1, s[1][j] = s2, s[2][j] = a1[j] - a3[j], s[3][j] = a2[j] - s2;
          }
        } else {
          for (int64_t j = 0; j < depth; ++j) s[0][j] = 0, s[1][j] = -a1[j], s[2][j] = a1[j], s[3][j] = a2[j] + a1[j];
        }
      }
    });
  }

  void multiply(const float* a, int64_t lda, Panels b, int64_t rows, const Half& to, bool add = false) {
    GemmJob job = job_of(sizes_, rows);
    const LinearRows linear = LinearRows::of_floats(a, lda, to.data, to.stride);
    job.source = linear.source();
    job.row_stride = lda;
    job.b = b_ + b * sizes_.panels();
    job.accumulate = add;
    run_gemm(isa_, job, &pool_, scratch_.tables);
  }

  int64_t block_rows(int block) const { return block <= 2 ? sizes_.top : sizes_.bottom; }
  float* block_at(int block) const {
    return c_ + (block <= 2 ? 0 : sizes_.top * ldc_) + (block % 2 == 1 ? 0 : sizes_.columns);
  }

  // C's block = x, or x + y: sums that finish_block completes.
  void put_block(int block, const Half& x, const Half& y = {nullptr, 0}) {
    const int64_t n = sizes_.columns;
    pool_.parallel_for(block_rows(block), std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* from = x.data + i * n;
        float* to = block_at(block) + i * ldc_;
        if (!y.data) std::copy_n(from, n, to);
        else
          for (int64_t j = 0; j < n; ++j) to[j] = from[j] + y.data[i * n + j];
      }
    });
  }

  // The last product of a block, and the epilogue; depth 0: the epilogue alone.
  void finish_block(int block, const float* a, int64_t lda, Panels b, int64_t depth = -1) {
    GemmJob job = job_of(sizes_, block_rows(block));
    if (depth >= 0) job.kc = depth;
    const LinearRows linear = LinearRows::of_floats(a, lda, block_at(block), ldc_);
    job.source = linear.source();
    job.row_stride = lda;
    job.b = b_ + b * sizes_.panels();
    job.accumulate = true;
    job.epilogue = epilogue_;
    if (epilogue_.bias && block % 2 == 0) job.epilogue.bias = epilogue_.bias + sizes_.columns;
    if (depth != 0) return run_gemm(isa_, job, &pool_, scratch_.tables);
    const int parts = static_cast<int>(std::min<int64_t>(pool_.threads(), job.rows));
    pool_.run(parts, [&](int part, int thread) {
      const GemmRange range{job.rows * part / parts, job.rows * (part + 1) / parts, 0, job.panels()};
      run_gemm_part(isa_, job, range,
                    scratch_.tables + static_cast<size_t>(thread) * Scratch::table_bytes(isa_, sizes_));
    });
  }

  const GemmIsa& isa_;
  Sizes sizes_;
  ThreadPool& pool_;
  Carver carver_;
  Scratch scratch_;
  const float* a_;
  int64_t lda_;
  const float* b_;
  float* c_;
  int64_t ldc_;
  TileEpilogue epilogue_;
};

const char* fits(const Problem& problem) {
  const MatmulProblem& p = of(problem);
  if (!p.types.are_f32()) return "operands other than f32";
  if (!p.b_constant || !p.b_batch.empty() || p.trans_a) return "a right side that varies, or a transposed left one";
  if (p.k % 2 != 0 || p.n % (2 * kPanel) != 0) return "a depth or width without even halves";
  return Sizes(p).rows < kLeastRows || p.k < kLeastDepth || p.n < kLeastColumns ? "less than 64x256x256" : nullptr;
}

double seconds(const GemmIsa& isa, const Problem& problem, int threads) {
  const Sizes s(of(problem));
  const double a = static_cast<double>(s.top * s.depth) * 4, c = static_cast<double>(s.top * s.columns) * 4;
  const double products = 7 * 2.0 * static_cast<double>(s.top * s.depth * s.columns);
  const double weights = static_cast<double>(kPanelsCount * s.panels()) * 4;
  return gemm_seconds(isa, products, weights + 8 * a + 4 * c, threads, 0.9) +
         (8 * a + 20 * c) / kSumBytesPerSecond / threads;
}

// One quarter of B, or a sum of quarters: [depth][columns], rows `n` apart in `b` where not transposed.
void prepack(const Problem& problem, const float* b, float* to) {
  const MatmulProblem& p = of(problem);
  const Sizes s(p);
  const int64_t row = p.trans_b ? 1 : p.n, column = p.trans_b ? p.k : 1;
  std::vector<float> sums(static_cast<size_t>(s.depth * s.columns));
  const auto pack = [&](Panels which, auto&& value) {
    for (int64_t k = 0; k < s.depth; ++k)
      for (int64_t j = 0; j < s.columns; ++j) {
        const float* b1 = b + k * row + j * column;
        const float *b2 = b1 + s.columns * column, *b3 = b1 + s.depth * row;
        sums[static_cast<size_t>(k * s.columns + j)] = value(*b1, *b2, *b3, b3[s.columns * column]);
      }
    pack_panels(kGemmBaseline, sums.data(), s.columns, false, s.depth, s.columns, to + which * s.panels());
  };
  pack(kB1, [](float b1, float, float, float) { return b1; });
  pack(kB3, [](float, float, float b3, float) { return b3; });
  pack(kB4, [](float, float, float, float b4) { return b4; });
  pack(kT1, [](float b1, float b2, float, float) { return b2 - b1; });
  pack(kT2, [](float b1, float b2, float, float b4) { return b4 - (b2 - b1); });
  pack(kT3, [](float, float b2, float, float b4) { return b4 - b2; });
  pack(kMinusT4, [](float b1, float b2, float b3, float b4) { return b3 - (b4 - (b2 - b1)); });
}

template <const GemmIsa& kIsa>
KernelRow row(std::string_view name) {
  return {
      .name = name,
      .op = OpKind::matmul,
      .needs = kIsa.level,
      .numerics = Numerics::strassen,
      .packing = Packing::strassen,
      .fits = fits,
      .cost = [](const Problem& p, int threads) { return seconds(kIsa, p, threads); },
      .workspace_bytes =
          [](const Problem& p, int threads) {
            Carver carver;
            Scratch(kIsa, Sizes(of(p)), threads, carver);
            return carver.used();
          },
      .packed_bytes = [](const Problem& p) { return static_cast<size_t>(kPanelsCount * Sizes(of(p)).panels()) * 4; },
      .prepack = [](const Problem& p, std::span<const void* const> weights,
                    void* to) { prepack(p, static_cast<const float*>(weights[0]), static_cast<float*>(to)); },
      .run = [](const Problem& p, const Args& args) { Strassen(kIsa, of(p), args).run(); }};
}

const KernelRow kStrassen[] = {row<kGemmAvx512>("matmul_f32_f32_strassen_avx512"),
                               row<kGemmAvx2>("matmul_f32_f32_strassen_avx2")};
const RegisterRows registered(kStrassen);

}  // namespace
}  // namespace trine::cpu
#endif
