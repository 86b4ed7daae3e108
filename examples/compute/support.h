// What the examples share: options, errors, times. They need nothing but the CUDA runtime API and stb (Debian:
// libstb-dev).
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    const cudaError_t error = (call);                                                                \
    if (error != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (0)

// What stands behind a program's name: [SIZE] [--small] [PICTURE.png], in any order; what size means, the program says.
struct Options {
  int size;
  const char* picture = nullptr;  // the file that is wanted
};
inline Options options_of(int argc, char** argv, int usual, int small) {
  Options options{usual};
  for (int i = 1; i < argc; ++i) {
    const size_t length = std::strlen(argv[i]);
    char* end = nullptr;
    const long size = std::strtol(argv[i], &end, 10);
    if (!std::strcmp(argv[i], "--small")) options.size = small;
    else if (length > 4 && !std::strcmp(argv[i] + length - 4, ".png")) options.picture = argv[i];
    else if (*end == 0 && size > 0 && size < 1 << 30) options.size = static_cast<int>(size);
    else
      std::fprintf(stderr, "%s: %s; accepted are a size (%d), --small, a .png file\n", argv[0], argv[i], usual),
          std::exit(2);
  }
  return options;
}

// Device memory of `count` values; freed with its owner.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* get() const { return data_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> to_host() const {
    std::vector<T> host(count_);
    CHECK(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// Milliseconds of one run of `work` on the device: the least of `runs`, after one that does not count.
template <class F>
float milliseconds(F&& work, int runs = 5) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  work();
  float best = 1e30f;
  for (int i = 0; i < runs; ++i) {
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (ms < best) best = ms;
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return best;
}

inline unsigned blocks_for(size_t work, unsigned block) { return static_cast<unsigned>((work + block - 1) / block); }
