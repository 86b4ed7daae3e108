// The interpreter's loads, stores and casts, for one CPU level (see interp_simd.h).
#pragma once

#include "codegen/interp_compute.h"

namespace trine::codegen::interp {
namespace {

// How a memory type M is read as and written from its compute type C (booleans: 0 or -1 in four bytes).
template <class M, class C>
struct Plain {
  using Memory = M;
  using Compute = C;
  static C in(M m, const Op&) { return static_cast<C>(m); }
  static M out(C c, const Op&) { return static_cast<M>(c); }
};
struct Boolean {
  using Memory = uint8_t;
  using Compute = int32_t;
  static int32_t in(uint8_t m, const Op&) { return m ? -1 : 0; }
  static uint8_t out(int32_t c, const Op&) { return c ? 1 : 0; }
};
struct Brain {
  using Memory = uint16_t;
  using Compute = float;
  static float in(uint16_t m, const Op&) { return __builtin_bit_cast(float, static_cast<uint32_t>(m) << 16); }
  static uint16_t out(float c, const Op&) {
    const auto bits = __builtin_bit_cast(uint32_t, c);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return static_cast<uint16_t>(c != c ? (bits >> 16) | 0x40 : rounded);
  }
};
struct Half {
  using Memory = uint16_t;
  using Compute = float;
  // Exponent moved by a multiplication, which also normalises subnormals.
  static float in(uint16_t m, const Op&) {
    const uint32_t sign = static_cast<uint32_t>(m & 0x8000) << 16, rest = m & 0x7fff;
    const float moved = __builtin_bit_cast(float, rest << 13) * 0x1p112f;
    const uint32_t special = 0x7f800000 | (rest & 0x3ff) << 13 | ((rest & 0x3ff) ? 0x400000 : 0);
    const uint32_t bits = rest >= 0x7c00 ? special : __builtin_bit_cast(uint32_t, moved);
    return __builtin_bit_cast(float, bits | sign);
  }
  // Subnormals are rounded by adding a float whose last place is theirs, others by integer arithmetic; half to even.
  static uint16_t out(float c, const Op&) {
    const auto all = __builtin_bit_cast(uint32_t, c);
    const uint32_t sign = all >> 16 & 0x8000, bits = all & 0x7fffffff;
    const float small = __builtin_bit_cast(float, bits) + 0.5f;
    const uint32_t subnormal = __builtin_bit_cast(uint32_t, small) - 0x3f000000;
    const uint32_t normal = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    uint32_t h = bits < 0x38800000 ? subnormal : normal;
    h = bits >= 0x47800000 ? 0x7c00 : h;
    h = bits > 0x7f800000 ? 0x7e00 | (bits >> 13 & 0x3ff) : h;
    return static_cast<uint16_t>(h | sign);
  }
};
struct Table {  // 8-bit and smaller floats
  using Memory = uint8_t;
  using Compute = float;
  static float in(uint8_t m, const Op& op) { return op.table[m]; }
  static uint8_t out(float c, const Op& op) {
    return static_cast<uint8_t>(small_float_store(op.memory, c, op.saturate));
  }
};

inline int64_t address(const Op& op, const Frame& f) {
  int64_t at = op.offset;
  for (int i = 0; i < op.stride_count; ++i) at += f.index[op.strides[i].loop] * op.strides[i].bytes;
  return at;
}

inline char* memory(const Op& op, const Frame& f) {
  return static_cast<char*>(f.operands[op.operand]) + address(op, f);
}

template <class A>
void replicate(char* slot) {
  using C = typename A::Compute;
  C* out = reinterpret_cast<C*>(slot);
  for (int i = 1; i < kGroup; ++i) out[i] = out[0];
}

// Any load: strided, at a dynamic offset, masked.
template <class A>
void load_general(const Op& op, Frame& f) {
  using M = typename A::Memory;
  using C = typename A::Compute;
  const char* from = memory(op, f);
  char* slot = f.slots + op.slot;
  C* out = reinterpret_cast<C*>(slot);
  const int64_t n = op.vector ? f.n : 1;
  const int64_t* dynamic = op.a >= 0 ? reinterpret_cast<int64_t*>(f.value[op.a]) : nullptr;
  const int32_t* mask = op.b >= 0 ? reinterpret_cast<int32_t*>(f.value[op.b]) : nullptr;
  const C* otherwise = op.c >= 0 ? reinterpret_cast<C*>(f.value[op.c]) : nullptr;
  for (int64_t i = 0; i < n; ++i) {
    if (mask && !mask[op.vector_b ? i : 0]) {
      out[i] = otherwise[op.vector_c ? i : 0];
      continue;
    }
    const char* p = from + i * op.step + (dynamic ? dynamic[op.vector_a ? i : 0] * op.steps_a : 0);
    M m;
    __builtin_memcpy(&m, p, sizeof m);
    out[i] = A::in(m, op);
  }
  f.value[op.dst] = slot;
  if (!op.vector) replicate<A>(slot);
}

// The whole tile is masked off.
template <class C>
void take_fallback(const Op& op, Frame& f) {
  if (op.vector_c) {
    f.value[op.dst] = f.value[op.c];
    return;
  }
  C* out = reinterpret_cast<C*>(f.slots + op.slot);
  const C fill = *reinterpret_cast<C*>(f.value[op.c]);
  for (int64_t i = 0, n = padded(op, f); i < n; ++i) out[i] = fill;
  f.value[op.dst] = f.slots + op.slot;
}

template <class A>
void load(const Op& op, Frame& f) {
  using M = typename A::Memory;
  using C = typename A::Compute;
  if ((op.b >= 0 && op.vector_b) || (op.a >= 0 && op.vector_a) || !op.vector || op.step != op.size) {
    return load_general<A>(op, f);
  }
  if (op.b >= 0 && !*reinterpret_cast<int32_t*>(f.value[op.b])) return take_fallback<C>(op, f);
  char *from = memory(op, f), *slot = f.slots + op.slot;
  if (op.a >= 0) from += *reinterpret_cast<int64_t*>(f.value[op.a]) * op.steps_a;
  if constexpr (sizeof(M) == sizeof(C) && sizeof(M) >= 4) {
    if (f.n % kGroup == 0) {
      f.value[op.dst] = from;  // read in place
      return;
    }
    __builtin_memcpy(slot, from, static_cast<size_t>(f.n) * sizeof(M));
  } else {
    C* __restrict out = reinterpret_cast<C*>(slot);
    const M* __restrict in = reinterpret_cast<const M*>(from);
    for (int64_t i = 0; i < f.n; ++i) out[i] = A::in(in[i], op);
  }
  f.value[op.dst] = slot;
}

template <class A>
void store(const Op& op, Frame& f) {
  using M = typename A::Memory;
  using C = typename A::Compute;
  char* to = memory(op, f);
  const char* value = f.value[op.a];
  const int64_t n = op.vector ? f.n : 1;
  if constexpr (sizeof(M) == sizeof(C) && sizeof(M) >= 4) {
    if (op.vector_a && op.step == op.size) {
      if (to != value) __builtin_memcpy(to, value, static_cast<size_t>(n) * sizeof(M));
      return;
    }
  }
  const C* in = reinterpret_cast<const C*>(value);
  if (op.vector_a && op.step == op.size) {
    M* __restrict out = reinterpret_cast<M*>(to);
    for (int64_t i = 0; i < n; ++i) out[i] = A::out(in[i], op);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const M m = A::out(in[op.vector_a ? i : 0], op);
    __builtin_memcpy(to + i * op.step, &m, sizeof m);
  }
}

// Before a value is computed: lets it be written where it will be stored, when no slack would be written behind.
inline void aim(const Op& op, Frame& f) { f.value[op.a] = f.n % kGroup == 0 ? memory(op, f) : f.slots + op.slot; }

#define TRINE_BY_MEMORY(action)                               \
  switch (type) {                                             \
    case DType::f32: return action<Plain<float, float>>;      \
    case DType::i32:                                          \
    case DType::u32: return action<Plain<int32_t, int32_t>>;  \
    case DType::f64:                                          \
    case DType::i64:                                          \
    case DType::u64: return action<Plain<int64_t, int64_t>>;  \
    case DType::i8:                                           \
    case DType::i4:                                           \
    case DType::i2: return action<Plain<int8_t, int32_t>>;    \
    case DType::u8:                                           \
    case DType::u4:                                           \
    case DType::u2: return action<Plain<uint8_t, int32_t>>;   \
    case DType::i16: return action<Plain<int16_t, int32_t>>;  \
    case DType::u16: return action<Plain<uint16_t, int32_t>>; \
    case DType::boolean: return action<Boolean>;              \
    case DType::f16: return action<Half>;                     \
    case DType::bf16: return action<Brain>;                   \
    default: return is_float(type) ? action<Table> : nullptr; \
  }

inline Run load_of(DType type) { TRINE_BY_MEMORY(load) }
inline Run store_of(DType type) { TRINE_BY_MEMORY(store) }
inline Run aim_of(DType memory) { return byte_size(memory) >= 4 ? aim : nullptr; }

// The value of an affine index expression.
inline void index_value(const Op& op, Frame& f) {
  int64_t* out = reinterpret_cast<int64_t*>(f.value[op.dst]);
  const int64_t first = address(op, f), n = padded(op, f), step = op.vector ? op.step : 0;
  for (int64_t i = 0; i < n; ++i) out[i] = first + i * step;
}

inline void constant(const Op& op, Frame& f) {
  if (op.size == 8) {
    for (int i = 0; i < kGroup; ++i) reinterpret_cast<uint64_t*>(f.value[op.dst])[i] = op.bits;
  } else {
    for (int i = 0; i < kGroup; ++i) reinterpret_cast<uint32_t*>(f.value[op.dst])[i] = static_cast<uint32_t>(op.bits);
  }
}

// Truncates and saturates; NaN becomes 0. `bits` of a cast holds the storage type's range as two i32 when it is narrow.
template <class To, class From>
To convert(From x, int32_t low, int32_t high) {
  if constexpr (From(0.5) != From(0) && To(0.5) == To(0)) {
    constexpr int kDigits = 8 * static_cast<int>(sizeof(To)) - (To(-1) < To(0) ? 1 : 0);
    const From top = static_cast<From>(kDigits == 31   ? 0x1p31
                                       : kDigits == 32 ? 0x1p32
                                       : kDigits == 63 ? 0x1p63
                                                       : 0x1p64);
    const From bottom = To(-1) < To(0) ? -top : From(0);
    if (x != x) return 0;
    To t = x >= top      ? static_cast<To>(~(To(-1) < To(0) ? To(1) << (8 * sizeof(To) - 1) : To(0)))
           : x <= bottom ? static_cast<To>(To(-1) < To(0) ? To(1) << (8 * sizeof(To) - 1) : To(0))
                         : static_cast<To>(x);
    if constexpr (sizeof(To) == 4 && To(-1) < To(0)) t = t < low ? low : t > high ? high : t;
    return t;
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void cast(const Op& op, Frame& f) {
  const From* a = reinterpret_cast<const From*>(f.value[op.a]);
  To* out = reinterpret_cast<To*>(f.value[op.dst]);
  const int64_t n = padded(op, f);
  const auto low = static_cast<int32_t>(op.bits), high = static_cast<int32_t>(op.bits >> 32);
  for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(a[i], low, high);
  if (op.after) op.after(op, f);
}
template <class To>
void cast_from_boolean(const Op& op, Frame& f) {
  const int32_t* a = reinterpret_cast<const int32_t*>(f.value[op.a]);
  To* out = reinterpret_cast<To*>(f.value[op.dst]);
  const int64_t n = padded(op, f);
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] ? To(1) : To(0);
}
template <class From>
void cast_to_boolean(const Op& op, Frame& f) {
  compare1<From>(op, f, [](Vec<From> a) { return a != Vec<From>{}; });
}

// As cast<float, int32_t>, on registers.
inline void cast_f32_to_i32(const Op& op, Frame& f) {
  const auto low_limit = static_cast<int32_t>(op.bits), high_limit = static_cast<int32_t>(op.bits >> 32);
  const F32 low = splat<float>(static_cast<float>(low_limit)), top = splat<float>(0x1p31f), zero{};
  const I32 high = splat<int32_t>(high_limit);
  map1<float>(op, f, [&](F32 a) {
    F32 x = a != a ? zero : a;
    x = x < low ? low : x;
    const I32 big = x >= top;
    const I32 v = __builtin_convertvector(big ? zero : x, I32);
    return same_bits<F32>(big ? high : v > high ? high : v);
  });
  if (op.after) op.after(op, f);
}

template <class From>
Run cast_from(DType to) {
  if constexpr (kLanes<From> == kLanes<float> && From(0.5) != From(0)) {
    if (to == DType::i32) return cast_f32_to_i32;
  }
  switch (to) {
    case DType::f32: return cast<From, float>;
    case DType::f64: return cast<From, double>;
    case DType::i32: return cast<From, int32_t>;
    case DType::u32: return cast<From, uint32_t>;
    case DType::i64: return cast<From, int64_t>;
    case DType::u64: return cast<From, uint64_t>;
    case DType::boolean: return cast_to_boolean<From>;
    default: return nullptr;
  }
}

inline Run cast_of(DType from, DType to) {
  switch (from) {
    case DType::f32: return cast_from<float>(to);
    case DType::f64: return cast_from<double>(to);
    case DType::i32: return cast_from<int32_t>(to);
    case DType::u32: return cast_from<uint32_t>(to);
    case DType::i64: return cast_from<int64_t>(to);
    case DType::u64: return cast_from<uint64_t>(to);
    case DType::boolean:
      switch (to) {
        case DType::f32: return cast_from_boolean<float>;
        case DType::f64: return cast_from_boolean<double>;
        case DType::i32:
        case DType::u32: return cast_from_boolean<int32_t>;
        case DType::i64:
        case DType::u64: return cast_from_boolean<int64_t>;
        default: return nullptr;
      }
    default: return nullptr;
  }
}

// To a storage type and back: rounds floats, wraps integers.
template <class A>
void through_storage(const Op& op, Frame& f) {
  using C = typename A::Compute;
  C* v = reinterpret_cast<C*>(f.value[op.dst]);
  const int64_t n = padded(op, f);
  for (int64_t i = 0; i < n; ++i) v[i] = A::in(A::out(v[i], op), op);
}
template <int Bits, bool Signed>
void wrap(const Op& op, Frame& f) {
  int32_t* v = reinterpret_cast<int32_t*>(f.value[op.dst]);
  const int64_t n = padded(op, f);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t high = static_cast<uint32_t>(v[i]) << (32 - Bits);
    v[i] = Signed ? static_cast<int32_t>(high) >> (32 - Bits) : static_cast<int32_t>(high >> (32 - Bits));
  }
}

inline Run cast_after(DType storage) {
  switch (storage) {
    case DType::i16: return wrap<16, true>;
    case DType::u16: return wrap<16, false>;
    case DType::i8: return wrap<8, true>;
    case DType::u8: return wrap<8, false>;
    case DType::i4: return wrap<4, true>;
    case DType::u4: return wrap<4, false>;
    case DType::i2: return wrap<2, true>;
    case DType::u2: return wrap<2, false>;
    case DType::f16: return through_storage<Half>;
    case DType::bf16: return through_storage<Brain>;
    case DType::f32:
    case DType::f64:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
    case DType::boolean: return nullptr;
    default: return through_storage<Table>;
  }
}

}  // namespace
}  // namespace trine::codegen::interp
