// Heat in a plate: u_t = a (u_xx + u_yy), explicit steps on a grid whose rim keeps its temperature. The steps are one
// graph, captured once and replayed.
//
//   trine cc examples/compute/heat.cu -o heat && ./heat [points a side] [picture.png]
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>

#include "support.h"

constexpr int kSteps = 100;
constexpr float kFlow = 0.2f;  // a dt / dx^2; stable up to 1/4

__host__ __device__ float next(const float* p, int n) {
  return p[0] + kFlow * (p[-1] + p[1] + p[-n] + p[n] - 4 * p[0]);
}

__global__ void step(const float* from, float* to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const bool rim = x == 0 || y == 0 || x == n - 1 || y == n - 1;
  const int i = y * n + x;
  to[i] = rim ? from[i] : next(from + i, n);
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv, 512, 96);
  const int n = options.size, radius = n / 10;
  std::vector<float> u(size_t(n) * n);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int dx = x - n / 3, dy = y - n / 2;
      u[size_t(y) * n + x] = y == 0 || dx * dx + dy * dy < radius * radius ? 1.0f : 0.0f;
    }
  DeviceArray<float> a(u), b(u.size());
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  const dim3 block(32, 8), grid(blocks_for(n, 32), blocks_for(n, 8));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kSteps / 2; ++i) {
    step<<<grid, block, 0, stream>>>(a.get(), b.get(), n);
    step<<<grid, block, 0, stream>>>(b.get(), a.get(), n);
  }
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));

  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> want = u, other = u;
  for (int s = 0; s < kSteps; ++s) {
    for (int y = 1; y < n - 1; ++y)
      for (int x = 1; x < n - 1; ++x) other[size_t(y) * n + x] = next(&want[size_t(y) * n + x], n);
    want.swap(other);
  }
  const std::vector<float> got = a.to_host();
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::fmax(worst, std::fabs(got[i] - want[i]));

  const float ms = milliseconds([&] {
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
  });
  std::printf("%d x %d, %d steps: %.3f ms, %.2f G points/s, largest error %.1e\n", n, n, kSteps, ms,
              double{kSteps} * n * n / ms * 1e-6, worst);
  if (options.picture) {
    const std::vector<float> last = a.to_host();
    std::vector<uint8_t> picture(last.size() * 3);
    for (size_t i = 0; i < last.size(); ++i) {
      const float t = std::fmin(1.0f, last[i] * 1.2f);
      picture[i * 3] = static_cast<uint8_t>(255 * std::fmin(1.0f, t * 2));
      picture[i * 3 + 1] = static_cast<uint8_t>(255 * t * t);
      picture[i * 3 + 2] = static_cast<uint8_t>(255 * (t < 0.5f ? 0.3f + t : 1.3f - t));
    }
    stbi_write_png(options.picture, n, n, 3, picture.data(), n * 3);
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  return worst < 1e-4f ? 0 : 1;
}
