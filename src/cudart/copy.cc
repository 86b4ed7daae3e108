// Copies and fills.
#include <cstring>

#include "cudart/array.h"
#include "cudart/memory.h"
#include "cudart/programs.h"
#include "cudart/stream.h"
#include "simt/check/memory_map.h"

using namespace trine::cudart;

namespace {

using trine::compute::CopyKind;
using trine::compute::StreamHandle;
using trine::simt::MemoryMap;

bool on_device(const void* address) {
  Allocation there;
  return find_allocation(address, there) && there.type == cudaMemoryTypeDevice;
}

struct Copy {
  int device;
  char* to;
  const char* from;
  size_t to_pitch, from_pitch, width, height;
  cudaMemcpyKind kind;

  void operator()(StreamHandle stream) const {
    for (size_t y = 0; y < height; ++y) told_row(to + y * to_pitch, from + y * from_pitch, stream);
  }

 private:
  // The CPU's copies are done when they return.
  void told_row(char* to_row, const char* from_row, StreamHandle stream) const {
    if (!MemoryMap::is_enabled()) return row(to_row, from_row, stream);
    const bool unwritten = MemoryMap::of_process().before_copy(to_row, from_row, width);
    row(to_row, from_row, stream);
    if (unwritten) MemoryMap::of_process().after_copy(to_row, width);
  }

  void row(char* to_row, const char* from_row, StreamHandle stream) const {
    const auto& table = *machine().table;
    const bool guess = kind == cudaMemcpyDefault;
    const bool to_device =
        guess ? on_device(to_row) : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool of_device =
        guess ? on_device(from_row) : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!to_device && !of_device) {
      table.synchronize(device, stream);
      std::memmove(to_row, from_row, width);
      return;
    }
    table.copy(device, to_row, from_row, width,
               !to_device   ? CopyKind::device_to_host
               : !of_device ? CopyKind::host_to_device
                            : CopyKind::device_to_device,
               stream);
  }
};

void need_kind(cudaMemcpyKind kind) {
  need(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
}

size_t extent(size_t pitch, size_t width, size_t height) { return height ? pitch * (height - 1) + width : 0; }

void copy(const Copy& what, cudaStream_t stream, bool wait) {
  need_kind(what.kind);
  if (!what.width || !what.height) return;
  need(what.to && what.from);
  need(what.to_pitch >= what.width && what.from_pitch >= what.width, cudaErrorInvalidPitchValue);
  need_inside(what.to, extent(what.to_pitch, what.width, what.height));
  need_inside(what.from, extent(what.from_pitch, what.width, what.height));
  CUstream_st& on = stream_of(stream);
  submit(on, cudaGraphNodeTypeMemcpy, what);
  if (wait) synchronize(on);
}

Copy flat(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return {current_device(), static_cast<char*>(to), static_cast<const char*>(from), bytes, bytes, bytes, 1, kind};
}

void copy_3d(const cudaMemcpy3DParms* p, cudaStream_t stream, bool wait) {
  need(p);
  if (p->srcArray || p->dstArray) return copy_arrays_3d(*p, stream, wait);
  const cudaExtent e = p->extent;
  const auto at = [](const cudaPitchedPtr& in, const cudaPos& pos, size_t slice) {
    return static_cast<char*>(in.ptr) + ((pos.z + slice) * in.ysize + pos.y) * in.pitch + pos.x;
  };
  for (size_t z = 0; z < e.depth; ++z)
    copy({current_device(), at(p->dstPtr, p->dstPos, z), at(p->srcPtr, p->srcPos, z), p->dstPtr.pitch, p->srcPtr.pitch,
          e.width, e.height, p->kind},
         stream, wait);
}

char* inside_symbol(const void* symbol, size_t bytes, size_t offset) {
  const auto variable = variable_of(symbol);
  need(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return static_cast<char*>(variable.address) + offset;
}

// Only fills of the host's memory are waited for.
void fill(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, bool wait) {
  if (!width || !height) return;
  need(to);
  need(height == 1 || pitch >= width, cudaErrorInvalidPitchValue);
  need_inside(to, extent(pitch, width, height));
  CUstream_st& on = stream_of(stream);
  submit(on, cudaGraphNodeTypeMemset, [=, device = on.device](StreamHandle handle) {
    for (size_t y = 0; y < height; ++y) {
      char* row = static_cast<char*>(to) + y * pitch;
      if (MemoryMap::is_enabled()) MemoryMap::of_process().before_fill(row, width);
      machine().table->fill(device, row, static_cast<uint8_t>(value), width, handle);
    }
  });
  if (wait && !on_device(to)) synchronize(on);
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&] { copy(flat(to, from, bytes, kind), nullptr, true); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { copy(flat(to, from, bytes, kind), stream, false); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return call([&] {
    copy({current_device(), static_cast<char*>(to), static_cast<const char*>(from), to_pitch, from_pitch, width, height,
          kind},
         nullptr, true);
  });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    copy({current_device(), static_cast<char*>(to), static_cast<const char*>(from), to_pitch, from_pitch, width, height,
          kind},
         stream, false);
  });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  return call([&] { copy_3d(p, nullptr, true); });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return call([&] { copy_3d(p, stream, false); });
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    need(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost, cudaErrorInvalidMemcpyDirection);
    copy(flat(inside_symbol(symbol, bytes, offset), from, bytes,
              kind == cudaMemcpyDefault && !on_device(from) ? cudaMemcpyHostToDevice : kind),
         stream, false);
  });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return call([&] {
    need(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost, cudaErrorInvalidMemcpyDirection);
    copy(flat(to, inside_symbol(symbol, bytes, offset), bytes,
              kind == cudaMemcpyDefault && !on_device(to) ? cudaMemcpyDeviceToHost : kind),
         stream, false);
  });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}
cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  return call([&] {
    need(out);
    *out = variable_of(symbol).address;
  });
}
cudaError_t cudaGetSymbolSize(size_t* out, const void* symbol) {
  return call([&] {
    need(out);
    *out = variable_of(symbol).bytes;
  });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call([&] { fill(to, bytes, value, bytes, 1, nullptr, true); });
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return call([&] { fill(to, bytes, value, bytes, 1, stream, false); });
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call([&] { fill(to, pitch, value, width, height, nullptr, true); });
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return call([&] { fill(to, pitch, value, width, height, stream, false); });
}
