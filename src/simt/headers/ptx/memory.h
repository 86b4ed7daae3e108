// Loads, stores, atomics, copies. Hints for caches are not taken; copies that need not be done at once are done at
// once.
#pragma once

#include "arithmetic.h"

namespace trine_ptx {

struct Address {
  u64 value;
};
template <class X>
PTX Address at(X base, s64 offset) {
  return {as<u64>(base) + static_cast<u64>(offset)};
}

// Shared memory has addresses of its own, which begin at 0.
PTX void* shared(u64 address) { return (void*)(PTX_SHARED void*)address; }
PTX u64 shared_address(const void* pointer) { return (u64)(PTX_SHARED void*)pointer; }

template <Text op, class T>
PTX T* pointer(Address address) {
  if constexpr (op.has("shared")) return static_cast<T*>(shared(address.value));
  else return (T*)address.value;
}

#define PTX_ACCESS                                                                                                  \
  "global shared local const param ca cg cs lu cv wb wt nc v2 v4 v8 volatile relaxed acquire release weak gpu cta " \
  "sys "                                                                                                            \
  "cluster mmio noftz acq_rel entry unified "
template <Text op>
inline constexpr bool ordered =
    op.has("volatile") || op.has("relaxed") || op.has("acquire") || op.has("release") || op.has("cv") || op.has("mmio");
template <Text op>
inline constexpr unsigned elements = op.has("v8")   ? 8
                                     : op.has("v4") ? 4
                                     : op.has("v2") ? 2
                                                    : 1;

template <Text op, class T, class... All>
PTX void i_ld(All&&... all) {
  static_assert(op.only(PTX_ACCESS));
  constexpr unsigned count = elements<op>;
  const Address address = pick<count>(all...);
  [&]<unsigned... i>(Numbers<i...>) {
    if constexpr (ordered<op>) (put(pick<i>(all...), static_cast<T>(pointer<op, volatile Bits<T>>(address)[i])), ...);
    else (put(pick<i>(all...), __builtin_bit_cast(T, pointer<op, Bits<T>>(address)[i])), ...);
  }(typename UpTo<count>::type{});
  if constexpr (op.has("acquire")) __threadfence();
}
template <Text op, class T, class... All>
PTX void i_ldu(All&&... all) {
  i_ld<op, T>(all...);
}
template <Text op, class T, class... All>
PTX void i_st(Address address, All... all) {
  static_assert(op.only(PTX_ACCESS));
  if constexpr (op.has("release")) __threadfence();
  [&]<unsigned... i>(Numbers<i...>) {
    if constexpr (ordered<op>) ((pointer<op, volatile Bits<T>>(address)[i] = as<Bits<T>>(pick<i>(all...))), ...);
    else ((pointer<op, Bits<T>>(address)[i] = as<Bits<T>>(pick<i>(all...))), ...);
  }(typename UpTo<elements<op>>::type{});
}
template <Text op, class... All>
PTX void i_prefetch(All...) {}
template <Text op, class... All>
PTX void i_prefetchu(All...) {}
template <Text op, class... All>
PTX void i_discard(All...) {}
template <Text op, class... All>
PTX void i_applypriority(All...) {}
template <Text op, class T, class D, class... All>
PTX void i_createpolicy(D& d, All...) {
  put(d, u64(0));
}

template <Text op>
inline constexpr bool has_operation =
    op.has("add") || op.has("exch") || op.has("cas") || op.has("min") || op.has("max") || op.has("and") ||
    op.has("or") || op.has("xor") || op.has("inc") || op.has("dec");
#define PTX_ATOMICS PTX_ACCESS "add min max and or xor exch cas inc dec "

// By comparing and exchanging the word that holds it.
template <class T, class F>
PTX T replaced(void* pointer, F next) {
  constexpr bool upper_possible = sizeof(T) == 2;
  const u64 address = (u64)pointer;
  u32* word = (u32*)(address & ~u64(3));
  const u32 shift = upper_possible ? 8 * (address & 2) : 0;
  u32 seen = *static_cast<volatile u32*>(word), before;
  do {
    before = seen;
    const T old = as<T>(before >> shift);
    const u32 changed = as<u32>(as<Bits<T>>(next(old)));
    const u32 mask = sizeof(T) == 2 ? 0xffffu << shift : ~0u;
    seen = atomicCAS(word, before, (before & ~mask) | (changed << shift & mask));
  } while (seen != before);
  return as<T>(before >> shift);
}

template <Text op, class T, class B, class... C>
PTX T fetched(T* to, B y, C... z) {
  const T b = as<T>(y);
  if constexpr (is_half<T> || is_pair<T>) {
    static_assert(op.has("add"));
    return replaced<T>(to, [=](T old) { return each<op>([](float p, float q) { return p + q; }, old, b); });
  } else if constexpr (op.has("cas")) {
    using U = Bits<T>;
    return as<T>(atomicCAS((U*)to, as<U>(b), as<U>(as<T>(pick<0>(z...)))));
  } else if constexpr (op.has("exch")) {
    using U = Bits<T>;
    return as<T>(atomicExch((U*)to, as<U>(b)));
  } else if constexpr (op.has("add")) {
    if constexpr (same<T, s64>) return static_cast<s64>(atomicAdd((u64*)to, static_cast<u64>(b)));
    else return atomicAdd(to, b);
  } else if constexpr (op.has("min")) {
    return atomicMin(to, b);
  } else if constexpr (op.has("max")) {
    return atomicMax(to, b);
  } else if constexpr (op.has("and")) {
    return atomicAnd(to, b);
  } else if constexpr (op.has("or")) {
    return atomicOr(to, b);
  } else if constexpr (op.has("xor")) {
    return atomicXor(to, b);
  } else if constexpr (op.has("inc")) {
    return atomicInc(to, b);
  } else {
    return atomicDec(to, b);
  }
}
template <Text op, class T, class D, class... All>
PTX void i_atom(D&& d, Address address, All... all) {
  static_assert(op.only(PTX_ATOMICS) && has_operation<op> && elements<op> == 1);
  if constexpr (op.has("release") || op.has("acq_rel")) __threadfence();
  put(d, fetched<op, T>(pointer<op, T>(address), all...));
  if constexpr (op.has("acquire") || op.has("acq_rel")) __threadfence();
}
template <Text op, class T, class... All>
PTX void i_red(Address address, All... all) {
  static_assert(op.only(PTX_ATOMICS) && has_operation<op> && elements<op> == 1);
  if constexpr (op.has("release")) __threadfence();
  fetched<op, T>(pointer<op, T>(address), all...);
}

template <Text op, class T, class D, class A>
PTX void i_cvta(D& d, A x) {
  static_assert(op.only("to global shared local const param "));
  if constexpr (!op.has("shared")) put(d, as<u64>(x));
  else if constexpr (op.has("to")) put(d, shared_address((const void*)as<u64>(x)));
  else put(d, (u64)shared(as<u64>(x)));
}
template <Text op, class D, class A>
PTX void i_isspacep(D& d, A x) {
  static_assert(op.only("global shared local const "));
  const void* pointer = (const void*)as<u64>(x);
  if constexpr (op.has("shared")) put(d, __isShared(pointer) != 0);
  else if constexpr (op.has("local")) put(d, __isLocal(pointer) != 0);
  else if constexpr (op.has("const")) put(d, __isConstant(pointer) != 0);
  else put(d, __isGlobal(pointer) != 0);
}

// cp.async [shared], [global], bytes[, bytes that are read][, policy]
template <u32 bytes>
PTX void copy_word(void* to, const void* from, u32 read) {
  using Word = typename UnsignedOf<bytes>::type;
  Word word = 0;
  if (read >= bytes) word = *static_cast<const Word*>(from);
  else
    for (u32 i = 0; i < read; ++i) word |= static_cast<Word>(static_cast<const u8*>(from)[i]) << 8 * i;
  *static_cast<Word*>(to) = word;
}
template <class... More>
PTX void copy_async(Address to_address, Address from_address, u32 bytes, u32 read) {
  char* to = static_cast<char*>(shared(to_address.value));
  const char* from = (const char*)from_address.value;
  if (bytes == 4) return copy_word<4>(to, from, read);
  copy_word<8>(to, from, read);
  if (bytes == 16) copy_word<8>(to + 8, from + 8, read > 8 ? read - 8 : 0);
}
template <Text op, class... All>
PTX void i_cp(All... all) {
  static_assert(op.only("async ca cg shared global commit_group wait_group wait_all bulk read "));
  static_assert(!op.has("bulk") || op.has("commit_group") || op.has("wait_group"));
  if constexpr (!op.has("commit_group") && !op.has("wait_group") && !op.has("wait_all")) {
    const u32 bytes = as<u32>(pick<2>(all...));
    constexpr unsigned operands = sizeof...(All) - op.has("L2::cache_hint");
    u32 read = bytes;
    if constexpr (operands == 4) {
      const auto last = pick<3>(all...);
      if constexpr (same<decltype(pick<3>(all...)), bool&&>) read = last ? 0 : bytes;  // whether nothing is read
      else read = as<u32>(last);
    }
    copy_async(pick<0>(all...), pick<1>(all...), bytes, read < bytes ? read : bytes);
  }
}

}  // namespace trine_ptx
