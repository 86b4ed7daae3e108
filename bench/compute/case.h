// One algorithm of examples/compute as a problem for several parties: arrays, and the launches that work on them. The
// kernels in CUDA C++ are the example's own; those in OpenCL C (opencl/NAME.cl) have the same names and arguments where
// nothing else is said.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "trine/compute/module.h"

namespace trine::bench_compute {

using compute::Dim3;

enum class Type : uint8_t { f32, f64, i32, u32, u64 };
size_t bytes_of(Type type);

// `content` is there before every comparison and every round; that of outputs is poison.
struct Array {
  Type type = Type::f32;
  std::vector<std::byte> content;
  bool is_output = false;

  size_t count() const { return content.size() / bytes_of(type); }
};

template <class T>
Array input(Type type, const std::vector<T>& values) {
  Array array{.type = type, .content = std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(array.content.data(), values.data(), array.content.size());
  return array;
}
template <class T>
Array in_out(Type type, const std::vector<T>& values) {
  Array array = input(type, values);
  array.is_output = true;
  return array;
}
Array output(Type type, size_t count);
Array scratch(Type type, size_t count);  // poisoned too, and not compared

// Stands for the address of an array.
struct ArrayIndex {
  int index;
};

struct Argument {
  Argument(ArrayIndex of) : array(of.index) {}  // NOLINT: written in lists
  template <class T>
  Argument(const T& scalar) : bytes(sizeof(T)) {  // NOLINT
    static_assert(sizeof(T) <= sizeof value);
    std::memcpy(value.data(), &scalar, sizeof(T));
  }

  int array = -1;
  uint32_t bytes = sizeof(void*);
  alignas(16) std::array<std::byte, 16> value{};
};

// A launch; or, without a kernel, zeros in array `to`, or a copy of array `from`.
struct Step {
  std::string kernel;
  Dim3 grid, block;
  std::vector<Argument> arguments;
  int to = -1, from = -1;
};
Step zeros(ArrayIndex to);
Step copied(ArrayIndex to, ArrayIndex from);

enum class Language : uint8_t { cuda, opencl };

// Equal: |a - b| <= absolute + relative * |b|, save for a share of all elements.
struct Tolerance {
  double absolute = 0, relative = 0, share = 0;
};

struct Case {
  std::string name;  // of the example: nbody
  std::string size;  // for the table: "8192 bodies"
  std::vector<Array> arrays;
  std::vector<double> numbers;  // for the loop in C++
  std::vector<std::string> instances;
  Dim3 block;                       // of the example
  std::vector<Dim3> opencl_blocks;  // that are tried: OpenCL C sees them as BLOCK_X and BLOCK_Y
  std::function<std::vector<Step>(Language, Dim3 block)> steps;
  Tolerance tolerance;
  double flops = 0, bytes = 0;  // what one run cannot do without; bytes only where caches do not hold them
  bool divergent = false;       // compared with its scalar form too
};

struct Sizes {
  bool small = false;  // for tests
  int of(int usual, int tiny) const { return small ? tiny : usual; }
};

struct CaseRow {
  const char* name;
  Case (*make)(std::mt19937& random, Sizes sizes);
};
std::span<const CaseRow> case_rows();

inline uint32_t blocks_for(size_t work, uint32_t block) { return static_cast<uint32_t>((work + block - 1) / block); }
std::vector<float> uniform(std::mt19937& random, size_t count, float low, float high);
std::vector<float> normal(std::mt19937& random, size_t count);

}  // namespace trine::bench_compute
