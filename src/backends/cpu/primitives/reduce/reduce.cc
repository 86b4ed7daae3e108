// Reductions over any dimensions. Neighbouring dimensions that are both reduced, or both kept, are one; the innermost
// decides: a reduced one makes rows, a kept one columns, 64 of which are a piece of work. A result's elements are gone
// through in order by one thread.
#include "backends/cpu/primitives/reduce/reduce.h"

#include <cmath>

#include "backends/cpu/kernels/deal.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kColumns = 64;

const ReduceIsa& reduce_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kReduceAvx512;
  if (level == CpuLevel::avx2) return kReduceAvx2;
#endif
  return kReduceBaseline;
}

// Dimensions of one sort, the innermost first.
struct Axes {
  struct Axis {
    int64_t size, stride;
  };
  Axis axis[kMaxRank];
  int count = 0;

  void put(Axis a) {
    if (count && axis[count - 1].size * axis[count - 1].stride == a.stride) {
      axis[count - 1].size *= a.size;
    } else {
      axis[count++] = a;
    }
  }
  bool is_contiguous() const { return count > 0 && axis[0].stride == 1; }
  int64_t positions(int from) const {
    int64_t n = 1;
    for (int i = from; i < count; ++i) n *= axis[i].size;
    return n;
  }
  // Of a position in the dimensions `from` and outwards.
  int64_t offset(int64_t position, int from) const {
    int64_t at = 0;
    for (int i = from; i < count; position /= axis[i++].size) at += position % axis[i].size * axis[i].stride;
    return at;
  }
};

double neutral(ReduceKind kind) {
  if (kind == ReduceKind::mul || kind == ReduceKind::mul_no_zeros) return 1;
  return kind == ReduceKind::min ? INFINITY : kind == ReduceKind::max ? -INFINITY : 0;
}

class Reduce {
 public:
  Reduce(CpuLevel level, const Problem& problem, const Args& args)
      : isa_(reduce_isa(level)), level_(level), problem_(problem), p_(std::get<ReduceProblem>(problem)), args_(args) {
    int64_t stride = 1;
    for (size_t i = p_.dims.size(); i-- > 0; stride *= p_.dims[i])
      if (p_.dims[i] != 1) (p_.out_dims[i] == p_.dims[i] ? kept_ : reduced_).put({p_.dims[i], stride});
  }

  void run() const {
    if (element_count(p_.out_dims) == 0) return;
    if (reduced_.positions(0) == 0) return deal_units(kept_.positions(0), [&](int64_t unit) { run_nothing(unit); });
    if (p_.indices) return deal_units(kept_.positions(0), [&](int64_t unit) { run_with_index(unit); });
    if (!kept_.is_contiguous()) return deal_units(kept_.positions(0), [&](int64_t unit) { run_row(unit); });
    deal_units(kept_.positions(1) * pieces(kept_.axis[0].size, kColumns), [&](int64_t unit) { run_columns(unit); });
  }

 private:
  template <class Body>
  void deal_units(int64_t units, Body body) const {
    deal(level_, problem_, args_, units, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) body(unit);
    });
  }
  const float* in() const { return static_cast<const float*>(args_.in[0]); }

  void put(int64_t at, double value) const {
    if (p_.kind == ReduceKind::avg) value /= static_cast<double>(reduced_.positions(0));
    if (p_.kind == ReduceKind::norm2) value = std::sqrt(value);
    value *= p_.alpha;
    if (p_.beta != 0)
      value += static_cast<double>(p_.beta) * static_cast<double>(static_cast<const float*>(args_.in[1])[at]);
    static_cast<float*>(args_.out[0])[at] = static_cast<float>(value);
  }

  void put_index(int64_t at, int64_t where) const {
    if (p_.indices) static_cast<int32_t*>(args_.out[1])[at] = static_cast<int32_t>(where);
  }

  // Of no elements: `a` may have no address.
  void run_nothing(int64_t unit) const {
    put(unit, neutral(p_.kind));
    put_index(unit, 0);
  }

  void run_row(int64_t unit) const {
    const float* x = in() + kept_.offset(unit, 0);
    const bool is_run = reduced_.is_contiguous();
    const int64_t n = is_run ? reduced_.axis[0].size : 1;
    double result = neutral(p_.kind);
    for (int64_t r = 0; r < reduced_.positions(is_run ? 1 : 0); ++r)
      result = isa_.row(p_.kind, x + reduced_.offset(r, is_run ? 1 : 0), n, result);
    put(unit, result);
  }

  void run_columns(int64_t unit) const {
    const int64_t width = kept_.axis[0].size, blocks = pieces(width, kColumns), first = unit % blocks * kColumns;
    const int columns = static_cast<int>(std::min(kColumns, width - first));
    const float* x = in() + kept_.offset(unit / blocks, 1) + first;
    float result[kColumns];
    std::fill_n(result, columns, static_cast<float>(neutral(p_.kind)));
    const Axes::Axis rows = reduced_.count ? reduced_.axis[0] : Axes::Axis{1, 0};
    for (int64_t r = 0; r < reduced_.positions(1); ++r)
      isa_.columns(p_.kind, x + reduced_.offset(r, 1), rows.size, rows.stride, columns, result);
    for (int c = 0; c < columns; ++c) put(unit / blocks * width + first + c, static_cast<double>(result[c]));
  }

  void run_with_index(int64_t unit) const {
    const float* x = in() + kept_.offset(unit, 0);
    double best = neutral(p_.kind);
    int64_t where = 0;
    for (int64_t r = 0; r < reduced_.positions(0); ++r) {
      double v = static_cast<double>(x[reduced_.offset(r, 0)]);
      if (p_.kind == ReduceKind::amax) v = std::abs(v);
      const bool better = r == 0 || (p_.kind == ReduceKind::min ? v < best : v > best);
      if (std::isnan(best) || !(better || std::isnan(v))) continue;
      best = v, where = r;
    }
    put(unit, best);
    put_index(unit, where);
  }

  const ReduceIsa& isa_;
  CpuLevel level_;
  const Problem& problem_;
  const ReduceProblem& p_;
  const Args& args_;
  Axes kept_, reduced_;
};

void run(CpuLevel level, const Problem& problem, const Args& args) { Reduce(level, problem, args).run(); }

const char* fits(const Problem& problem) {
  const auto& p = std::get<ReduceProblem>(problem);
  if (p.dims.size() > kMaxRank) return "more than 16 dimensions";
  if (p.dims.size() != p.out_dims.size()) return "dimensions of the result other in number than those of a";
  for (size_t i = 0; i < p.dims.size(); ++i)
    if (p.out_dims[i] != p.dims[i] && p.out_dims[i] != 1) return "a dimension of the result neither that of a nor 1";
  const bool has_place = p.kind == ReduceKind::min || p.kind == ReduceKind::max || p.kind == ReduceKind::amax;
  if (p.indices && (!has_place || element_count(p.dims) > INT32_MAX)) return "indices of a sum, or past i32";
  return nullptr;
}

const KernelRow kRows[] = {
#if defined(__x86_64__)
    stream_row<CpuLevel::avx512, run>("reduce_f32_avx512", OpKind::reduce, fits),
    stream_row<CpuLevel::avx2, run>("reduce_f32_avx2", OpKind::reduce, fits),
#endif
    stream_row<CpuLevel::baseline, run>("reduce_f32_baseline", OpKind::reduce, fits),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
