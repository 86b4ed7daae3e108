// What <cuda/atomic> includes. Numbers and pointers of 4 and 8 bytes.
#pragma once

#include "host_defines.h"

#define __TRINE_ATOMIC__ __attribute__((always_inline, host, device))

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
enum memory_order : int {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};
namespace std {
using ::cuda::memory_order;
using ::cuda::memory_order_acq_rel;
using ::cuda::memory_order_acquire;
using ::cuda::memory_order_consume;
using ::cuda::memory_order_relaxed;
using ::cuda::memory_order_release;
using ::cuda::memory_order_seq_cst;
}  // namespace std

namespace details {
template <int kBytes>
struct Bits;
template <>
struct Bits<4> {
  typedef unsigned int type;
};
template <>
struct Bits<8> {
  typedef unsigned long long type;
};
__TRINE_ATOMIC__ inline bool before(memory_order order) {
  return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}
__TRINE_ATOMIC__ inline bool after(memory_order order) {
  return order != memory_order_relaxed && order != memory_order_release;
}
__TRINE_ATOMIC__ inline void fence(thread_scope scope) {
#ifdef __CUDA_ARCH__
  if (scope == thread_scope_system) __threadfence_system();
  if (scope == thread_scope_device) __threadfence();
  if (scope == thread_scope_block) __threadfence_block();
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  (void)scope;
#endif
}
}  // namespace details

__TRINE_ATOMIC__ inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order != memory_order_relaxed) details::fence(scope);
}

// A number somewhere else, which must outlive this.
template <class T, thread_scope kScope = thread_scope_system>
class atomic_ref {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "cuda::atomic takes types of 4 or 8 bytes");
  typedef typename details::Bits<sizeof(T)>::type Word;

 public:
  typedef T value_type;
  __TRINE_ATOMIC__ explicit atomic_ref(T& value) : address_(&value) {}
  __TRINE_ATOMIC__ bool is_lock_free() const { return true; }

  __TRINE_ATOMIC__ T load(memory_order order = memory_order_seq_cst) const {
    if (order == memory_order_seq_cst) details::fence(kScope);
    const Word word = *words();
    if (details::after(order)) details::fence(kScope);
    return __builtin_bit_cast(T, word);
  }
  __TRINE_ATOMIC__ void store(T value, memory_order order = memory_order_seq_cst) const {
    if (details::before(order)) details::fence(kScope);
    *words() = __builtin_bit_cast(Word, value);
    if (order == memory_order_seq_cst) details::fence(kScope);
  }
  __TRINE_ATOMIC__ T exchange(T value, memory_order order = memory_order_seq_cst) const {
    const Word word = __builtin_bit_cast(Word, value);
    if (details::before(order)) details::fence(kScope);
    const Word old = __scoped_atomic_exchange_n(words(), word, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    if (details::after(order)) details::fence(kScope);
    return __builtin_bit_cast(T, old);
  }
  __TRINE_ATOMIC__ bool compare_exchange_strong(T& expected, T desired,
                                                memory_order order = memory_order_seq_cst) const {
    Word seen = __builtin_bit_cast(Word, expected);
    const Word word = __builtin_bit_cast(Word, desired);
    if (details::before(order)) details::fence(kScope);
    const bool done = __scoped_atomic_compare_exchange_n(words(), &seen, word, false, __ATOMIC_RELAXED,
                                                         __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    if (details::after(order)) details::fence(kScope);
    if (!done) expected = __builtin_bit_cast(T, seen);
    return done;
  }
  __TRINE_ATOMIC__ bool compare_exchange_strong(T& expected, T desired, memory_order success, memory_order) const {
    return compare_exchange_strong(expected, desired, success);
  }
  __TRINE_ATOMIC__ bool compare_exchange_weak(T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order);
  }
  __TRINE_ATOMIC__ bool compare_exchange_weak(T& expected, T desired, memory_order success, memory_order) const {
    return compare_exchange_strong(expected, desired, success);
  }

#define __TRINE_FETCH__(name, operation)                                                                          \
  __TRINE_ATOMIC__ T fetch_##name(T value, memory_order order = memory_order_seq_cst) const {                     \
    if (details::before(order)) details::fence(kScope);                                                           \
    const T old =                                                                                                 \
        __scoped_atomic_fetch_##operation((volatile T*)address_, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM); \
    if (details::after(order)) details::fence(kScope);                                                            \
    return old;                                                                                                   \
  }
  __TRINE_FETCH__(add, add)
  __TRINE_FETCH__(sub, sub)
  __TRINE_FETCH__(min, min)
  __TRINE_FETCH__(max, max)
  __TRINE_FETCH__(and, and)
  __TRINE_FETCH__(or, or)
  __TRINE_FETCH__(xor, xor)
#undef __TRINE_FETCH__

  __TRINE_ATOMIC__ operator T() const { return load(); }
  __TRINE_ATOMIC__ T operator=(T value) const {
    store(value);
    return value;
  }
  __TRINE_ATOMIC__ T operator+=(T value) const { return fetch_add(value) + value; }
  __TRINE_ATOMIC__ T operator-=(T value) const { return fetch_sub(value) - value; }
  __TRINE_ATOMIC__ T operator++() const { return fetch_add(T(1)) + T(1); }
  __TRINE_ATOMIC__ T operator--() const { return fetch_sub(T(1)) - T(1); }
  __TRINE_ATOMIC__ T operator++(int) const { return fetch_add(T(1)); }
  __TRINE_ATOMIC__ T operator--(int) const { return fetch_sub(T(1)); }

 private:
  __TRINE_ATOMIC__ volatile Word* words() const { return (volatile Word*)address_; }
  T* address_;
};

template <class T, thread_scope kScope = thread_scope_system>
class atomic {
  typedef atomic_ref<T, kScope> Ref;

 public:
  typedef T value_type;
  atomic() = default;
  __TRINE_ATOMIC__ constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  __TRINE_ATOMIC__ bool is_lock_free() const { return true; }

  __TRINE_ATOMIC__ T load(memory_order order = memory_order_seq_cst) const { return ref().load(order); }
  __TRINE_ATOMIC__ void store(T value, memory_order order = memory_order_seq_cst) { ref().store(value, order); }
  __TRINE_ATOMIC__ T exchange(T value, memory_order order = memory_order_seq_cst) {
    return ref().exchange(value, order);
  }
  template <class... Order>
  __TRINE_ATOMIC__ bool compare_exchange_strong(T& expected, T desired, Order... orders) {
    return ref().compare_exchange_strong(expected, desired, orders...);
  }
  template <class... Order>
  __TRINE_ATOMIC__ bool compare_exchange_weak(T& expected, T desired, Order... orders) {
    return ref().compare_exchange_weak(expected, desired, orders...);
  }
#define __TRINE_FETCH__(name) \
  __TRINE_ATOMIC__ T name(T value, memory_order order = memory_order_seq_cst) { return ref().name(value, order); }
  __TRINE_FETCH__(fetch_add)
  __TRINE_FETCH__(fetch_sub)
  __TRINE_FETCH__(fetch_min)
  __TRINE_FETCH__(fetch_max)
  __TRINE_FETCH__(fetch_and)
  __TRINE_FETCH__(fetch_or)
  __TRINE_FETCH__(fetch_xor)
#undef __TRINE_FETCH__
  __TRINE_ATOMIC__ operator T() const { return load(); }
  __TRINE_ATOMIC__ T operator=(T value) { return ref() = value; }
  __TRINE_ATOMIC__ T operator+=(T value) { return ref() += value; }
  __TRINE_ATOMIC__ T operator-=(T value) { return ref() -= value; }
  __TRINE_ATOMIC__ T operator++() { return ++ref(); }
  __TRINE_ATOMIC__ T operator--() { return --ref(); }
  __TRINE_ATOMIC__ T operator++(int) { return ref()++; }
  __TRINE_ATOMIC__ T operator--(int) { return ref()--; }

 private:
  __TRINE_ATOMIC__ Ref ref() const { return Ref(const_cast<T&>(value_)); }
  alignas(sizeof(T)) T value_;
};

}  // namespace cuda

#undef __TRINE_ATOMIC__
