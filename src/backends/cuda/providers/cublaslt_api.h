// The part of cuBLASLt's C interface that is used. Numbers are those of its documentation for CUDA 12 and 13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace trine::cuda::cublaslt {

using Status = int;  // 0: success
using Handle = struct LightHandle*;
using Operation = struct OperationObject*;
using Layout = struct LayoutObject*;
using Preference = struct PreferenceObject*;

enum DataType : int { kF32 = 0, kF16 = 2, kBf16 = 14 };
enum ComputeType : int { kCompute32F = 68, kComputeTf32 = 77 };
enum OperationAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8 };
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMostWorkspace = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
enum Epilogue : uint32_t { kPlain = 1, kRelu = 2, kBias = 4, kGelu = 32 };  // bits, but for kPlain; gelu is tanh's

struct Algorithm {
  uint64_t data[8];
};
struct Suggestion {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

struct Api {
  size_t (*version)();
  const char* (*status_name)(Status status);
  Status (*create)(Handle* handle);
  Status (*operation_create)(Operation* operation, ComputeType compute, DataType scale);
  Status (*operation_destroy)(Operation operation);
  Status (*operation_set)(Operation operation, OperationAttribute which, const void* value, size_t bytes);
  Status (*layout_create)(Layout* layout, DataType type, uint64_t rows, uint64_t columns, int64_t stride);
  Status (*layout_destroy)(Layout layout);
  Status (*layout_set)(Layout layout, LayoutAttribute which, const void* value, size_t bytes);
  Status (*preference_create)(Preference* preference);
  Status (*preference_destroy)(Preference preference);
  Status (*preference_set)(Preference preference, PreferenceAttribute which, const void* value, size_t bytes);
  Status (*suggest)(Handle handle, Operation operation, Layout a, Layout b, Layout c, Layout d, Preference preference,
                    int wanted, Suggestion* suggestions, int* found);
  Status (*multiply)(Handle handle, Operation operation, const void* alpha, const void* a, Layout a_layout,
                     const void* b, Layout b_layout, const void* beta, const void* c, Layout c_layout, void* d,
                     Layout d_layout, const Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                     void* stream);
};

// Null when there is no usable library. Never throws.
const Api* api();

}  // namespace trine::cuda::cublaslt
