// Problems of f16, bf16 and 8-bit integers by the rows of f32, a slice of the problem at a time: its operands are
// widened into the workspace, its results rounded from there. So each result is that of the f32 row on the same
// numbers, rounded once, to nearest, ties to even; 8-bit integers saturate.
#include "backends/cpu/kernels/deal.h"
#include "backends/cpu/kernels/workspace.h"
#include "backends/cpu/primitives/narrow/slices.h"
#include "backends/cpu/primitives/transform/transform.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kSliceElements = 256 << 10;  // of all operands of a slice together: 1 MB of f32

int64_t total(const OperandSizes& s) {
  int64_t sum = s.residual;
  for (int i = 0; i < kMostOperands; ++i) sum += s.in[i] + s.out[i];
  return sum;
}

// Units of a slice.
int64_t units_per_slice(const Problem& problem, const Slices& slices) {
  if (slices.units == 0) return 0;
  const int64_t each = std::max<int64_t>(1, total(operand_sizes(problem)) / slices.units);
  return std::clamp<int64_t>(kSliceElements / each, std::min(slices.least, slices.units), slices.units);
}

// The row of f32 that the cost model prefers on this level.
const KernelRow* inner_row(const Problem& f32, CpuLevel level) {
  const KernelRow* best = nullptr;
  for (const KernelRow* row : dnn::rows_of(op_kind(f32)))
    if (row->in == DType::f32 && row->needs <= level && row->also_needs == CpuFeatures{} &&
        row->packing != Packing::recurrent && !misfit(*row, f32) && (!best || row->cost(f32, 1) < best->cost(f32, 1)))
      best = row;
  return best;
}

// A slice of `units` units, and its operands in f32 where they are not.
struct Buffers {
  float *in[kMostOperands] = {}, *out[kMostOperands] = {}, *residual = nullptr;
  char* inner = nullptr;

  Buffers(Carver& carver, const Problem& problem, const Problem& slice, const KernelRow& row, int threads) {
    const OperandSizes own = operand_sizes(slice), types = operand_sizes(problem);
    const NarrowTypes narrow = narrow_types(problem);
    const auto take = [&](Side side, int i, DType type, int64_t size) {
      const bool is_copied = is_narrow(type, narrow) || is_apart(problem, side, i);
      return is_copied ? carver.take<float>(static_cast<size_t>(size)) : nullptr;
    };
    for (int i = 0; i < kMostOperands; ++i) {
      in[i] = take(Side::in, i, types.in_types[i], own.in[i]);
      out[i] = take(Side::out, i, types.out_types[i], own.out[i]);
    }
    residual = take(Side::residual, 0, types.residual_type, own.residual);
    inner = carver.take<char>(dnn::workspace_bytes(row, slice, threads));
  }
};

class ByF32 {
 public:
  ByF32(CpuLevel level, const Problem& problem, const Args& args)
      : kernel_(transform_kernel(level)),
        problem_(problem),
        args_(args),
        sizes_(operand_sizes(problem)),
        slices_(slices_of(problem)),
        per_slice_(units_per_slice(problem, slices_)),
        row_(*inner_row(slice_of(problem, 0, per_slice_), level)),
        pool_(pool_of(args)) {}

  void run() {
    for (int64_t begin = 0; begin < slices_.units; begin += per_slice_)
      run_slice(begin, std::min(begin + per_slice_, slices_.units));
  }

 private:
  void run_slice(int64_t begin, int64_t end) {
    const Problem slice = slice_of(problem_, begin, end);
    Carver carver(args_.workspace);
    const Buffers b(carver, problem_, slice, row_, pool_.threads());
    Args inner;
    for (int i = 0; i < kMostOperands; ++i) {
      const void* from = at(args_.in[i], sizes_.in_types[i], begin * slices_.in_step[i]);
      inner.in[i] =
          b.in[i] && from && sizes_.in[i] ? widen(slice, Side::in, i, sizes_.in_types[i], from, b.in[i]) : from;
      void* to = const_cast<void*>(at(args_.out[i], sizes_.out_types[i], begin * slices_.out_step[i]));
      inner.out[i] = b.out[i] && to ? b.out[i] : to;
      if (is_added_to() && b.out[i] && to) widen(slice, Side::out, i, sizes_.out_types[i], to, b.out[i]);
    }
    const void* z = at(args_.residual, sizes_.residual_type, begin * slices_.residual_step);
    inner.residual = b.residual && z ? widen(slice, Side::residual, 0, sizes_.residual_type, z, b.residual) : z;
    inner.packed = args_.packed;
    inner.bias = args_.bias;
    inner.workspace = b.inner;
    inner.pool = args_.pool;
    row_.run(slice, inner);
    for (int i = 0; i < kMostOperands; ++i)
      if (b.out[i] && args_.out[i])
        narrow(slice, i, b.out[i],
               const_cast<void*>(at(args_.out[i], sizes_.out_types[i], begin * slices_.out_step[i])));
  }

  static const void* at(const void* p, DType type, int64_t elements) {
    return p ? static_cast<const char*>(p) + elements * static_cast<int64_t>(byte_size(type)) : nullptr;
  }

  bool is_added_to() const {
    if (const auto* rnn = std::get_if<RnnProblem>(&problem_)) return rnn->add;
    const auto* weights = std::get_if<ConvWeightsProblem>(&problem_);
    return weights && weights->add;
  }

  const float* widen(const Problem& slice, Side side, int i, DType type, const void* from, float* to) const {
    for_runs(rows_of_operand(problem_, slice, side, i), [&](int64_t offset, int64_t of_slice, int64_t n) {
      kernel_({type, DType::f32, at(from, type, offset), to + of_slice, 1, 1, n, 1, 0});
    });
    return to;
  }
  void narrow(const Problem& slice, int i, const float* from, void* to) const {
    const DType type = sizes_.out_types[i];
    for_runs(rows_of_operand(problem_, slice, Side::out, i), [&](int64_t offset, int64_t of_slice, int64_t n) {
      kernel_({DType::f32, type, from + of_slice, const_cast<void*>(at(to, type, offset)), 1, 1, n, 1, 0});
    });
  }

  // use(offset in the operand, in the slice, elements). Long rows are dealt in pieces, short ones together.
  template <class Use>
  void for_runs(const Rows& rows, Use use) const {
    const int64_t per_row = pieces(rows.length);
    const int64_t grain = std::max<int64_t>(1, 4 * kPieceElements / std::max<int64_t>(rows.length, 1));
    pool_.parallel_for(rows.number() * per_row, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t inside = unit % per_row * kPieceElements, row = unit / per_row;
        use(rows.offset(row) + inside, rows.slice_offset(row) + inside, std::min(kPieceElements, rows.length - inside));
      }
    });
  }

  TransformKernel kernel_;
  const Problem& problem_;
  const Args& args_;
  OperandSizes sizes_;
  Slices slices_;
  int64_t per_slice_;
  const KernelRow& row_;
  ThreadPool& pool_;
};

// The first slice; that of the end may be smaller.
Problem first_slice(const Problem& problem) {
  return slice_of(problem, 0, units_per_slice(problem, slices_of(problem)));
}

template <CpuLevel kLevel>
const char* fits(const Problem& problem) {
  const OperandSizes sizes = operand_sizes(problem);
  const NarrowTypes narrow = narrow_types(problem);
  const auto known = [&](DType type, int64_t size) {
    return size == 0 || type == DType::f32 || type == DType::i32 || is_narrow(type, narrow) || type == DType::boolean;
  };
  bool all = true;
  for (int i = 0; i < kMostOperands; ++i)
    all = all && known(sizes.in_types[i], sizes.in[i]) && known(sizes.out_types[i], sizes.out[i]);
  if (!all)
    return narrow == NarrowTypes::all ? "types other than f32, f16, bf16, i8 and u8"
                                      : "types other than f32, f16, bf16";
  if (type_of(problem) == DType::f32) return "operands of f32 throughout";
  const Problem f32 = first_slice(problem);
  if (inner_row(f32, kLevel)) return nullptr;
  for (const KernelRow* row : dnn::rows_of(op_kind(f32)))
    if (row->in == DType::f32 && row->needs <= kLevel)
      if (const char* reason = row->fits(f32)) return reason;
  return "no row of f32";
}

template <CpuLevel kLevel>
double seconds(const Problem& problem, int threads) {
  const Problem f32 = slice_of(problem, 0, slices_of(problem).units);
  const KernelRow* row = inner_row(f32, kLevel);
  return (row ? row->cost(f32, threads) : 0) + static_cast<double>(total(operand_sizes(problem))) * 0.3e-9 / threads;
}

template <CpuLevel kLevel>
size_t workspace(const Problem& problem, int threads) {
  const Slices slices = slices_of(problem);
  const int64_t units = units_per_slice(problem, slices), rest = units ? slices.units % units : 0;
  size_t most = 0;
  const KernelRow& row = *inner_row(slice_of(problem, 0, units), kLevel);
  for (int64_t end : {units, rest}) {
    if (end == 0) continue;
    Carver carver;
    Buffers(carver, problem, slice_of(problem, 0, end), row, threads);
    most = std::max(most, carver.used());
  }
  return most;
}

template <CpuLevel kLevel>
size_t packed(const Problem& problem) {
  const Problem f32 = first_slice(problem);
  return dnn::packed_bytes(*inner_row(f32, kLevel), f32);
}

template <CpuLevel kLevel>
void prepack(const Problem& problem, std::span<const void* const> weights, void* to) {
  const OperandSizes sizes = operand_sizes(problem);
  std::vector<float> wide[kMostWeights];
  const void* list[kMostWeights] = {};
  for (size_t i = 0; i < kMostWeights && i < weights.size(); ++i) {
    wide[i].resize(weights[i] ? static_cast<size_t>(sizes.weights[i]) : 0);
    if (!weights[i]) continue;
    transform_kernel(kLevel)({sizes.weight_types[i], DType::f32, weights[i], wide[i].data(), 1, 1,
                              static_cast<int64_t>(wide[i].size()), 1, 0});
    list[i] = wide[i].data();
  }
  const Problem f32 = first_slice(problem);
  inner_row(f32, kLevel)->prepack(f32, std::span<const void* const>(list), to);
}

template <CpuLevel kLevel>
KernelRow row(OpKind op, std::string_view name) {
  KernelRow row = {.name = name,
                   .op = op,
                   .needs = kLevel,
                   .in = DType::f16,
                   .out = DType::f16,
                   .fits = fits<kLevel>,
                   .cost = seconds<kLevel>,
                   .workspace_bytes = workspace<kLevel>,
                   .run = [](const Problem& p, const Args& args) { ByF32(kLevel, p, args).run(); }};
  if (op == OpKind::rnn) {
    row.packing = Packing::recurrent_layers;
    row.packed_bytes = packed<kLevel>;
    row.prepack = prepack<kLevel>;
  }
  return row;
}

struct Kind {
  OpKind op;
  std::string_view avx512, avx2, baseline;
};
constexpr Kind kKinds[] = {
    {OpKind::pool, "pool_f16_f16_by_f32_avx512", "pool_f16_f16_by_f32_avx2", "pool_f16_f16_by_f32_baseline"},
    {OpKind::resize, "resize_f16_f16_by_f32_avx512", "resize_f16_f16_by_f32_avx2", "resize_f16_f16_by_f32_baseline"},
    {OpKind::activation, "activation_f16_f16_by_f32_avx512", "activation_f16_f16_by_f32_avx2",
     "activation_f16_f16_by_f32_baseline"},
    {OpKind::binary, "binary_f16_f16_by_f32_avx512", "binary_f16_f16_by_f32_avx2", "binary_f16_f16_by_f32_baseline"},
    {OpKind::reduce, "reduce_f16_f16_by_f32_avx512", "reduce_f16_f16_by_f32_avx2", "reduce_f16_f16_by_f32_baseline"},
    {OpKind::attention, "attention_f16_f16_by_f32_avx512", "attention_f16_f16_by_f32_avx2",
     "attention_f16_f16_by_f32_baseline"},
    {OpKind::rnn, "rnn_f16_f16_by_f32_avx512", "rnn_f16_f16_by_f32_avx2", "rnn_f16_f16_by_f32_baseline"},
    {OpKind::conv_weights, "conv_weights_f16_f16_by_f32_avx512", "conv_weights_f16_f16_by_f32_avx2",
     "conv_weights_f16_f16_by_f32_baseline"},
    {OpKind::grid_sample, "grid_sample_f16_f16_by_f32_avx512", "grid_sample_f16_f16_by_f32_avx2",
     "grid_sample_f16_f16_by_f32_baseline"},
    {OpKind::dropout, "dropout_f16_f16_by_f32_avx512", "dropout_f16_f16_by_f32_avx2",
     "dropout_f16_f16_by_f32_baseline"},
    {OpKind::softmax, "softmax_f16_f16_by_f32_avx512", "softmax_f16_f16_by_f32_avx2",
     "softmax_f16_f16_by_f32_baseline"},
    {OpKind::pool_backward, "pool_backward_f16_f16_by_f32_avx512", "pool_backward_f16_f16_by_f32_avx2",
     "pool_backward_f16_f16_by_f32_baseline"},
    {OpKind::norm, "norm_f16_f16_by_f32_avx512", "norm_f16_f16_by_f32_avx2", "norm_f16_f16_by_f32_baseline"},
    {OpKind::lrn, "lrn_f16_f16_by_f32_avx512", "lrn_f16_f16_by_f32_avx2", "lrn_f16_f16_by_f32_baseline"},
};

std::vector<KernelRow> make_rows() {
  std::vector<KernelRow> rows;
#if defined(__x86_64__)
  for (const Kind& kind : kKinds) rows.push_back(row<CpuLevel::avx512>(kind.op, kind.avx512));
  for (const Kind& kind : kKinds) rows.push_back(row<CpuLevel::avx2>(kind.op, kind.avx2));
#endif
  for (const Kind& kind : kKinds) rows.push_back(row<CpuLevel::baseline>(kind.op, kind.baseline));
  return rows;
}

const std::vector<KernelRow> kRows = make_rows();
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
