// Copies from and to arrays. Offsets and widths count bytes, but in cudaMemcpy3D, where they count texels.
#include "compute/texture_check.h"
#include "cudart/array.h"
#include "cudart/memory.h"
#include "cudart/stream.h"

namespace trine::cudart {
namespace {

using compute::BoxCopy;
using compute::BoxSide;
using compute::StreamHandle;

struct Extent {
  size_t width_bytes, height, depth;
};

bool is_host(const void* address, bool to, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice) return !to;
  if (kind == cudaMemcpyDeviceToHost) return to;
  if (kind != cudaMemcpyDefault) return kind == cudaMemcpyHostToHost;
  Allocation there;
  return !find_allocation(address, there) || there.type != cudaMemoryTypeDevice;
}

BoxSide side_of(const void* memory, size_t row_bytes, size_t rows, bool to, const Extent& extent, cudaMemcpyKind kind) {
  need(memory && row_bytes >= extent.width_bytes);
  need_inside(memory, row_bytes * (rows * (extent.depth - 1) + extent.height - 1) + extent.width_bytes);
  return {.memory = const_cast<void*>(memory), .host = is_host(memory, to, kind), .row_bytes = row_bytes, .rows = rows};
}

// A part of an array, which it must hold.
BoxSide side_of(const cudaArray& array, size_t x_bytes, size_t y, size_t z, const Extent& extent) {
  const compute::LevelExtent level = extent_of(array.shape, array.level);
  const size_t texel = array.shape.format.bytes(), width = level.width * texel;
  const size_t depth = compute::slices_of(array.shape, array.level);
  const auto inside = [](size_t at, size_t size, size_t all) { return at <= all && size <= all - at; };
  need(x_bytes % texel == 0 && extent.width_bytes % texel == 0 && inside(x_bytes, extent.width_bytes, width) &&
       inside(y, extent.height, level.height) && inside(z, extent.depth, depth));
  return {.array = array.handle, .level = array.level, .x_bytes = x_bytes, .y = y, .z = z};
}

void submit_copy(const BoxSide& to, const BoxSide& from, const Extent& extent, int device, cudaStream_t stream,
                 bool wait) {
  CUstream_st& on = stream_of(stream);
  const BoxCopy box{to, from, extent.width_bytes, extent.height, extent.depth};
  submit(on, cudaGraphNodeTypeMemcpy,
         [box, device](StreamHandle handle) { texture_table().copy(device, box, handle); });
  if (wait) synchronize(on);
}

// Where a flat copy goes on in an array: the rest of a row, whole rows, the begin of one.
struct Flat {
  const cudaArray& array;
  size_t x_bytes, y;
  char* memory;
  size_t bytes;
  bool to_array;
  cudaMemcpyKind kind;

  void run(cudaStream_t stream, bool wait) const {
    const size_t row = extent_of(array.shape, array.level).width * size_t{array.shape.format.bytes()};
    need(memory && x_bytes < row);
    for (size_t done = 0, x = x_bytes, line = y; done < bytes; x = 0) {
      const bool whole = x == 0 && bytes - done >= row;
      const size_t lines = whole ? (bytes - done) / row : 1, width = whole ? row : std::min(row - x, bytes - done);
      const Extent part{width, lines, 1};
      const BoxSide flat = side_of(memory + done, width, lines, !to_array, part, kind);
      const BoxSide box = side_of(array, x, line, 0, part);
      submit_copy(to_array ? box : flat, to_array ? flat : box, part, array.device, stream, wait);
      done += width * lines;
      line += lines;
    }
  }
};

}  // namespace

void copy_arrays_3d(const cudaMemcpy3DParms& p, cudaStream_t stream, bool wait) {
  const cudaArray& array = array_of(p.dstArray ? p.dstArray : p.srcArray);
  const size_t texel = array.shape.format.bytes();
  const Extent extent{p.extent.width * texel, p.extent.height, p.extent.depth};
  if (!extent.width_bytes || !extent.height || !extent.depth) return;
  const auto side = [&](cudaArray_t of, const cudaPitchedPtr& memory, const cudaPos& at, bool to) {
    if (of) return side_of(*of, at.x * of->shape.format.bytes(), at.y, at.z, extent);
    BoxSide made = side_of(memory.ptr, memory.pitch, memory.ysize ? memory.ysize : p.extent.height, to, extent, p.kind);
    made.x_bytes = at.x;
    made.y = at.y;
    made.z = at.z;
    return made;
  };
  submit_copy(side(p.dstArray, p.dstPtr, p.dstPos, true), side(p.srcArray, p.srcPtr, p.srcPos, false), extent,
              array.device, stream, wait);
}

namespace {

void copy_2d(cudaArray_const_t array, size_t x, size_t y, const void* memory, size_t pitch, size_t width, size_t height,
             bool to_array, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  const cudaArray& of = array_of(array);
  if (!width || !height) return;
  const Extent extent{width, height, 1};
  const BoxSide box = side_of(of, x, y, 0, extent), flat = side_of(memory, pitch, height, !to_array, extent, kind);
  submit_copy(to_array ? box : flat, to_array ? flat : box, extent, of.device, stream, wait);
}

}  // namespace
}  // namespace trine::cudart

using namespace trine::cudart;

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&] {
    Flat{array_of(to), x, y, static_cast<char*>(const_cast<void*>(from)), bytes, true, kind}.run(nullptr, true);
  });
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    Flat{array_of(to), x, y, static_cast<char*>(const_cast<void*>(from)), bytes, true, kind}.run(stream, false);
  });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return call([&] { Flat{array_of(from), x, y, static_cast<char*>(to), bytes, false, kind}.run(nullptr, true); });
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { Flat{array_of(from), x, y, static_cast<char*>(to), bytes, false, kind}.run(stream, false); });
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return call([&] { copy_2d(to, x, y, from, pitch, width, height, true, kind, nullptr, true); });
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { copy_2d(to, x, y, from, pitch, width, height, true, kind, stream, false); });
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return call([&] { copy_2d(from, x, y, to, pitch, width, height, false, kind, nullptr, true); });
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { copy_2d(from, x, y, to, pitch, width, height, false, kind, stream, false); });
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind) {
  return call([&] {
    const Extent extent{width, height, 1};
    const cudaArray& target = array_of(to);
    submit_copy(side_of(target, to_x, to_y, 0, extent), side_of(array_of(from), from_x, from_y, 0, extent), extent,
                target.device, nullptr, true);
  });
}
