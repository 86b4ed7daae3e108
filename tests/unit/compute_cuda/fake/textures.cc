// The driver that pretends: arrays are rows in the host's memory; objects keep what they were made with.
#include <vector>

#include "state.h"

namespace trine::fake {
namespace {

struct ArrayData {
  size_t row_bytes, rows;
  std::vector<char> bytes;
};
struct MipmapData {
  std::vector<ArrayData> levels;
};

size_t channel_bytes(int format) {
  return format == 1 || format == 8 ? 1 : format == 2 || format == 9 || format == 0x10 ? 2 : 4;
}

ArrayData make(const cuda::ArrayDescriptor& d, unsigned level) {
  const auto size = [level](size_t n) { return std::max<size_t>(1, n >> level); };
  const bool layers = d.flags & (cuda::kLayered | cuda::kCubemap);
  ArrayData data{size(d.width) * d.channels * channel_bytes(d.format), size(d.height), {}};
  data.bytes.assign(data.row_bytes * data.rows * (layers ? d.depth : size(d.depth)), char(0xa5));
  return data;
}

ArrayData& data_of(cuda::ArrayId id) { return *reinterpret_cast<ArrayData*>(id); }

}  // namespace

char* row_of_array(const cuda::CopyEnd& end, size_t y, size_t z) {
  ArrayData& array = data_of(end.array);
  return array.bytes.data() + ((end.z + z) * array.rows + end.y + y) * array.row_bytes + end.x;
}

std::vector<cuda::ResourceDescriptor>& resources() {
  static std::vector<cuda::ResourceDescriptor> all;
  return all;
}
std::vector<cuda::TextureDescriptor>& textures() {
  static std::vector<cuda::TextureDescriptor> all;
  return all;
}

extern "C" {

cuda::Result cuArray3DCreate_v2(cuda::ArrayId* array, const cuda::ArrayDescriptor* descriptor) {
  if (const cuda::Result r = enter("cuArray3DCreate_v2")) return r;
  *array = reinterpret_cast<cuda::ArrayId>(new ArrayData(make(*descriptor, 0)));
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuArrayDestroy(cuda::ArrayId array) {
  delete &data_of(array);
  --state().objects;
  return enter("cuArrayDestroy");
}
cuda::Result cuMipmappedArrayCreate(cuda::MipmapId* mipmap, const cuda::ArrayDescriptor* descriptor, unsigned levels) {
  if (const cuda::Result r = enter("cuMipmappedArrayCreate")) return r;
  auto* data = new MipmapData;
  for (unsigned i = 0; i < levels; ++i) data->levels.push_back(make(*descriptor, i));
  *mipmap = reinterpret_cast<cuda::MipmapId>(data);
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuMipmappedArrayGetLevel(cuda::ArrayId* array, cuda::MipmapId mipmap, unsigned level) {
  *array = reinterpret_cast<cuda::ArrayId>(&reinterpret_cast<MipmapData*>(mipmap)->levels.at(level));
  return enter("cuMipmappedArrayGetLevel");
}
cuda::Result cuMipmappedArrayDestroy(cuda::MipmapId mipmap) {
  delete reinterpret_cast<MipmapData*>(mipmap);
  --state().objects;
  return enter("cuMipmappedArrayDestroy");
}
cuda::Result cuTexObjectCreate(uint64_t* texture, const cuda::ResourceDescriptor* resource,
                               const cuda::TextureDescriptor* how, const void*) {
  if (const cuda::Result r = enter("cuTexObjectCreate")) return r;
  resources().push_back(*resource);
  textures().push_back(*how);
  *texture = resources().size();
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuTexObjectDestroy(uint64_t) {
  --state().objects;
  return enter("cuTexObjectDestroy");
}
cuda::Result cuSurfObjectCreate(uint64_t* surface, const cuda::ResourceDescriptor* resource) {
  if (const cuda::Result r = enter("cuSurfObjectCreate")) return r;
  resources().push_back(*resource);
  *surface = resources().size();
  ++state().objects;
  return cuda::kSuccess;
}
cuda::Result cuSurfObjectDestroy(uint64_t) {
  --state().objects;
  return enter("cuSurfObjectDestroy");
}

}  // extern "C"
}  // namespace trine::fake
