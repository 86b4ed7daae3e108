// Matrix products on the microkernels. A constant right side comes packed; another one is packed first, unless there
// are so few rows that reading it once in place is all there is to do.
#include <algorithm>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/workspace.h"
#include "trine/base/thread_pool.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kRowsInPlace = 14;  // up to so many rows an unpacked B is read in place

// Everything about one call that depends on sizes alone.
struct MatmulPlan {
  int64_t batches = 1;                // products that differ in B
  int64_t rows = 0;                   // of one product
  bool in_place = false;              // B is not packed
  int batch_parts = 1;                // > 1: threads share batches; else each product is shared
  size_t a_floats = 0, b_floats = 0;  // scratch of one part

  MatmulPlan(const MatmulProblem& p, int threads) {
    bool shared_b = std::all_of(p.b_batch.begin(), p.b_batch.end(), [](int64_t d) { return d == 1; });
    int64_t all = element_count(batch_of(p));
    bool folds = shared_b && !p.trans_a && element_count(p.a_batch) == all;
    batches = folds ? std::min<int64_t>(all, 1) : all;
    rows = folds ? p.m * all : p.m;
    in_place = !p.b_constant && !p.trans_b && rows <= kRowsInPlace && p.n % kPanel == 0;
    batch_parts = static_cast<int>(std::clamp<int64_t>(batches, 1, threads));
    if (p.trans_a) a_floats = static_cast<size_t>(p.m * p.k);
    if (!p.b_constant && !in_place) b_floats = static_cast<size_t>(panels_floats(p.k, p.n));
  }
};

GemmJob job_of(const MatmulProblem& p, const MatmulPlan& plan) {
  GemmJob job;
  job.rows = plan.rows;
  job.columns = p.n;
  job.kc = p.k;
  job.row_stride = p.k;
  if (plan.in_place) job.k_stride = p.n, job.panel_stride = kPanel;
  return job;
}

size_t workspace_of(const GemmIsa& isa, const MatmulProblem& p, int threads) {
  MatmulPlan plan(p, threads);
  Carver carver;
  for (int part = 0; part < plan.batch_parts; ++part) {
    carver.take<float>(plan.a_floats);
    carver.take<float>(plan.b_floats);
  }
  carver.take<char>(static_cast<size_t>(threads) * gemm_part_bytes(isa, job_of(p, plan)));
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

void pack_in_parallel(const GemmIsa& isa, const MatmulProblem& p, const float* b, float* dst, ThreadPool& pool) {
  int64_t ld = p.trans_b ? p.k : p.n;
  pool.parallel_for((p.n + kPanel - 1) / kPanel, std::max<int64_t>(1, 8192 / std::max<int64_t>(p.k, 1)),
                    [&](int64_t begin, int64_t end) {
                      int64_t from = begin * kPanel, to = std::min(end * kPanel, p.n);
                      pack_panels(isa, b + from * (p.trans_b ? ld : 1), ld, p.trans_b, p.k, to - from,
                                  dst + begin * kPanel * p.k);
                    });
}

class Matmul {
 public:
  Matmul(const GemmIsa& isa, const MatmulProblem& p, const Args& args)
      : isa_(isa),
        p_(p),
        args_(args),
        pool_(args.pool ? *args.pool : ThreadPool::serial()),
        plan_(p, pool_.threads()),
        batch_(batch_of(p)) {
    Carver carver(args.workspace);
    a_scratch_ = carver.take<float>(0);
    for (int part = 0; part < plan_.batch_parts; ++part) {
      carver.take<float>(plan_.a_floats);
      carver.take<float>(plan_.b_floats);
    }
    part_floats_ = (plan_.a_floats + 15) / 16 * 16 + (plan_.b_floats + 15) / 16 * 16;
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
    const auto* a = static_cast<const float*>(args_.in[0]) + batch_index(index, batch_, p_.a_batch) * p_.m * p_.k;
    int64_t ldc = p_.out_row_stride ? p_.out_row_stride : p_.n;
    auto* y = static_cast<float*>(args_.out[0]);
    float* a_scratch = a_scratch_ + static_cast<size_t>(part) * part_floats_;
    if (p_.trans_a) {
      isa_.transpose(a, p_.m, a_scratch, p_.k, p_.k, p_.m);
      a = a_scratch;
    }
    GemmJob job = job_of(p_, plan_);
    job.b = b_panels(index, a_scratch + (plan_.a_floats + 15) / 16 * 16, pool);
    LinearRows rows{a, p_.k, y + index * p_.m * ldc, ldc};
    job.source = rows.source();
    job.epilogue = TileEpilogue::from(p_.epilogue, args_.bias, args_.residual, y);
    job.epilogue.scale = p_.alpha;
    size_t table = plan_.batch_parts > 1 ? static_cast<size_t>(part) * gemm_part_bytes(isa_, job) : 0;
    run_gemm(isa_, job, &pool, tables_ + table);
  }

  const float* b_panels(int64_t index, float* scratch, ThreadPool& pool) {
    if (p_.b_constant) return static_cast<const float*>(args_.packed);
    const auto* b = static_cast<const float*>(args_.in[1]) + batch_index(index, batch_, p_.b_batch) * p_.k * p_.n;
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
  float* a_scratch_;
  size_t part_floats_;
  char* tables_;
};

const MatmulProblem& of(const Problem& problem) { return std::get<MatmulProblem>(problem); }

const char* fits(const Problem& problem) {
  const MatmulProblem& p = of(problem);
  if (p.b_constant && !p.b_batch.empty()) return "a constant b with batch dimensions; only a plain matrix is packed";
  return nullptr;
}

size_t packed(const Problem& problem) {
  const MatmulProblem& p = of(problem);
  return p.b_constant ? static_cast<size_t>(panels_floats(p.k, p.n)) * sizeof(float) : 0;
}

void prepack(const Problem& problem, std::span<const void* const> weights, void* dst) {
  const MatmulProblem& p = of(problem);
  pack_panels(gemm_isa(cpu_level()), static_cast<const float*>(weights[0]), p.trans_b ? p.k : p.n, p.trans_b, p.k, p.n,
              static_cast<float*>(dst));
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {
      .name = name,
      .op = OpKind::matmul,
      .needs = kLevel,
      .packing = Packing::panels16,
      .fits = fits,
      .cost = [](const Problem& p,
                 int threads) { return gemm_seconds(gemm_isa(kLevel), flops(p), bytes(p), threads, 0.9); },
      .workspace_bytes = [](const Problem& p, int threads) { return workspace_of(gemm_isa(kLevel), of(p), threads); },
      .packed_bytes = packed,
      .prepack = prepack,
      .run = [](const Problem& p, const Args& args) { Matmul(gemm_isa(kLevel), of(p), args).run(); }};
}

const KernelRow kMatmul[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("matmul_f32_f32_panels_avx512"),
    row<CpuLevel::avx2>("matmul_f32_f32_panels_avx2"),
#endif
    row<CpuLevel::baseline>("matmul_f32_f32_panels_baseline"),
};
const RegisterRows registered(kMatmul);

}  // namespace
}  // namespace trine::cpu
