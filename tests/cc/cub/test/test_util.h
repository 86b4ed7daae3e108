// What CUB's examples use of the header ../../test/test_util.h, which Debian does not ship: command lines, random data,
// comparisons, timers.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/util_debug.cuh>
#include <cub/util_device.cuh>
#include <cub/util_type.cuh>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#define AssertEquals(a, b)                                                                  \
  do {                                                                                      \
    if ((a) != (b)) {                                                                       \
      std::cerr << "line " << __LINE__ << ": " << (a) << ", expected " << (b) << std::endl; \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (false)

// --name and --name=value.
class CommandLineArgs {
 public:
  CommandLineArgs(int argc, char** argv) : words_(argv + 1, argv + argc) {}

  bool CheckCmdLineFlag(const char* name) const {
    for (const std::string& word : words_)
      if (word == "--" + std::string(name) ||
          word.compare(0, std::strlen(name) + 3, "--" + std::string(name) + "=") == 0)
        return true;
    return false;
  }

  template <class T>
  void GetCmdLineArgument(const char* name, T& value) const {
    const std::string start = "--" + std::string(name) + "=";
    for (const std::string& word : words_)
      if (word.compare(0, start.size(), start) == 0) std::istringstream(word.substr(start.size())) >> value;
  }

  cudaError_t DeviceInit(int device = 0) const {
    GetCmdLineArgument("device", device);
    return cudaSetDevice(device);
  }

 private:
  std::vector<std::string> words_;
};

template <class To, class From>
To SafeBitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

// Every bit at random; of floating-point numbers, those that are numbers.
template <class T>
void RandomBits(T& value) {
  static std::mt19937 generator(1);
  do {
    unsigned char bytes[sizeof(T)];
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(generator());
    std::memcpy(&value, bytes, sizeof(T));
  } while (value != value);
}

template <class T>
void DisplayResults(const T* values, size_t count) {
  for (size_t i = 0; i < count; ++i) std::cout << values[i] << ", ";
  std::cout << "\n";
}

// By ==: the order of sorted keys does not tell -0 from 0.
template <class T>
int CompareDeviceResults(const T* reference, const T* device, size_t count, bool verbose = true, bool display = false) {
  std::vector<T> values(count);
  if (cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  if (display) DisplayResults(values.data(), count);
  for (size_t i = 0; i < count; ++i)
    if (!(values[i] == reference[i])) {
      if (verbose) std::cout << "element " << i << " differs; ";
      return 1;
    }
  return 0;
}

class GpuTimer {
 public:
  GpuTimer() {
    cudaEventCreate(&start_);
    cudaEventCreate(&stop_);
  }
  ~GpuTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  void Start() { cudaEventRecord(start_, 0); }
  void Stop() { cudaEventRecord(stop_, 0); }
  float ElapsedMillis() {
    float elapsed = 0;
    cudaEventSynchronize(stop_);
    cudaEventElapsedTime(&elapsed, start_, stop_);
    return elapsed;
  }

 private:
  cudaEvent_t start_, stop_;
};
