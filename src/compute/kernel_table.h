// KernelTable: modules and launches of a backend, beside its BackendTable; what libtrine_compute adds to libtrine_rt.
// A backend fills one table and registers it. Functions throw Error as compute/module.h says; handles are the
// backend's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/backend_table.h"
#include "trine/base/dtype.h"
#include "trine/compute/module.h"

namespace trine::compute {

using ModuleHandle = std::shared_ptr<void>;  // unloads with its last owner
using KernelHandle = const void*;            // lives as long as its module

struct TextureTable;  // compute/texture_table.h

// A tensor as the bulk copies of compute capability 9.0 see it (CUtensorMap). Dimensions are innermost first.
struct TensorMapShape {
  DType type = DType::f16;
  std::vector<uint64_t> dims, stride_bytes;  // strides: of all but the innermost, multiples of 16
  std::vector<uint32_t> element_strides;     // empty: all 1
  uint32_t swizzle_bytes = 0;                // 0, 32, 64, 128
  std::vector<uint32_t> box;                 // what one copy brings; empty: im2col
  // Of im2col, dims {C, W, H, N} or those of one or three spatial dimensions: corners of the box in which the first
  // element of a window lies, spatial dimensions only; channels and pixels that one copy brings.
  std::vector<int> lower_corner, upper_corner;
  uint32_t channels = 0, pixels = 0;
  friend bool operator==(const TensorMapShape&, const TensorMapShape&) = default;
};
constexpr size_t kTensorMapBytes = 128;

struct KernelTable {
  std::string_view backend;  // "cpu", "cuda"

  ModuleHandle (*compile)(int device, std::string_view source, const CompileOptions& options);
  std::vector<std::string> (*kernels)(const ModuleHandle& module);
  KernelHandle (*kernel)(const ModuleHandle& module, std::string_view name);  // null when there is none
  KernelProperties (*properties)(KernelHandle kernel);
  Module::Variable (*variable)(const ModuleHandle& module, std::string_view name);  // {null, 0} when there is none
  // The caller has checked the number and the sizes of arguments.
  void (*launch)(KernelHandle kernel, const LaunchShape& shape, const void* const* arguments, StreamHandle stream);
  // Another shape and other arguments for a launch in a graph of BackendTable::graphs. Null when those are.
  void (*update)(GraphHandle graph, void* operation, KernelHandle kernel, const LaunchShape& shape,
                 const void* const* arguments) = nullptr;
  // A module of compile_program()'s bytes.
  ModuleHandle (*load)(int device, std::string_view program) = nullptr;
  // What load() takes on devices of the same architecture, where then no compiler is needed. Null: there is no such
  // thing.
  std::string (*program)(int device, std::string_view source, const CompileOptions& options) = nullptr;
  const TextureTable* textures = nullptr;
  // Writes kTensorMapBytes, which kernels take by value. Null where there is no such thing.
  void (*encode_tensor_map)(int device, const TensorMapShape& shape, void* address, void* map) = nullptr;
};

class RegisterKernels {
 public:
  explicit RegisterKernels(const KernelTable& table);
};

const KernelTable* find_kernel_table(std::string_view backend);  // null when there is none

}  // namespace trine::compute
