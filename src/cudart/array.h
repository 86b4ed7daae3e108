// Arrays: what their handles point at, and copies of parts of them.
#pragma once

#include <vector>

#include "compute/texture_table.h"
#include "cudart/state.h"

// A level of an array that it may own.
struct cudaArray {
  trine::compute::ArrayHandle handle;
  trine::compute::ArrayShape shape;  // of all levels
  cudaChannelFormatDesc channels;
  uint32_t level;
  int device;
  unsigned flags;
};
struct cudaMipmappedArray {
  cudaArray all;
  std::vector<cudaArray> levels;
};

namespace trine::cudart {

const compute::TextureTable& texture_table();   // throws Failure{cudaErrorNotSupported}
cudaArray& array_of(cudaArray_const_t handle);  // throws Failure{cudaErrorInvalidResourceHandle} for null
compute::TexelFormat format_of(const cudaChannelFormatDesc& channels);
// cudaMemcpy3D with an array on one side or both.
void copy_arrays_3d(const cudaMemcpy3DParms& p, cudaStream_t stream, bool wait);

}  // namespace trine::cudart
