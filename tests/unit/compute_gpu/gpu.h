// The GPU of this machine, with buffers whose ends are watched. Tests are skipped, with the reason, where there is
// none.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sources.h"
#include "trine/base/error.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"

namespace trine::compute {

// The only device of the backend, opened once; null when there is none.
inline Device* the_gpu() {
  static const auto gpu = []() -> std::unique_ptr<Device> {
    try {
      return std::make_unique<Device>(Device::open("cuda:0"));
    } catch (const Error& e) {
      printf("%s\n", e.what());
      return nullptr;
    }
  }();
  return gpu.get();
}

inline std::string error_of(ErrorCode code, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "no error";
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!the_gpu()) GTEST_SKIP() << "no GPU";
    seed_ = std::random_device{}();
    random_.seed(seed_);
    printf("seed %u\n", seed_);
    stream_ = std::make_unique<Stream>(gpu().create_stream());
  }

  static const Device& gpu() { return *the_gpu(); }
  Stream& stream() { return *stream_; }
  static const Module& module() {
    static const Module compiled = Module::compile(gpu(), kKernels);
    return compiled;
  }

  std::vector<int> random_ints(size_t count) {
    std::uniform_int_distribution<int> distribution(-100000, 100000);
    std::vector<int> values(count);
    for (int& value : values) value = distribution(random_);
    return values;
  }
  std::vector<float> random_floats(size_t count) {
    std::uniform_real_distribution<float> distribution(-100, 100);
    std::vector<float> values(count);
    for (float& value : values) value = distribution(random_);
    return values;
  }

  // On the device; with a poisoned rest that must stay so.
  template <class T>
  Buffer put(const std::vector<T>& values) {
    Buffer buffer = gpu().allocate(values.size() * sizeof(T) + 64);
    stream().fill(buffer, 0xcd);
    stream().upload(buffer, 0, values.data(), values.size() * sizeof(T));
    stream().synchronize();
    return buffer;
  }
  template <class T>
  Buffer poisoned(size_t count) {
    return put(std::vector<T>(count, T(-77)));
  }
  template <class T>
  std::vector<T> get(const Buffer& buffer, size_t count) {
    std::vector<T> values(count);
    std::vector<uint8_t> rest(64);
    stream().download(values.data(), buffer, 0, count * sizeof(T));
    stream().download(rest.data(), buffer, count * sizeof(T), 64);
    stream().synchronize();
    EXPECT_EQ(rest, std::vector<uint8_t>(64, 0xcd));
    return values;
  }

  unsigned seed_ = 0;
  std::mt19937 random_;
  std::unique_ptr<Stream> stream_;
};

constexpr size_t kSizes[] = {1, 31, 32, 33, 96, 256, 1024, 1 << 20};

template <class T>
T* at(const Buffer& buffer) {
  return static_cast<T*>(buffer.data());
}
inline uint32_t blocks(size_t n, uint32_t threads) { return static_cast<uint32_t>((n + threads - 1) / threads); }

}  // namespace trine::compute
