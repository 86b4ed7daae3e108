// Strided copies of any element size: transposes, slices, broadcasts, pieces of a concat. Dimensions that are one run
// on both sides are joined; then the innermost pair decides:
//
//   run        both sides contiguous: memcpy, in the order of the input, which is what prefetching needs
//   runs       many short ones at a time
//   together, apart   a transpose of few rows, or of few columns, whose short side is dense: interleave.h
//   transpose  the output contiguous along one dimension, the input along another: 16 x 16 blocks
//   elements   anything else
#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/cpu/kernels/copy/interleave.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "dnn/kernel_row.h"
#include "trine/base/error.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kChunk = 64;           // columns of a transpose in one piece of work
constexpr int64_t kLongChunk = 2048;     // of the long side of a transpose whose other side is short
constexpr int64_t kRunBytes = 64 << 10;  // of a run in one piece of work
constexpr int64_t kShortRunBytes = 128;  // of runs that are copied many at a time

struct Axis {
  int64_t size, in, out;  // strides in elements
};

// The dimensions that matter, outermost (in the output) first.
struct Axes {
  Axis axis[kMaxRank];
  int count = 0;

  explicit Axes(const CopyProblem& p) {
    for (size_t i = 0; i < p.dims.size(); ++i)
      if (p.dims[i] != 1) axis[count++] = {p.dims[i], p.in_strides[i], p.out_strides[i]};
    std::stable_sort(axis, axis + count, [](const Axis& a, const Axis& b) { return a.out > b.out; });
    join();
    if (count == 0) axis[count++] = {1, 1, 1};
  }

  const Axis& last() const { return axis[count - 1]; }
  const Axis& before_last() const { return axis[count - 2]; }
  int64_t outer() const {
    int64_t n = 1;
    for (int i = 0; i + 1 < count; ++i) n *= axis[i].size;
    return n;
  }
  // Moves axis i out of the odometer, to be the last but one.
  void move_before_last(int i) { std::rotate(axis + i, axis + i + 1, axis + count - 1); }
  // The outer ones, as the input lies.
  void order_by_input() {
    std::stable_sort(axis, axis + count - 1,
                     [](const Axis& a, const Axis& b) { return std::abs(a.in) > std::abs(b.in); });
  }

 private:
  void join() {
    int kept = 0;
    for (int i = 1; i < count; ++i) {
      Axis& a = axis[kept];
      const Axis& b = axis[i];
      bool one_run = a.in == b.in * b.size && a.out == b.out * b.size;
      if (one_run) {
        a = {a.size * b.size, b.in, b.out};
      } else {
        axis[++kept] = b;
      }
    }
    if (count) count = kept + 1;
  }
};

template <class T>
void transpose(const T* src, int64_t lds, T* dst, int64_t ldd, int64_t rows, int64_t columns) {
  for (int64_t i0 = 0; i0 < rows; i0 += 16)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = i0; i < std::min(i0 + 16, rows); ++i) dst[j * ldd + i] = src[i * lds + j];
}

template <class T>
void copy_elements(const void* in, int64_t in_stride, void* out, int64_t out_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i * out_stride] = static_cast<const T*>(in)[i * in_stride];
}

template <int64_t kBytes>
void copy_runs_of(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * out_step, in + i * in_step, kBytes);
}

void copy_runs(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t bytes, int64_t n) {
  switch (bytes) {
    case 8: return copy_runs_of<8>(in, in_step, out, out_step, n);
    case 12: return copy_runs_of<12>(in, in_step, out, out_step, n);
    case 16: return copy_runs_of<16>(in, in_step, out, out_step, n);
    default:
      for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * out_step, in + i * in_step, static_cast<size_t>(bytes));
  }
}

struct Wide {  // 16 bytes: c128
  uint64_t low, high;
};

class Copy {
 public:
  Copy(CpuLevel level, const CopyProblem& p, const Args& args)
      : isa_(gemm_isa(level)),
        axes_(p),
        bytes_(p.element_bytes),
        in_(static_cast<const char*>(args.in[0])),
        out_(static_cast<char*>(args.out[0])) {
    const Axis& last = axes_.last();
    if (last.in == 1 && last.out == 1 && axes_.count > 1 && last.size * bytes_ <= kShortRunBytes) {
      way_ = Way::runs;
      chunks_ = (axes_.before_last().size * last.size * bytes_ + kRunBytes - 1) / kRunBytes;
    } else if (last.in == 1 && last.out == 1) {
      way_ = Way::run;
      axes_.order_by_input();
      chunks_ = (last.size * bytes_ + kRunBytes - 1) / kRunBytes;
    } else if (int i = contiguous_input(); last.out == 1 && i >= 0) {
      axes_.move_before_last(i);
      choose_transpose(interleave_isa(level));
      int64_t size = way_ == Way::apart ? last.size : axes_.before_last().size;
      int64_t chunk = way_ == Way::transpose ? kChunk : kLongChunk;
      chunks_ = (size + chunk - 1) / chunk;
    }
  }

  // Pieces of work: outer positions by chunks of what is inside.
  int64_t units() const {
    int64_t inside = has_two_inside() ? axes_.before_last().size : 1;
    return axes_.outer() / inside * chunks_;
  }

  void run(int64_t begin, int64_t end) const {
    const int odometer = axes_.count - (has_two_inside() ? 2 : 1);
    int64_t at[kMaxRank], position = begin / chunks_, chunk = begin % chunks_, from = 0, to = 0;
    for (int i = odometer - 1; i >= 0; --i) {
      const Axis& a = axes_.axis[i];
      at[i] = position % a.size;
      position /= a.size;
      from += at[i] * a.in;
      to += at[i] * a.out;
    }
    for (int64_t unit = begin; unit < end; ++unit) {
      run_inside(in_ + from * bytes_, out_ + to * bytes_, chunk);
      if (++chunk < chunks_) continue;
      chunk = 0;
      for (int i = odometer - 1; i >= 0; --i) {
        const Axis& a = axes_.axis[i];
        from += a.in;
        to += a.out;
        if (++at[i] < a.size) break;
        from -= a.size * a.in;
        to -= a.size * a.out;
        at[i] = 0;
      }
    }
  }

 private:
  enum class Way { run, runs, transpose, together, apart, elements };

  bool has_two_inside() const { return way_ != Way::run && way_ != Way::elements; }  // axes that one piece goes over

  int contiguous_input() const {
    if (bytes_ > 8) return -1;
    for (int i = 0; i + 1 < axes_.count; ++i)
      if (axes_.axis[i].in == 1) return i;
    return -1;
  }

  void choose_transpose(const InterleaveIsa& isa) {
    const Axis &columns = axes_.before_last(), &rows = axes_.last();
    way_ = Way::transpose;
    if (columns.out == rows.size && (interleave_ = isa.together(bytes_, rows.size, columns.size))) way_ = Way::together;
    else if (rows.in == columns.size && (interleave_ = isa.apart(bytes_, columns.size, rows.size))) way_ = Way::apart;
  }

  // The part of an inner axis of `size` that belongs to a chunk: of about equal sizes; blocks of a transpose stay
  // whole.
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  Range range_of(int64_t chunk, int64_t size) const {
    if (chunks_ == 1) return {0, size};
    if (way_ == Way::transpose) return {chunk * kChunk, std::min((chunk + 1) * kChunk, size)};
    return {chunk * size / chunks_, (chunk + 1) * size / chunks_};
  }

  void run_inside(const char* in, char* out, int64_t chunk) const {
    const Axis& last = axes_.last();
    if (way_ == Way::run) {
      const Range r = range_of(chunk, last.size * bytes_);
      std::memcpy(out + r.begin, in + r.begin, static_cast<size_t>(r.size()));
    } else if (way_ == Way::elements) {
      copy_row(in, out, last);
    } else if (way_ == Way::runs) {
      const Axis& each = axes_.before_last();
      const Range r = range_of(chunk, each.size);
      const int64_t in_step = each.in * bytes_, out_step = each.out * bytes_;
      copy_runs(in + r.begin * in_step, in_step, out + r.begin * out_step, out_step, last.size * bytes_, r.size());
    } else {
      run_transpose(in, out, chunk);
    }
  }

  void run_transpose(const char* in, char* out, int64_t chunk) const {
    const Axis &rows = axes_.last(), &columns = axes_.before_last();
    const bool by_rows = way_ == Way::apart;
    const Range r = range_of(chunk, (by_rows ? rows : columns).size);
    in += r.begin * bytes_ * (by_rows ? rows.in : 1);
    out += r.begin * bytes_ * (by_rows ? 1 : columns.out);
    if (way_ == Way::transpose) transpose_chunk(in, rows.in, out, columns.out, rows.size, r.size());
    else interleave_(in, out, by_rows ? columns.out : rows.in, r.size());
  }

  void transpose_chunk(const char* in, int64_t lds, char* out, int64_t ldd, int64_t rows, int64_t columns) const {
    auto as = [&]<class T>(T*) {
      transpose(reinterpret_cast<const T*>(in), lds, reinterpret_cast<T*>(out), ldd, rows, columns);
    };
    switch (bytes_) {
      case 1: return as(static_cast<uint8_t*>(nullptr));
      case 2: return as(static_cast<uint16_t*>(nullptr));
      case 8: return as(static_cast<uint64_t*>(nullptr));
      default:
        isa_.transpose(reinterpret_cast<const float*>(in), lds, reinterpret_cast<float*>(out), ldd, rows, columns);
    }
  }

  void copy_row(const char* in, char* out, const Axis& a) const {
    switch (bytes_) {
      case 1: return copy_elements<uint8_t>(in, a.in, out, a.out, a.size);
      case 2: return copy_elements<uint16_t>(in, a.in, out, a.out, a.size);
      case 4: return copy_elements<uint32_t>(in, a.in, out, a.out, a.size);
      case 8: return copy_elements<uint64_t>(in, a.in, out, a.out, a.size);
      default: return copy_elements<Wide>(in, a.in, out, a.out, a.size);
    }
  }

  const GemmIsa& isa_;
  Axes axes_;
  int64_t bytes_;
  const char* in_;
  char* out_;
  Way way_ = Way::elements;
  int64_t chunks_ = 1;  // that the inner axis is divided into
  InterleaveFunction interleave_ = nullptr;
};

double copy_seconds(const Problem& problem, int threads, double bytes_per_second) {
  double seconds = bytes(problem) / bytes_per_second;
  return seconds < kMinForkSeconds || threads <= 1 ? seconds : seconds / threads + 1e-6;
}

void run_copy(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<CopyProblem>(problem);
  if (element_count(p.dims) == 0) return;
  Copy copy(level, p, args);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  int64_t grain = copy_seconds(problem, 1, 20e9) < kMinForkSeconds ? copy.units() : 1;
  pool.parallel_for(copy.units(), grain, [&](int64_t begin, int64_t end) { copy.run(begin, end); });
}

const char* fits_copy(const Problem& problem) {
  const auto& p = std::get<CopyProblem>(problem);
  if (p.dims.size() > kMaxRank) return "more than 16 dimensions";
  int64_t b = p.element_bytes;
  return b == 1 || b == 2 || b == 4 || b == 8 || b == 16 ? nullptr : "an element size other than 1, 2, 4, 8, 16";
}

template <class Index>
void check_indices(const GatherProblem& p, const Index* index) {
  for (int64_t i = 0; i < p.count; ++i) {
    int64_t at = index[i];
    if (at >= -p.axis && at < p.axis) continue;
    throw Error(ErrorCode::invalid_argument, "gather: index " + std::to_string(at) + " outside [-" +
                                                 std::to_string(p.axis) + ", " + std::to_string(p.axis - 1) + "]");
  }
}

template <class Index>
void run_gather(const GatherProblem& p, const Args& args, const Index* index) {
  check_indices(p, index);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  int64_t grain = std::max<int64_t>(1, (64 << 10) / std::max<int64_t>(p.inner_bytes, 1));
  pool.parallel_for(p.outer * p.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = index[i % p.count];
      int64_t row = i / p.count * p.axis + (at < 0 ? at + p.axis : at);
      std::memcpy(static_cast<char*>(args.out[0]) + i * p.inner_bytes,
                  static_cast<const char*>(args.in[0]) + row * p.inner_bytes, static_cast<size_t>(p.inner_bytes));
    }
  });
}

template <CpuLevel kLevel>
KernelRow copy_row(std::string_view name) {
  static constexpr double kRate = kLevel == CpuLevel::avx512 ? 20e9 : kLevel == CpuLevel::avx2 ? 15e9 : 8e9;
  return {.name = name,
          .op = OpKind::copy,
          .needs = kLevel,
          .in = DType::none,
          .out = DType::none,
          .fits = fits_copy,
          .cost = [](const Problem& p, int threads) { return copy_seconds(p, threads, kRate); },
          .run = [](const Problem& p, const Args& args) { run_copy(kLevel, p, args); }};
}

const KernelRow kCopies[] = {
#if defined(__x86_64__)
    copy_row<CpuLevel::avx512>("copy_strided_avx512"),
    copy_row<CpuLevel::avx2>("copy_strided_avx2"),
#endif
    copy_row<CpuLevel::baseline>("copy_strided_baseline"),
    {.name = "gather_rows_baseline",
     .op = OpKind::gather,
     .needs = CpuLevel::baseline,
     .in = DType::none,
     .out = DType::none,
     .fits = [](const Problem& p) -> const char* {
       DType index = std::get<GatherProblem>(p).index;
       return index == DType::i32 || index == DType::i64 ? nullptr : "indices other than i32 and i64";
     },
     .cost = [](const Problem& p, int threads) { return copy_seconds(p, threads, 20e9); },
     .run =
         [](const Problem& problem, const Args& args) {
           const auto& p = std::get<GatherProblem>(problem);
           p.index == DType::i64 ? run_gather(p, args, static_cast<const int64_t*>(args.in[1]))
                                 : run_gather(p, args, static_cast<const int32_t*>(args.in[1]));
         }},
};
const RegisterRows registered(kCopies);

}  // namespace

const InterleaveIsa& interleave_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kInterleaveAvx512;
  if (level == CpuLevel::avx2) return kInterleaveAvx2;
#endif
  return kInterleaveBaseline;
}

}  // namespace trine::cpu
