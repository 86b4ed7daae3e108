// Matrix products on the microkernels. A constant right side comes packed; another one is packed first, unless there
// are so few rows that reading it once in place is all there is to do.
#include <algorithm>

#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kRowsInPlace = 14;  // up to so many rows an unpacked B is read in place

const MatmulProblem& of(const Problem& problem) { return std::get<MatmulProblem>(problem); }

WeightShape weights_of(const MatmulProblem& p) { return {1, p.k, p.n, 0, p.trans_b ? 1 : p.n, p.trans_b ? p.k : 1}; }

// Everything about one call that depends on sizes alone.
struct MatmulPlan {
  int64_t batches = 1;                                // products that differ in B
  int64_t rows = 0;                                   // of one product
  bool in_place = false;                              // B is not packed
  int batch_parts = 1;                                // > 1: threads share batches; else each product is shared
  size_t a_bytes = 0, b_bytes = 0, column_bytes = 0;  // scratch of one part

  MatmulPlan(const GemmIsa& isa, const MatmulProblem& p, int threads) {
    bool shared_b = std::all_of(p.b_batch.begin(), p.b_batch.end(), [](int64_t d) { return d == 1; });
    int64_t all = element_count(batch_of(p));
    bool folds = shared_b && !p.trans_a && element_count(p.a_batch) == all;
    batches = folds ? std::min<int64_t>(all, 1) : all;
    rows = folds ? p.m * all : p.m;
    in_place = isa.format == DType::f32 && !p.b_constant && !p.trans_b && rows <= kRowsInPlace && p.n % kPanel == 0;
    batch_parts = static_cast<int>(std::clamp<int64_t>(batches, 1, threads));
    if (p.trans_a) a_bytes = static_cast<size_t>(p.m * p.k * isa.element_bytes());
    if (!p.b_constant && !in_place) b_bytes = static_cast<size_t>(packed_bytes(isa, weights_of(p)));
    column_bytes = ColumnNumbers::bytes(p.types, 1, p.n);
  }
};

GemmJob job_of(const GemmIsa& isa, const MatmulProblem& p, const MatmulPlan& plan) {
  GemmJob job;
  job.rows = plan.rows;
  job.columns = p.n;
  job.set_depth(isa, p.k);
  job.row_stride = p.k * isa.element_bytes() / 4;
  job.epilogue.out = p.types.out;
  if (plan.in_place) job.k_stride = p.n, job.panel_stride = kPanel;
  return job;
}

// Scratch of one part: a transposed A, panels of B, numbers by column.
struct Scratch {
  char *a, *b, *columns;

  Scratch(Carver& carver, const MatmulPlan& plan)
      : a(carver.take<char>(plan.a_bytes)),
        b(carver.take<char>(plan.b_bytes)),
        columns(carver.take<char>(plan.column_bytes)) {}
};

size_t workspace_of(const GemmIsa& isa, const Problem& problem, int threads) {
  const MatmulProblem& p = of(problem);
  MatmulPlan plan(isa, p, threads);
  Carver carver;
  for (int part = 0; part < plan.batch_parts; ++part) Scratch(carver, plan);
  carver.take<char>(static_cast<size_t>(threads) * gemm_part_bytes(isa, job_of(isa, p, plan)));
  return carver.used();
}

// Offset of a matrix in an operand whose batch dimensions broadcast to `batch`.
int64_t batch_index(int64_t index, const Dims& batch, const Dims& own) {
  int64_t result = 0, stride = 1;
  for (size_t i = batch.size(); i-- > 0;) {
    int64_t at = index % batch[i];
    index /= batch[i];
    size_t lacking = batch.size() - own.size();
    if (i < lacking) break;
    int64_t d = own[i - lacking];
    if (d != 1) result += at * stride;
    stride *= d;
  }
  return result;
}

void pack_in_parallel(const GemmIsa& isa, const MatmulProblem& p, const void* b, void* dst, ThreadPool& pool) {
  WeightShape shape = weights_of(p);
  pool.parallel_for(shape.padded_columns() / kPanel, std::max<int64_t>(1, 8192 / std::max<int64_t>(p.k, 1)),
                    [&](int64_t begin, int64_t end) { pack_weights(isa, b, shape, begin, end, dst); });
}

// to[j][i] = from[i][j], i < rows, j < columns.
template <class T>
void transpose(const void* from, int64_t rows, int64_t columns, void* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      static_cast<T*>(to)[j * rows + i] = static_cast<const T*>(from)[i * columns + j];
}

void transpose_a(const GemmIsa& isa, const MatmulProblem& p, const void* a, void* to) {
  if (isa.format == DType::f32)
    return isa.transpose(static_cast<const float*>(a), p.m, static_cast<float*>(to), p.k, p.k, p.m);
  isa.format == DType::bf16 ? transpose<uint16_t>(a, p.k, p.m, to) : transpose<uint8_t>(a, p.k, p.m, to);
}

class Matmul {
 public:
  Matmul(const GemmIsa& isa, const MatmulProblem& p, const Args& args)
      : isa_(isa),
        p_(p),
        args_(args),
        pool_(args.pool ? *args.pool : ThreadPool::serial()),
        plan_(isa, p, pool_.threads()),
        batch_(batch_of(p)) {
    Carver carver(args.workspace);
    for (int part = 0; part < plan_.batch_parts; ++part) scratch_.emplace_back(carver, plan_);
    tables_ = carver.take<char>(0);
  }

  void run() {
    bool shares_batches = plan_.batch_parts > 1;
    pool_.run(plan_.batch_parts, [&](int part, int) {
      int64_t begin = plan_.batches * part / plan_.batch_parts, end = plan_.batches * (part + 1) / plan_.batch_parts;
      for (int64_t i = begin; i < end; ++i) multiply(i, part, shares_batches ? ThreadPool::serial() : pool_);
    });
  }

 private:
  void multiply(int64_t index, int part, ThreadPool& pool) {
    int64_t in_bytes = isa_.element_bytes(), out_bytes = static_cast<int64_t>(byte_size(p_.types.out));
    const char* a =
        static_cast<const char*>(args_.in[0]) + batch_index(index, batch_, p_.a_batch) * p_.m * p_.k * in_bytes;
    int64_t c_step = (p_.out_row_stride ? p_.out_row_stride : p_.n) * out_bytes;
    auto* y = static_cast<char*>(args_.out[0]);
    const Scratch& scratch = scratch_[static_cast<size_t>(part)];
    if (p_.trans_a) {
      transpose_a(isa_, p_, a, scratch.a);
      a = scratch.a;
    }
    GemmJob job = job_of(isa_, p_, plan_);
    const void* b = b_panels(index, scratch.b, pool);
    job.b = static_cast<const float*>(b);
    LinearRows rows{a, p_.k * in_bytes, y + index * p_.m * c_step, c_step};
    job.source = rows.source();
    job.epilogue = TileEpilogue::from(p_.epilogue, args_.bias, args_.residual, y, p_.types.out);
    job.epilogue.scale = p_.alpha;
    ColumnNumbers columns(p_.types, args_, 1, p_.n, scratch.columns);
    columns.fill(0, isa_, weights_of(p_), b, p_.alpha);
    columns.set(0, job.epilogue);
    size_t table = plan_.batch_parts > 1 ? static_cast<size_t>(part) * gemm_part_bytes(isa_, job) : 0;
    run_gemm(isa_, job, &pool, tables_ + table);
  }

  const void* b_panels(int64_t index, void* scratch, ThreadPool& pool) {
    if (p_.b_constant) return args_.packed;
    int64_t at = batch_index(index, batch_, p_.b_batch) * p_.k * p_.n * isa_.element_bytes();
    const char* b = static_cast<const char*>(args_.in[1]) + at;
    if (plan_.in_place) return b;
    pack_in_parallel(isa_, p_, b, scratch, pool);
    return scratch;
  }

  const GemmIsa& isa_;
  const MatmulProblem& p_;
  const Args& args_;
  ThreadPool& pool_;
  MatmulPlan plan_;
  Dims batch_;
  std::vector<Scratch> scratch_;
  char* tables_;
};

const char* refusal(const GemmIsa& isa, const Problem& problem) {
  const MatmulProblem& p = of(problem);
  if (p.b_constant && !p.b_batch.empty()) return "a constant b with batch dimensions; only a plain matrix is packed";
  if (p.types.out == DType::i32 && p.alpha != 1) return "i32 sums with a factor";
  return types_refusal(isa, p.types, p.epilogue);
}

size_t packed(const GemmIsa& isa, const Problem& p) {
  return of(p).b_constant ? static_cast<size_t>(packed_bytes(isa, weights_of(of(p)))) : 0;
}

void prepack(const GemmIsa& isa, const Problem& p, std::span<const void* const> weights, void* to) {
  WeightShape shape = weights_of(of(p));
  pack_weights(isa, weights[0], shape, 0, shape.padded_columns() / kPanel, to);
}

void run(const GemmIsa& isa, const Problem& p, const Args& args) { Matmul(isa, of(p), args).run(); }

template <const GemmIsa& kIsa>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::matmul,
          .needs = kIsa.level,
          .also_needs = kIsa.features,
          .in = kIsa.format,
          .out = kIsa.format,
          .packing = packing_of(kIsa),
          .fits = [](const Problem& p) { return refusal(kIsa, p); },
          .cost = [](const Problem& p, int threads) { return gemm_seconds(kIsa, flops(p), bytes(p), threads, 0.9); },
          .workspace_bytes = [](const Problem& p, int threads) { return workspace_of(kIsa, p, threads); },
          .packed_bytes = [](const Problem& p) { return packed(kIsa, p); },
          .prepack = [](const Problem& p, std::span<const void* const> weights,
                        void* to) { prepack(kIsa, p, weights, to); },
          .run = [](const Problem& p, const Args& args) { run(kIsa, p, args); }};
}

const KernelRow kMatmul[] = {
#if defined(__x86_64__)
    row<kGemmAvx512>("matmul_f32_f32_panels_avx512"),
    row<kGemmAvx512Bf16>("matmul_bf16_bf16_panels_avx512_bf16"),
    row<kGemmAvx512Vnni>("matmul_int8_int8_panels_avx512_vnni"),
    row<kGemmAvx2>("matmul_f32_f32_panels_avx2"),
    row<kGemmBf16Avx2>("matmul_bf16_bf16_panels_avx2"),
    row<kGemmInt8Avx2>("matmul_int8_int8_panels_avx2"),
#endif
    row<kGemmBaseline>("matmul_f32_f32_panels_baseline"),
    row<kGemmBf16Baseline>("matmul_bf16_bf16_panels_baseline"),
    row<kGemmInt8Baseline>("matmul_int8_int8_panels_baseline"),
};
const RegisterRows registered(kMatmul);

}  // namespace
}  // namespace trine::cpu
