// The words that mark functions and variables of the device.
#pragma once

#define __HOST_DEFINES_H__  // libraries ask for it

#ifdef __CUDA__  // of clang
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#ifdef __CUDA_ARCH__
#define __global__ __attribute__((global))
#else  // what the host has of a kernel only launches it: a debugger must not stop there for the kernel's lines
#define __global__ __attribute__((global, nodebug))
#endif
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device, annotate("managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#else  // a host's compiler, which sees the runtime API only
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDART_CB

// Functions that these headers define for the device, and for both.
#ifdef __CUDA__
#define __TRINE_DEVICE__ static __inline__ __attribute__((always_inline, device, unused))
#define __TRINE_HD__ static __inline__ __attribute__((always_inline, host, device, unused))
#else
#define __TRINE_DEVICE__ static __inline__ __attribute__((always_inline, unused))
#define __TRINE_HD__ static __inline__ __attribute__((always_inline, unused))
#endif
