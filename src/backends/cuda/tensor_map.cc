#include "backends/cuda/tensor_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "backends/cuda/context.h"

namespace trine::cuda {
namespace {

// CUtensorMapDataType
int type_of(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8: return 0;
    case DType::u16: return 1;
    case DType::u32: return 2;
    case DType::i32: return 3;
    case DType::f16: return 6;
    case DType::f32: return 7;
    case DType::bf16: return 9;
    default: break;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("tensor map: elements of {}; accepted are 8-bit integers, u16, "
                                                       "u32, i32, f16, bf16, f32",
                                                       name(type)));
}

int swizzle_of(uint32_t bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }

constexpr int kPromote256 = 3;
constexpr size_t kSmall = 128 << 10;

// Drivers up to CUDA 13.1 mark tensors of less than 128 KB so that copies of what lies beyond fail; CUTLASS 4.7 found
// it.
void mend_small(TensorMap& map, const compute::TensorMapShape& shape) {
  const uint64_t bytes = shape.dims.size() > 1 ? shape.stride_bytes.back() * shape.dims.back() : shape.dims[0];
  if (bytes < kSmall) map.words[1] &= ~(uint64_t{1} << 21);
}

}  // namespace

void encode_tensor_map(int device, const compute::TensorMapShape& shape, void* address, void* out) {
  use_device(device);
  const auto rank = static_cast<unsigned>(shape.dims.size());
  const std::vector<uint32_t> ones(rank, 1);
  const uint32_t* steps = shape.element_strides.empty() ? ones.data() : shape.element_strides.data();
  TensorMap map;
  const int type = type_of(shape.type), swizzle = swizzle_of(shape.swizzle_bytes);
  const Result result =
      shape.box.empty()
          ? api().tensor_map_im2col(&map, type, rank, address, shape.dims.data(), shape.stride_bytes.data(),
                                    shape.lower_corner.data(), shape.upper_corner.data(), shape.channels, shape.pixels,
                                    steps, 0, swizzle, kPromote256, 0)
          : api().tensor_map_tiled(&map, type, rank, address, shape.dims.data(), shape.stride_bytes.data(),
                                   shape.box.data(), steps, 0, swizzle, kPromote256, 0);
  if (result != kSuccess)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("tensor map: {}: dimensions {}, strides {} bytes, box {}, swizzle {}; strides and address are "
                    "multiples of 16, boxes at most 256 and the innermost no wider than the swizzle",
                    words_of(api(), result), fmt::join(shape.dims, "x"), fmt::join(shape.stride_bytes, ", "),
                    fmt::join(shape.box, "x"), shape.swizzle_bytes));
  mend_small(map, shape);
  std::memcpy(out, &map, sizeof map);
}

}  // namespace trine::cuda
