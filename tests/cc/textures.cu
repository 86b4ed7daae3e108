// Texture objects as programs use them: a picture is turned, a volume and layers are read, levels are chosen, a surface
// is written; each against plain loops on the host.
#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                        \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      return 1;                                                                        \
    }                                                                                  \
  } while (0)
#define EXPECT(condition)                                          \
  if (!(condition)) {                                              \
    printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    return 1;                                                      \
  }

constexpr int kWidth = 65, kHeight = 33;

__global__ void turn(float* out, cudaTextureObject_t picture, int width, int height, float angle) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
  const float s = sinf(angle), c = cosf(angle);
  out[y * width + x] = tex2D<float>(picture, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

__global__ void brighten(cudaSurfaceObject_t to, cudaTextureObject_t from, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float4 p = tex2D<float4>(from, x + 0.5f, y + 0.5f);
  const uchar4 q = make_uchar4(p.x * 255 + 0.5f, p.y * 255 + 0.5f, p.z * 255 + 0.5f, 255);
  surf2Dwrite(q, to, x * (int)sizeof(uchar4), y);
}

__global__ void look(cudaTextureObject_t volume, cudaTextureObject_t layers, cudaTextureObject_t mipmaps, float* out) {
  const int i = threadIdx.x;
  out[i] = tex3D<float>(volume, i % 2 + 1.0f, 0.5f, 1.0f);
  out[i + 8] = tex2DLayered<float>(layers, 1.5f, 0.5f, i % 3);
  out[i + 16] = tex2DLod<float>(mipmaps, 0.5f, 0.5f, i * 0.5f);
}

static double at(const std::vector<float>& picture, int x, int y) {
  x = (x % kWidth + kWidth) % kWidth, y = (y % kHeight + kHeight) % kHeight;
  return picture[y * kWidth + x];
}

static int turn_a_picture() {
  std::vector<float> picture(kWidth * kHeight), got(picture.size());
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * 7919 % 1000) / 1000;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &channels, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
  how.filterMode = cudaFilterModeLinear;
  how.normalizedCoords = 1;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaTextureDesc told;
  CHECK(cudaGetTextureObjectTextureDesc(&told, texture));
  EXPECT(told.filterMode == cudaFilterModeLinear && told.normalizedCoords == 1);

  float* out;
  CHECK(cudaMalloc(&out, got.size() * 4));
  const dim3 block(16, 8), grid((kWidth + 15) / 16, (kHeight + 7) / 8);
  turn<<<grid, block>>>(out, texture, kWidth, kHeight, 0.5f);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const double u = (x + 0.5) / kWidth - 0.5, v = (y + 0.5) / kHeight - 0.5, s = std::sin(0.5), c = std::cos(0.5);
      const double px = (u * c - v * s + 0.5) * kWidth - 0.5, py = (v * c + u * s + 0.5) * kHeight - 0.5;
      const int i = static_cast<int>(std::floor(px)), j = static_cast<int>(std::floor(py));
      const double a = px - i, b = py - j;
      const double expected = (1 - b) * ((1 - a) * at(picture, i, j) + a * at(picture, i + 1, j)) +
                              b * ((1 - a) * at(picture, i, j + 1) + a * at(picture, i + 1, j + 1));
      EXPECT(std::abs(got[y * kWidth + x] - expected) < 2.0 / 256);
    }
  CHECK(cudaDestroyTextureObject(texture));
  EXPECT(cudaDestroyTextureObject(texture) == cudaErrorInvalidResourceHandle);
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  return 0;
}

static int write_a_surface() {
  std::vector<uchar4> in(kWidth * kHeight), got(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = make_uchar4(i % 256, i / 3 % 256, 255 - i % 256, 7);
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
  cudaArray_t from, to;
  CHECK(cudaMallocArray(&from, &channels, kWidth, kHeight));
  CHECK(cudaMallocArray(&to, &channels, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpyToArray(from, 0, 0, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = from;
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  EXPECT(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
  cudaGetLastError();
  resource.res.array.array = to;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  const dim3 block(16, 8), grid((kWidth + 15) / 16, (kHeight + 7) / 8);
  brighten<<<grid, block>>>(surface, texture, kWidth, kHeight);
  CHECK(cudaMemcpy2DFromArray(got.data(), kWidth * 4, to, 0, 0, kWidth * 4, kHeight, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT(got[i].x == in[i].x && got[i].y == in[i].y && got[i].z == in[i].z && got[i].w == 255);
  cudaExtent extent;
  unsigned flags;
  CHECK(cudaArrayGetInfo(nullptr, &extent, &flags, to));
  EXPECT(extent.width == kWidth && extent.height == kHeight && extent.depth == 0 && flags == cudaArraySurfaceLoadStore);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(from));
  CHECK(cudaFreeArray(to));
  return 0;
}

static int look_at_volumes() {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  std::vector<float> values(4 * 2 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  cudaArray_t arrays[2];
  CHECK(cudaMalloc3DArray(&arrays[0], &channels, make_cudaExtent(4, 2, 3)));
  CHECK(cudaMalloc3DArray(&arrays[1], &channels, make_cudaExtent(4, 2, 3), cudaArrayLayered));
  for (cudaArray_t array : arrays) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 16, 4, 2);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 2, 3);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
  }
  cudaMipmappedArray_t mipmaps;
  CHECK(cudaMallocMipmappedArray(&mipmaps, &channels, make_cudaExtent(4, 4, 0), 3));
  for (unsigned level = 0; level < 3; ++level) {
    const std::vector<float> same(16, 10.0f * level);
    cudaArray_t one;
    CHECK(cudaGetMipmappedArrayLevel(&one, mipmaps, level));
    CHECK(cudaMemcpy2DToArray(one, 0, 0, same.data(), 16, (4 >> level) * 4, 4 >> level, cudaMemcpyHostToDevice));
  }
  cudaTextureObject_t textures[3];
  cudaTextureDesc how = {};
  for (int i = 0; i < 3; ++i) how.addressMode[i] = cudaAddressModeClamp;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  how.filterMode = cudaFilterModeLinear;
  resource.res.array.array = arrays[0];
  CHECK(cudaCreateTextureObject(&textures[0], &resource, &how, nullptr));
  resource.res.array.array = arrays[1];
  CHECK(cudaCreateTextureObject(&textures[1], &resource, &how, nullptr));
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmaps;
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.maxMipmapLevelClamp = 2;
  EXPECT(cudaCreateTextureObject(&textures[2], &resource, &how, nullptr) == cudaErrorInvalidValue);
  how.normalizedCoords = 1;
  CHECK(cudaCreateTextureObject(&textures[2], &resource, &how, nullptr));
  float* out;
  float got[24];
  CHECK(cudaMalloc(&out, sizeof got));
  look<<<1, 8>>>(textures[0], textures[1], textures[2], out);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) {
    EXPECT(got[i] == 4.5f + i % 2);  // half of two columns and of two slices, which are 8 apart
    EXPECT(got[i + 8] == 1 + 8 * (i % 3));
    EXPECT(got[i + 16] == (i < 4 ? 5.0f * i : 20.0f));
  }
  for (cudaTextureObject_t texture : textures) CHECK(cudaDestroyTextureObject(texture));
  for (cudaArray_t array : arrays) CHECK(cudaFreeArray(array));
  CHECK(cudaFreeMipmappedArray(mipmaps));
  CHECK(cudaFree(out));
  return 0;
}

int main() {
  if (turn_a_picture() || write_a_surface() || look_at_volumes()) return 1;
  printf("passed\n");
}
