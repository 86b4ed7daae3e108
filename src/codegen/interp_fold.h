// The interpreter's folds, for one CPU level (see interp_simd.h).
//
// Along a vector loop element i joins lane i % 32 of the running result, and the lanes join at the end in a fixed tree:
// the order of additions does not depend on the machine's vector width. Along another loop the running result is a
// tile.
#pragma once

#include "codegen/interp_compute.h"

namespace trine::codegen::interp {
namespace {

constexpr int64_t kFoldLanes = 32;

template <class T>
struct Sum {
  static Vec<T> join(Vec<T> a, Vec<T> b) { return a + b; }
  static T identity() { return T(0); }
};
template <class T>
struct Prod {
  static Vec<T> join(Vec<T> a, Vec<T> b) { return a * b; }
  static T identity() { return T(1); }
};
template <class T>
T lowest() {
  if constexpr (T(0.5) != T(0)) return static_cast<T>(-__builtin_inf());
  else return T(-1) < T(0) ? static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1)) : T(0);
}
template <class T>
T highest() {
  if constexpr (T(0.5) != T(0)) return static_cast<T>(__builtin_inf());
  else return static_cast<T>(~lowest<T>());
}
template <class T>
struct Min {
  static Vec<T> join(Vec<T> a, Vec<T> b) { return minimum<T>(a, b); }
  static T identity() { return highest<T>(); }
};
template <class T>
struct Max {
  static Vec<T> join(Vec<T> a, Vec<T> b) { return maximum<T>(a, b); }
  static T identity() { return lowest<T>(); }
};
template <class T>
struct Any {
  static Vec<T> join(Vec<T> a, Vec<T> b) { return a | b; }
  static T identity() { return 0; }
};
template <class T>
struct All {
  static Vec<T> join(Vec<T> a, Vec<T> b) { return a & b; }
  static T identity() { return T(-1); }
};

template <class T, class Fold>
void fold_start(const Op& op, Frame& f) {
  T* out = reinterpret_cast<T*>(f.slots + op.slot);
  const int64_t n = op.vector ? padded(op, f) : kFoldLanes;
  for (int64_t i = 0; i < n; ++i) out[i] = Fold::identity();
  f.value[op.dst] = f.slots + op.slot;
}

// The running result is a tile (or a uniform value).
template <class T, class Fold>
void fold_tile(const Op& op, Frame& f) {
  char* acc = f.slots + op.slot;
  const char* a = f.value[op.a];
  const int64_t n = padded(op, f), sa = op.vector_a ? -1 : 0;
  for (int64_t i = 0; i < n; i += kLanes<T>) write<T>(acc, i, Fold::join(read<T>(acc, i), read<T>(a, i & sa)));
}

template <class T, class Fold>
void fold_lanes(const Op& op, Frame& f) {
  constexpr int kParts = static_cast<int>(kFoldLanes / kLanes<T>);
  char* acc = f.slots + op.slot;
  const char* a = f.value[op.a];
  const int64_t n = f.n, whole = n / kFoldLanes * kFoldLanes, sa = op.vector_a ? -1 : 0;
  Vec<T> parts[kParts];
  for (int p = 0; p < kParts; ++p) parts[p] = read<T>(acc, p * kLanes<T>);
  for (int64_t i = 0; i < whole; i += kFoldLanes) {
    for (int p = 0; p < kParts; ++p) parts[p] = Fold::join(parts[p], read<T>(a, (i + p * kLanes<T>)&sa));
  }
  for (int p = 0; p < kParts; ++p) write<T>(acc, p * kLanes<T>, parts[p]);
  if (whole == n) return;
  alignas(64) T tail[kFoldLanes];
  for (int64_t i = 0; i < kFoldLanes; ++i) {
    tail[i] = whole + i < n ? reinterpret_cast<const T*>(a)[(whole + i) & sa] : Fold::identity();
  }
  for (int64_t i = 0; i < kFoldLanes; i += kLanes<T>) {
    write<T>(acc, i, Fold::join(read<T>(acc, i), read<T>(tail, i)));
  }
}

template <class T, class Fold>
void fold_finish(const Op& op, Frame& f) {
  T* acc = reinterpret_cast<T*>(f.slots + op.slot);
  for (int64_t w = kFoldLanes / 2; w > 0; w /= 2) {
    for (int64_t i = 0; i < w; ++i) {
      acc[i] = Fold::join(splat<T>(acc[i]), splat<T>(acc[i + w]))[0];
    }
  }
  for (int64_t i = 1; i < kGroup; ++i) acc[i] = acc[0];
}

template <class T, class Fold>
Run fold_part(Kind kind) {
  switch (kind) {
    case Kind::fold_start: return fold_start<T, Fold>;
    case Kind::fold_lanes: return fold_lanes<T, Fold>;
    case Kind::fold_tile: return fold_tile<T, Fold>;
    case Kind::fold_finish: return fold_finish<T, Fold>;
    default: return nullptr;
  }
}

template <class T>
Run fold_number(Kind kind, Reduce fold) {
  switch (fold) {
    case Reduce::sum: return fold_part<Wrap<T>, Sum<Wrap<T>>>(kind);
    case Reduce::prod: return fold_part<Wrap<T>, Prod<Wrap<T>>>(kind);
    case Reduce::min: return fold_part<T, Min<T>>(kind);
    case Reduce::max: return fold_part<T, Max<T>>(kind);
    default: return nullptr;
  }
}

inline Run fold_of(Kind kind, Reduce fold, DType type) {
  switch (type) {
    case DType::f32: return fold_number<float>(kind, fold);
    case DType::f64: return fold_number<double>(kind, fold);
    case DType::i32: return fold_number<int32_t>(kind, fold);
    case DType::u32: return fold_number<uint32_t>(kind, fold);
    case DType::i64: return fold_number<int64_t>(kind, fold);
    case DType::u64: return fold_number<uint64_t>(kind, fold);
    case DType::boolean:
      return fold == Reduce::any || fold == Reduce::max ? fold_part<int32_t, Any<int32_t>>(kind)
                                                        : fold_part<int32_t, All<int32_t>>(kind);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace trine::codegen::interp
