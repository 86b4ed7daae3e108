// threadIdx, blockIdx, blockDim, gridDim: objects without memory whose members read registers of the machine.
#pragma once

#include "vector_types.h"

#define __TRINE_REGISTER__(field, name)                                                   \
  __declspec(property(get = __get_##field)) unsigned int field;                           \
  static __inline__ __attribute__((always_inline, device)) unsigned int __get_##field() { \
    return __nvvm_read_ptx_sreg_##name##_##field();                                       \
  }
#define __TRINE_REGISTERS__(type, name, converted)                            \
  struct type {                                                               \
    __TRINE_REGISTER__(x, name)                                               \
    __TRINE_REGISTER__(y, name)                                               \
    __TRINE_REGISTER__(z, name)                                               \
    __attribute__((device)) operator uint3() const { return uint3{x, y, z}; } \
    converted type() = delete;                                                \
    type(const type&) = delete;                                               \
    void operator=(const type&) const = delete;                               \
    type* operator&() const = delete;                                         \
  }

__TRINE_REGISTERS__(__trine_thread_index, tid, );
__TRINE_REGISTERS__(__trine_block_index, ctaid, );
__TRINE_REGISTERS__(__trine_block_dim, ntid, __attribute__((device)) operator dim3() const { return dim3(x, y, z); });
__TRINE_REGISTERS__(__trine_grid_dim, nctaid, __attribute__((device)) operator dim3() const { return dim3(x, y, z); });

#undef __TRINE_REGISTER__
#undef __TRINE_REGISTERS__

extern const __attribute__((device, weak)) __trine_thread_index threadIdx;
extern const __attribute__((device, weak)) __trine_block_index blockIdx;
extern const __attribute__((device, weak)) __trine_block_dim blockDim;
extern const __attribute__((device, weak)) __trine_grid_dim gridDim;

static constexpr int warpSize = 32;
