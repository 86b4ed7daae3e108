// What libraries name for launches from kernels, which there are none of: on the host each says so, and a kernel that
// calls one does not compile, since the device has no such function.
#pragma once

#include "driver_types.h"
#include "host_defines.h"

#ifdef __CUDA__
#define __TRINE_FROM_KERNELS__(result, name, arguments, answer) \
  static __inline__ __attribute__((host, unused)) result name arguments { return answer; }
__TRINE_FROM_KERNELS__(cudaError_t, __cudaDeviceSynchronizeDeprecationAvoidance, (void), cudaErrorNotSupported)
__TRINE_FROM_KERNELS__(void*, cudaGetParameterBuffer, (size_t, size_t), 0)
__TRINE_FROM_KERNELS__(cudaError_t, cudaLaunchDevice, (void*, void*, dim3, dim3, unsigned int, cudaStream_t),
                       cudaErrorNotSupported)
#undef __TRINE_FROM_KERNELS__
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((device)) cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
__attribute__((device)) void* cudaGetParameterBuffer(size_t alignment, size_t size);
__attribute__((device)) cudaError_t cudaLaunchDevice(void* func, void* parameterBuffer, dim3 gridDim, dim3 blockDim,
                                                     unsigned int sharedMemSize, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
