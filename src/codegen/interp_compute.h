// The interpreter's arithmetic, for one CPU level (see interp_simd.h).
#pragma once

#include "codegen/interp_simd.h"

namespace trine::codegen::interp {
namespace {

inline int64_t padded(const Op& op, const Frame& f) { return op.vector ? (f.n + kGroup - 1) & ~(kGroup - 1) : kGroup; }

template <class T, class Fn>
void map1(const Op& op, Frame& f, Fn fn) {
  const char* a = f.value[op.a];
  char* out = f.value[op.dst];
  const int64_t n = padded(op, f);
  for (int64_t i = 0; i < n; i += kLanes<T>) write<T>(out, i, fn(read<T>(a, i)));
}

template <class T, class Fn>
void map2(const Op& op, Frame& f, Fn fn) {
  const char *a = f.value[op.a], *b = f.value[op.b];
  char* out = f.value[op.dst];
  const int64_t n = padded(op, f), sa = op.vector_a ? -1 : 0, sb = op.vector_b ? -1 : 0;
  for (int64_t i = 0; i < n; i += kLanes<T>) write<T>(out, i, fn(read<T>(a, i & sa), read<T>(b, i & sb)));
}

template <class T, class Fn>
void compare1(const Op& op, Frame& f, Fn fn) {
  const char* a = f.value[op.a];
  char* out = f.value[op.dst];
  const int64_t n = padded(op, f);
  for (int64_t i = 0; i < n; i += kLanes<T>) write_mask<T>(out, i, fn(read<T>(a, i)));
}

template <class T, class Fn>
void compare2(const Op& op, Frame& f, Fn fn) {
  const char *a = f.value[op.a], *b = f.value[op.b];
  char* out = f.value[op.dst];
  const int64_t n = padded(op, f), sa = op.vector_a ? -1 : 0, sb = op.vector_b ? -1 : 0;
  for (int64_t i = 0; i < n; i += kLanes<T>) write_mask<T>(out, i, fn(read<T>(a, i & sa), read<T>(b, i & sb)));
}

template <class T>
void select_of(const Op& op, Frame& f) {
  const char *m = f.value[op.a], *a = f.value[op.b], *b = f.value[op.c];
  char* out = f.value[op.dst];
  const int64_t n = padded(op, f), sm = op.vector_a ? -1 : 0, sa = op.vector_b ? -1 : 0, sb = op.vector_c ? -1 : 0;
  for (int64_t i = 0; i < n; i += kLanes<T>) {
    write<T>(out, i, read_mask<T>(m, i & sm) ? read<T>(a, i & sa) : read<T>(b, i & sb));
  }
}

// Lane by lane through the table of functions.
template <class T, bool Binary>
void call(const Op& op, Frame& f) {
  const T *a = reinterpret_cast<T*>(f.value[op.a]), *b = Binary ? reinterpret_cast<T*>(f.value[op.b]) : a;
  T* out = reinterpret_cast<T*>(f.value[op.dst]);
  const int64_t n = op.vector ? f.n : 1, sa = op.vector_a ? 1 : 0, sb = op.vector_b ? 1 : 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(a[i * sa]);
    if constexpr (Binary) {
      out[i] = static_cast<T>(reinterpret_cast<double (*)(double, double)>(const_cast<void*>(op.function))(
          x, static_cast<double>(b[i * sb])));
    } else {
      out[i] = static_cast<T>(reinterpret_cast<double (*)(double)>(const_cast<void*>(op.function))(x));
    }
  }
  if (!op.vector) write<T>(out, 0, splat<T>(out[0]));
}

// Integer operations that have no vector form.
template <class T, class Fn>
void lanes2(const Op& op, Frame& f, Fn fn) {
  const T *a = reinterpret_cast<T*>(f.value[op.a]), *b = reinterpret_cast<T*>(f.value[op.b]);
  T* out = reinterpret_cast<T*>(f.value[op.dst]);
  const int64_t n = padded(op, f), sa = op.vector_a ? 1 : 0, sb = op.vector_b ? 1 : 0;
  for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i * sa], b[i * sb]);
}

template <class T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return static_cast<T>(T(0) - static_cast<uint64_t>(a));
  }
  return a / b;
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return 0;
  }
  return a % b;
}
template <class T>
T modulo(T a, T b) {
  const T r = remainder(a, b);
  if constexpr (T(-1) < T(0)) {
    if (r != 0 && (r < 0) != (b < 0)) return r + b;
  }
  return r;
}
// By squaring, wrapping; a negative exponent gives 0 but for the bases 1 and -1.
template <class T>
T power(T base, T exponent) {
  if constexpr (T(-1) < T(0)) {
    if (exponent < 0) return base == 1 ? 1 : base == T(-1) ? ((exponent & 1) ? T(-1) : T(1)) : T(0);
  }
  uint64_t result = 1, b = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1, b *= b) {
    if (e & 1) result *= b;
  }
  return static_cast<T>(result);
}
template <class T>
constexpr int kBits = 8 * static_cast<int>(sizeof(T));
template <class T>
T left(T a, T b) {
  return static_cast<uint64_t>(b) >= kBits<T> ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << b);
}
template <class T>
T right(T a, T b) {
  return static_cast<uint64_t>(b) >= kBits<T> ? (a < T(0) ? T(-1) : T(0)) : static_cast<T>(a >> b);
}

// The smaller (larger), or the first operand when that is NaN, or the second when only that is.
template <class T>
inline Vec<T> minimum(Vec<T> a, Vec<T> b) {
  return (a != a) ? a : (a < b) ? a : b;
}
template <class T>
inline Vec<T> maximum(Vec<T> a, Vec<T> b) {
  return (a != a) ? a : (b < a) ? a : b;
}

template <class T>
inline Vec<T> minus(Vec<T> a) {
  using W = Vec<Wrap<T>>;
  return same_bits<Vec<T>>(W{} - same_bits<W>(a));
}
template <class T>
inline Vec<T> magnitude(Vec<T> a) {
  if constexpr (T(0.5) != T(0)) {
    using M = typename MaskOf<T>::type;
    return same_bits<Vec<T>>(same_bits<Vec<M>>(a) & splat<M>(static_cast<M>(~(uint64_t{1} << (8 * sizeof(M) - 1)))));
  } else {
    return a < Vec<T>{} ? minus<T>(a) : a;
  }
}
template <class T>
inline Vec<T> negative(Vec<T> a) {
  if constexpr (T(0.5) != T(0)) {
    using M = typename MaskOf<T>::type;
    return same_bits<Vec<T>>(same_bits<Vec<M>>(a) ^ splat<M>(static_cast<M>(uint64_t{1} << (8 * sizeof(M) - 1))));
  } else {
    return minus<T>(a);
  }
}
template <class T>
inline Vec<T> sign_of(Vec<T> a) {
  return a > Vec<T>{} ? splat<T>(1) : a < Vec<T>{} ? splat<T>(T(-1)) : a;
}

template <class T>
inline Vec<T> fn_per_lane(Vec<T> a, T (*fn)(T)) {
  for (int i = 0; i < kLanes<T>; ++i) a[i] = fn(a[i]);
  return a;
}

#define TRINE_MAP1(T, expression) [](const Op& op, Frame& f) { map1<T>(op, f, [](Vec<T> a) { return expression; }); }
#define TRINE_MAP2(T, expression) \
  [](const Op& op, Frame& f) { map2<T>(op, f, [](Vec<T> a, Vec<T> b) { return expression; }); }
#define TRINE_LANES2(T, fn) [](const Op& op, Frame& f) { lanes2<T>(op, f, [](T a, T b) { return fn<T>(a, b); }); }
#define TRINE_TEST2(T, expression) \
  [](const Op& op, Frame& f) { compare2<T>(op, f, [](Vec<T> a, Vec<T> b) { return expression; }); }

template <class T>
Run unary_any(ScalarOp op) {
  switch (op) {
    case ScalarOp::neg: return TRINE_MAP1(T, negative<T>(a));
    case ScalarOp::abs: return TRINE_MAP1(T, magnitude<T>(a));
    case ScalarOp::sign: return TRINE_MAP1(T, sign_of<T>(a));
    default: return nullptr;
  }
}

template <class T>
Run unary_integer(ScalarOp op) {
  if (op == ScalarOp::bit_not) return TRINE_MAP1(T, ~a);
  return unary_any<T>(op);
}

template <class T>
Run unary_float(ScalarOp op) {
  switch (op) {
    case ScalarOp::sqrt: return TRINE_MAP1(T, isa_sqrt(a));
    case ScalarOp::reciprocal: return TRINE_MAP1(T, splat<T>(1) / a);
    case ScalarOp::floor: return TRINE_MAP1(T, isa_floor(a));
    case ScalarOp::ceil: return TRINE_MAP1(T, negative<T>(isa_floor(negative<T>(a))));
    case ScalarOp::round: return TRINE_MAP1(T, isa_rint(a));
    case ScalarOp::trunc: return TRINE_MAP1(T, isa_trunc(a));
    case ScalarOp::is_nan: return [](const Op& op, Frame& f) { compare1<T>(op, f, [](Vec<T> a) { return a != a; }); };
    case ScalarOp::is_inf:
      return [](const Op& op, Frame& f) {
        compare1<T>(op, f, [](Vec<T> a) { return magnitude<T>(a) == splat<T>(static_cast<T>(__builtin_inf())); });
      };
    default: return unary_any<T>(op);
  }
}

#define TRINE_MATH(name)           \
  [](const Op& op, Frame& f) {     \
    map1<float>(op, f, [](F32 a) { \
      SimdMath m;                  \
      return math::name(m, a);     \
    });                            \
  }

inline Run unary(ScalarOp op, DType type) {
  if (is_table_op(op, type)) return type == DType::f32 ? call<float, false> : call<double, false>;
  switch (type) {
    case DType::f32:
      switch (op) {
        case ScalarOp::exp: return TRINE_MATH(exp);
        case ScalarOp::log: return TRINE_MATH(log);
        case ScalarOp::tanh: return TRINE_MATH(tanh);
        case ScalarOp::erf: return TRINE_MATH(erf);
        default: return unary_float<float>(op);
      }
    case DType::f64: return unary_float<double>(op);
    case DType::i32: return unary_integer<int32_t>(op);
    case DType::u32: return unary_integer<uint32_t>(op);
    case DType::i64: return unary_integer<int64_t>(op);
    case DType::u64: return unary_integer<uint64_t>(op);
    case DType::boolean:
      if (op == ScalarOp::logical_not) return TRINE_MAP1(int32_t, ~a);
      return nullptr;
    default: return nullptr;
  }
}

template <class T>
Run binary_any(ScalarOp op) {
  switch (op) {
    case ScalarOp::add: return TRINE_MAP2(Wrap<T>, a + b);
    case ScalarOp::sub: return TRINE_MAP2(Wrap<T>, a - b);
    case ScalarOp::mul: return TRINE_MAP2(Wrap<T>, a * b);
    case ScalarOp::min: return TRINE_MAP2(T, minimum<T>(a, b));
    case ScalarOp::max: return TRINE_MAP2(T, maximum<T>(a, b));
    case ScalarOp::less: return TRINE_TEST2(T, a < b);
    case ScalarOp::less_equal: return TRINE_TEST2(T, a <= b);
    case ScalarOp::equal: return TRINE_TEST2(T, a == b);
    default: return nullptr;
  }
}

template <class T>
Run binary_float(ScalarOp op) {
  if (op == ScalarOp::div) return TRINE_MAP2(T, a / b);
  return binary_any<T>(op);
}

template <class T>
Run binary_integer(ScalarOp op) {
  switch (op) {
    case ScalarOp::div: return TRINE_LANES2(T, quotient);
    case ScalarOp::mod: return TRINE_LANES2(T, modulo);
    case ScalarOp::fmod: return TRINE_LANES2(T, remainder);
    case ScalarOp::pow: return TRINE_LANES2(T, power);
    case ScalarOp::shift_left: return TRINE_LANES2(T, left);
    case ScalarOp::shift_right: return TRINE_LANES2(T, right);
    case ScalarOp::bit_and: return TRINE_MAP2(T, a & b);
    case ScalarOp::bit_or: return TRINE_MAP2(T, a | b);
    case ScalarOp::bit_xor: return TRINE_MAP2(T, a ^ b);
    default: return binary_any<T>(op);
  }
}

inline Run binary_boolean(ScalarOp op) {
  switch (op) {
    case ScalarOp::logical_and:
    case ScalarOp::bit_and:
    case ScalarOp::min: return TRINE_MAP2(int32_t, a& b);
    case ScalarOp::logical_or:
    case ScalarOp::bit_or:
    case ScalarOp::max: return TRINE_MAP2(int32_t, a | b);
    case ScalarOp::logical_xor:
    case ScalarOp::bit_xor: return TRINE_MAP2(int32_t, a ^ b);
    case ScalarOp::equal: return TRINE_MAP2(int32_t, ~(a ^ b));
    default: return nullptr;
  }
}

inline Run binary(ScalarOp op, DType type) {
  if (is_table_op(op, type)) return type == DType::f32 ? call<float, true> : call<double, true>;
  switch (type) {
    case DType::f32: return binary_float<float>(op);
    case DType::f64: return binary_float<double>(op);
    case DType::i32: return binary_integer<int32_t>(op);
    case DType::u32: return binary_integer<uint32_t>(op);
    case DType::i64: return binary_integer<int64_t>(op);
    case DType::u64: return binary_integer<uint64_t>(op);
    case DType::boolean: return binary_boolean(op);
    default: return nullptr;
  }
}

inline Run select(DType type) { return byte_size(type) == 8 ? select_of<int64_t> : select_of<int32_t>; }

}  // namespace
}  // namespace trine::codegen::interp
