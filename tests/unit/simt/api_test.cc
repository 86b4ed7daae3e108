// The header of the runtime API as a host's compiler reads it: names, types and values are CUDA's.
#include <gtest/gtest.h>

#include "simt/headers/cuda_runtime.h"

namespace {

static_assert(sizeof(dim3) == 12 && sizeof(float4) == 16 && alignof(float4) == 16 && alignof(float3) == 4);
static_assert(alignof(double2) == 16 && alignof(short2) == 4 && alignof(uchar4) == 4 && sizeof(longlong3) == 24);
static_assert(cudaErrorMemoryAllocation == 2 && cudaErrorInvalidDeviceFunction == 98 && cudaErrorNoDevice == 100);
static_assert(cudaErrorNotReady == 600 && cudaErrorIllegalAddress == 700 && cudaErrorLaunchFailure == 719);
static_assert(cudaErrorStreamCaptureUnsupported == 900 && cudaErrorUnknown == 999);
static_assert(cudaMemcpyHostToDevice == 1 && cudaMemcpyDeviceToHost == 2 && cudaMemcpyDefault == 4);
static_assert(cudaDevAttrMultiProcessorCount == 16 && cudaDevAttrComputeCapabilityMajor == 75);
static_assert(cudaFuncAttributeMaxDynamicSharedMemorySize == 8 && cudaMemAdviseSetAccessedBy == 5);

TEST(RuntimeApi, ConversionsOfDim3) {
  const dim3 block(8, 4);
  EXPECT_EQ(block.z, 1u);
  const uint3 same = block;
  EXPECT_EQ(dim3(same).y, 4u);
  EXPECT_EQ(make_int4(1, 2, 3, 4).w, 4);
  EXPECT_EQ(make_cudaExtent(1, 2, 3).height, 2u);
}

}  // namespace
