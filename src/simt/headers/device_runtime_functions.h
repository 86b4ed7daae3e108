// What the device's runtime gives: printf, assert, memory, clocks, and whole-word loads with hints.
#pragma once

#include "host_defines.h"

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#define NULL __null
#endif

extern "C" {
__attribute__((device)) int vprintf(const char* format, const char* arguments);
__attribute__((device)) int printf(const char* format, ...);  // the compiler packs its arguments for vprintf
__attribute__((device, noreturn)) void __assertfail(const char* message, const char* file, unsigned line,
                                                    const char* function, size_t char_bytes) noexcept;
__attribute__((device, malloc)) void* malloc(size_t bytes) noexcept;
__attribute__((device)) void free(void* memory) noexcept;
// glibc's assert calls this; so does ours.
__TRINE_DEVICE__ __attribute__((noreturn)) void __assert_fail(const char* message, const char* file, unsigned line,
                                                              const char* function) noexcept {
  __assertfail(message, file, line, function, sizeof(char));
}
__TRINE_DEVICE__ void* memcpy(void* to, const void* from, size_t bytes) noexcept {
  return __builtin_memcpy(to, from, bytes);
}
__TRINE_DEVICE__ void* memmove(void* to, const void* from, size_t bytes) noexcept {
  return __builtin_memmove(to, from, bytes);
}
__TRINE_DEVICE__ void* memset(void* to, int value, size_t bytes) noexcept { return __builtin_memset(to, value, bytes); }
}

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif

__attribute__((device)) inline void* operator new(size_t bytes) { return malloc(bytes ? bytes : 1); }
__attribute__((device)) inline void* operator new[](size_t bytes) { return malloc(bytes ? bytes : 1); }
__attribute__((device)) inline void operator delete(void* memory) noexcept { free(memory); }
__attribute__((device)) inline void operator delete[](void* memory) noexcept { free(memory); }
__attribute__((device)) inline void operator delete(void* memory, size_t) noexcept { free(memory); }
__attribute__((device)) inline void operator delete[](void* memory, size_t) noexcept { free(memory); }
__attribute__((device)) inline void* operator new(size_t, void* place) noexcept { return place; }
__attribute__((device)) inline void* operator new[](size_t, void* place) noexcept { return place; }
__attribute__((device)) inline void operator delete(void*, void*) noexcept {}
__attribute__((device)) inline void operator delete[](void*, void*) noexcept {}

__TRINE_DEVICE__ __attribute__((noreturn)) void __trap() { __builtin_trap(); }
__TRINE_DEVICE__ int clock() { return __nvvm_read_ptx_sreg_clock(); }
__TRINE_DEVICE__ long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
__TRINE_DEVICE__ unsigned long long __globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }
__TRINE_DEVICE__ void __nanosleep(unsigned nanoseconds) { __nvvm_nanosleep(nanoseconds); }

__TRINE_DEVICE__ unsigned __isGlobal(const void* pointer) { return __nvvm_isspacep_global(pointer); }
__TRINE_DEVICE__ unsigned __isShared(const void* pointer) { return __nvvm_isspacep_shared(pointer); }
__TRINE_DEVICE__ unsigned __isConstant(const void* pointer) { return __nvvm_isspacep_const(pointer); }
__TRINE_DEVICE__ unsigned __isLocal(const void* pointer) { return __nvvm_isspacep_local(pointer); }
__TRINE_DEVICE__ size_t __cvta_generic_to_shared(const void* pointer) {
  return (size_t)(__attribute__((address_space(3))) void*)pointer;
}
__TRINE_DEVICE__ size_t __cvta_generic_to_global(const void* pointer) {
  return (size_t)(__attribute__((address_space(1))) void*)pointer;
}
__TRINE_DEVICE__ void* __cvta_shared_to_generic(size_t pointer) {
  return (void*)(__attribute__((address_space(3))) void*)pointer;
}
__TRINE_DEVICE__ void* __cvta_global_to_generic(size_t pointer) {
  return (void*)(__attribute__((address_space(1))) void*)pointer;
}
__TRINE_DEVICE__ size_t __cvta_generic_to_local(const void* pointer) {
  return (size_t)(__attribute__((address_space(5))) void*)pointer;
}
__TRINE_DEVICE__ size_t __cvta_generic_to_constant(const void* pointer) {
  return (size_t)(__attribute__((address_space(4))) void*)pointer;
}
__TRINE_DEVICE__ void* __cvta_local_to_generic(size_t pointer) {
  return (void*)(__attribute__((address_space(5))) void*)pointer;
}
__TRINE_DEVICE__ void* __cvta_constant_to_generic(size_t pointer) {
  return (void*)(__attribute__((address_space(4))) void*)pointer;
}
#define __prof_trigger(counter) ((void)(counter))  // counters of a profiler that is not there

// Hints for caches, which are not taken: they read and write.
#define __TRINE_LOAD__(name)                  \
  template <class T>                          \
  __TRINE_DEVICE__ T name(const T* pointer) { \
    return *pointer;                          \
  }
__TRINE_LOAD__(__ldg)
__TRINE_LOAD__(__ldca)
__TRINE_LOAD__(__ldcg)
__TRINE_LOAD__(__ldcs)
__TRINE_LOAD__(__ldlu)
__TRINE_LOAD__(__ldcv)
#undef __TRINE_LOAD__
template <class T>
struct __trine_same {
  typedef T type;
};
#define __TRINE_STORE__(name)                                                    \
  template <class T>                                                             \
  __TRINE_DEVICE__ void name(T* pointer, typename __trine_same<T>::type value) { \
    *pointer = value;                                                            \
  }
__TRINE_STORE__(__stwb)
__TRINE_STORE__(__stcg)
__TRINE_STORE__(__stcs)
__TRINE_STORE__(__stwt)
#undef __TRINE_STORE__
