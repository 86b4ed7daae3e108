// Inline PTX against plain C++: what a thread computes of two words, by both.
#pragma once

#include <bit>
#include <cfenv>
#include <cstdint>

#include "kernel_case.h"

namespace trine::compute {

// The kernel's thread has v and w, random words; f and g, floats of any bits; a result goes through mix().
#define TRINE_PTX_HEAD                                                                                                 \
  "__device__ void mix(unsigned& r, unsigned x) { r = r * 31 + x; }\n"                                                 \
  "__device__ void mix(unsigned& r, unsigned long long x) { mix(r, (unsigned)x); mix(r, (unsigned)(x >> 32)); }\n"     \
  "__device__ void mix(unsigned& r, float x) { mix(r, x != x ? 7u : __float_as_uint(x)); }\n"                          \
  "__device__ void mix(unsigned& r, double x) { mix(r, x != x ? 7ull : (unsigned long long)__double_as_longlong(x)); " \
  "}\n"                                                                                                                \
  "__global__ void k(const int* in, int* out, int n) {\n"                                                              \
  "int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t; unsigned v = in[i], w = in[(i * 7 + 3) % n], r " \
  "= 0;\n"                                                                                                             \
  "float f = __uint_as_float(v), g = __uint_as_float(w); int lane = t % 32; (void)f; (void)g; (void)lane; "            \
  "(void)size;\n"

struct PtxWords {
  uint32_t v, w;
  int i, t;  // of the grid, of the block
  float f() const { return std::bit_cast<float>(v); }
  float g() const { return std::bit_cast<float>(w); }
};

class Mixed {
 public:
  void add(uint32_t x) { value = value * 31 + x; }
  void add(int x) { add(static_cast<uint32_t>(x)); }
  void add(bool x) { add(x ? 1u : 0u); }
  void add(uint64_t x) {
    add(static_cast<uint32_t>(x));
    add(static_cast<uint32_t>(x >> 32));
  }
  void add(int64_t x) { add(static_cast<uint64_t>(x)); }
  void add(float x) { add(x != x ? 7u : std::bit_cast<uint32_t>(x)); }
  void add(double x) { add(x != x ? uint64_t{7} : std::bit_cast<uint64_t>(x)); }
  uint32_t value = 0;
};

template <class Body>
void each_ptx(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (int i = 0; i < shape.all(); ++i) {
    Mixed mixed;
    body(PtxWords{static_cast<uint32_t>(in[static_cast<size_t>(i)]),
                  static_cast<uint32_t>(in[static_cast<size_t>((i * 7 + 3) % shape.all())]), i, i % shape.threads()},
         mixed);
    out[static_cast<size_t>(i)] = static_cast<int>(mixed.value);
  }
}

// f() computed in a rounding mode of the machine.
template <class F>
auto rounded(int mode, const F& f) {
  const int before = std::fegetround();
  std::fesetround(mode);
  const auto result = f();
  std::fesetround(before);
  return result;
}

}  // namespace trine::compute
