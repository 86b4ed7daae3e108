// Heat in a plate: u_t = a (u_xx + u_yy), explicit steps on a grid whose rim keeps its temperature. The steps are one
// graph, captured once and replayed.
//
//   trine cc examples/compute/heat.cu -o heat && ./heat [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>

#include "support.h"

constexpr int kSize = 512, kSteps = 100, kReplays = 20;
constexpr float kFlow = 0.2f;  // a dt / dx^2; stable up to 1/4

__host__ __device__ float next(const float* u, int x, int y) {
  const float* p = u + y * kSize + x;
  return p[0] + kFlow * (p[-1] + p[1] + p[-kSize] + p[kSize] - 4 * p[0]);
}

__global__ void step(const float* from, float* to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kSize || y >= kSize) return;
  const bool rim = x == 0 || y == 0 || x == kSize - 1 || y == kSize - 1;
  to[y * kSize + x] = rim ? from[y * kSize + x] : next(from, x, y);
}

int main(int argc, char** argv) {
  std::vector<float> u(size_t{kSize} * kSize);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) {
      const int dx = x - kSize / 3, dy = y - kSize / 2;
      u[size_t(y) * kSize + x] = y == 0 || dx * dx + dy * dy < 2500 ? 1.0f : 0.0f;
    }
  DeviceArray<float> a(u), b(u.size());
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  const dim3 block(32, 8), grid(blocks_for(kSize, 32), blocks_for(kSize, 8));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kSteps / 2; ++i) {
    step<<<grid, block, 0, stream>>>(a.get(), b.get());
    step<<<grid, block, 0, stream>>>(b.get(), a.get());
  }
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));

  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> want = u, other = u;
  for (int s = 0; s < kSteps; ++s) {
    for (int y = 1; y < kSize - 1; ++y)
      for (int x = 1; x < kSize - 1; ++x) other[size_t(y) * kSize + x] = next(want.data(), x, y);
    want.swap(other);
  }
  const std::vector<float> got = a.to_host();
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::fmax(worst, std::fabs(got[i] - want[i]));

  const float ms = milliseconds(
      [&] {
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
      },
      kReplays);
  std::printf("%d x %d, %d steps: %.2f ms, %.2f G points/s, largest error %.1e\n", kSize, kSize, kSteps, ms,
              double{kSteps} * kSize * kSize / ms * 1e-6, worst);
  if (argc > 1) {
    const std::vector<float> last = a.to_host();
    std::vector<uint8_t> picture(last.size() * 3);
    for (size_t i = 0; i < last.size(); ++i) {
      const float t = std::fmin(1.0f, last[i] * 1.2f);
      picture[i * 3] = static_cast<uint8_t>(255 * std::fmin(1.0f, t * 2));
      picture[i * 3 + 1] = static_cast<uint8_t>(255 * t * t);
      picture[i * 3 + 2] = static_cast<uint8_t>(255 * (t < 0.5f ? 0.3f + t : 1.3f - t));
    }
    stbi_write_png(argv[1], kSize, kSize, 3, picture.data(), kSize * 3);
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  return worst < 1e-4f ? 0 : 1;
}
