// half and bf16 in kernels: every result is the exact one rounded once, on every device and in every mode.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "kernel_case.h"
#include "narrow_case.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

struct Operands {
  const Format& format;
  uint32_t bits[3];
  long double a, b, c;
};

// The device's text makes an int, or a number N of which the bits count, of N a, b, c.
struct Row {
  const char* text;
  int (*expected)(const Operands& x);
};

int sum(const Operands& x, long double a, long double b) {
  const long double s = a + b, t = s - a, low = (a - (s - t)) + (b - t);
  return static_cast<int>(x.format.nearest(s, std::isfinite(s) ? low : 0));
}
int bits_of(const Operands& x, long double v) { return static_cast<int>(x.format.nearest(v)); }
// The quotient or root q of a remainder with the sign of `rest`.
int inexact(const Operands& x, long double q, long double rest) {
  return static_cast<int>(x.format.nearest(q, std::isfinite(rest) ? rest * 1e-30L : 0));
}
bool unordered(const Operands& x) { return std::isnan(x.a) || std::isnan(x.b); }
long double clipped(long double v, long double least, long double most) {
  return std::isnan(v) ? 0 : std::min(std::max(std::trunc(v), least), most);
}

const Row kRows[] = {
    {"a + b", [](const Operands& x) { return sum(x, x.a, x.b); }},
    {"a - b", [](const Operands& x) { return sum(x, x.a, -x.b); }},
    {"a * b", [](const Operands& x) { return bits_of(x, x.a * x.b); }},
    {"a / b", [](const Operands& x) { return inexact(x, x.a / x.b, std::fma(-(x.a / x.b), x.b, x.a) * x.b); }},
    {"__hfma(a, b, c)", [](const Operands& x) { return sum(x, x.a * x.b, x.c); }},
    {"__hfma2(N2(c, a), N2(a, b), N2(b, c)).y", [](const Operands& x) { return sum(x, x.a * x.b, x.c); }},
    {"(N2(c, a) + N2(a, b)).y", [](const Operands& x) { return sum(x, x.a, x.b); }},
    {"(N2(a, c) * N2(b, b)).x", [](const Operands& x) { return bits_of(x, x.a * x.b); }},
    {"hsqrt(a)", [](const Operands& x) { return bits_of(x, std::sqrt(x.a)); }},
    {"hrint(a)", [](const Operands& x) { return bits_of(x, std::nearbyint(x.a)); }},
    {"hfloor(a)", [](const Operands& x) { return bits_of(x, std::floor(x.a)); }},
    {"-a", [](const Operands& x) { return bits_of(x, -x.a); }},
    {"__habs(a)", [](const Operands& x) { return bits_of(x, std::fabs(x.a)); }},
    {"__hmul_sat(a, b)",
     [](const Operands& x) {
       const long double p = x.a * x.b;
       return bits_of(x, std::isnan(p) ? 0 : std::min(std::max(p, 0.0L) + 0.0L, 1.0L));
     }},
    {"__hmax(a, b)",
     [](const Operands& x) {
       if (x.a == 0 && x.b == 0) return static_cast<int>(x.bits[0] & x.bits[1]);
       return bits_of(x, std::fmax(x.a, x.b));
     }},
    {"__hmin_nan(a, b)",
     [](const Operands& x) {
       if (x.a == 0 && x.b == 0) return static_cast<int>(x.bits[0] | x.bits[1]);
       return bits_of(x, unordered(x) ? NAN : std::fmin(x.a, x.b));
     }},
    {"(a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a >= b) + 32 * (a > b)",
     [](const Operands& x) {
       return (x.a < x.b) + 2 * (x.a <= x.b) + 4 * (x.a == x.b) + 8 * (x.a != x.b) + 16 * (x.a >= x.b) +
              32 * (x.a > x.b);
     }},
    {"__hequ(a, b) + 2 * __hne(a, b) + 4 * __hltu(a, b) + 8 * __hleu(a, b) + 16 * __hgtu(a, b) + 32 * __hgeu(a, b)",
     [](const Operands& x) {
       const bool u = unordered(x);
       return (u || x.a == x.b) + 2 * (!u && x.a != x.b) + 4 * (u || x.a < x.b) + 8 * (u || x.a <= x.b) +
              16 * (u || x.a > x.b) + 32 * (u || x.a >= x.b);
     }},
    {"(int)__heq2_mask(N2(a, b), N2(a, a))",
     [](const Operands& x) { return static_cast<int>((x.a == x.a ? 0xffffu : 0) | (x.b == x.a ? 0xffff0000u : 0)); }},
    {"__hbgt2(N2(a, b), N2(b, c))", [](const Operands& x) { return static_cast<int>(x.a > x.b && x.b > x.c); }},
    {"__hisnan(a) + 4 * __hisinf(b)",
     [](const Operands& x) { return std::isnan(x.a) + 4 * (std::isinf(x.b) ? (x.b < 0 ? -1 : 1) : 0); }},
    {"to_int(a)", [](const Operands& x) { return static_cast<int>(clipped(x.a, -0x1p31L, 0x1p31L - 1)); }},
    {"to_short(a)", [](const Operands& x) { return static_cast<int>(clipped(x.a, -32768, 32767)); }},
    {"__hisnan(a) ? 0x7fffffff : __float_as_int((float)a)",
     [](const Operands& x) { return std::isnan(x.a) ? 0x7fffffff : std::bit_cast<int>(static_cast<float>(x.a)); }},
};

constexpr const char* kHeads[] = {R"(
  #include <cuda_fp16.h>
  typedef half N; typedef half2 N2;
  __device__ N from(int v) { return __ushort_as_half((unsigned short)v); }
  __device__ int bits(N v) { return __half_as_ushort(v); }
  __device__ int to_int(N v) { return __half2int_rz(v); }
  __device__ int to_short(N v) { return __half2short_rz(v); }
)",
                                  R"(
  #include <cuda_bf16.h>
  typedef __nv_bfloat16 N; typedef __nv_bfloat162 N2;
  __device__ N from(int v) { return __ushort_as_bfloat16((unsigned short)v); }
  __device__ int bits(N v) { return __bfloat16_as_ushort(v); }
  __device__ int to_int(N v) { return __bfloat162int_rz(v); }
  __device__ int to_short(N v) { return __bfloat162short_rz(v); }
)"};

std::string source_of(const char* head) {
  std::string text = head;
  text +=
      "__device__ int key(N v) { return __hisnan(v) ? 0x7fff : bits(v); }\n"
      "__device__ int key(int v) { return v; }\n"
      "__device__ int key(bool v) { return v; }\n"
      "__global__ void k(const int* in, int* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  N a = from(in[3 * i]), b = from(in[3 * i + 1]), c = from(in[3 * i + 2]);\n";
  for (size_t row = 0; row < std::size(kRows); ++row)
    text += "  out[" + std::to_string(row) + " * n + i] = key(" + kRows[row].text + ");\n";
  return text + "}\n";
}

// Any bits; numbers near 1; ends.
Ints operands(const Format& format, int count, uint32_t seed) {
  std::mt19937 random(seed);
  const uint32_t ends[] = {0,
                           1,
                           format.infinity(),
                           format.infinity() + 1,
                           format.infinity() - 1,
                           1u << format.mantissa,
                           (1u << format.mantissa) - 1,
                           static_cast<uint32_t>(format.bias()) << format.mantissa};
  Ints all(static_cast<size_t>(count));
  for (int& one : all) {
    const uint32_t bits = random() & 0xffff, kind = random() % 8;
    const uint32_t near = static_cast<uint32_t>(format.bias() - 6) << format.mantissa;
    one = static_cast<int>(kind == 0  ? (bits & 0x8000) | ends[bits % 8]
                           : kind < 4 ? bits
                                      : (bits & 0x8000) + near + bits % (12u << format.mantissa));
  }
  return all;
}

void run(const Format& format, const char* head, const Target& target, const Shape& shape, const Kernel& kernel,
         const Device& device) {
  const int n = shape.all();
  const uint32_t seed = test_seed() + static_cast<uint32_t>(n);
  const Ints in = operands(format, 3 * n, seed);
  Ints out(std::size(kRows) * static_cast<size_t>(n), kPoison);
  Stream stream = device.create_stream();
  const Buffer from = device.allocate(in.size() * sizeof(int)), to = device.allocate(out.size() * sizeof(int));
  stream.upload(from, 0, in.data(), in.size() * sizeof(int));
  stream.upload(to, 0, out.data(), out.size() * sizeof(int));
  kernel.launch(stream, {.grid = shape.grid, .block = shape.block}, static_cast<const int*>(from.data()),
                static_cast<int*>(to.data()), n);
  stream.download(out.data(), to, 0, out.size() * sizeof(int));
  stream.synchronize();
  for (size_t row = 0; row < std::size(kRows); ++row)
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      Operands x{format, {}, 0, 0, 0};
      for (size_t j = 0; j < 3; ++j) x.bits[j] = static_cast<uint32_t>(in[3 * i + j]);
      x.a = format.value(x.bits[0]), x.b = format.value(x.bits[1]), x.c = format.value(x.bits[2]);
      const int got = out[row * static_cast<size_t>(n) + i], wanted = kRows[row].expected(x);
      if (got == wanted) continue;
      ADD_FAILURE() << text_of(target) << head << kRows[row].text << " of " << std::hex << x.bits[0] << " " << x.bits[1]
                    << " " << x.bits[2] << " is " << got << ", not " << wanted << "; seed " << seed;
      break;
    }
}

const std::vector<Shape> kNarrowShapes = {{{1}, {1}},  {{2}, {31}},  {{3}, {32}},  {{2}, {33}},
                                          {{5}, {96}}, {{9}, {256}}, {{4}, {1024}}};

TEST(Kernels, NarrowNumbers) {
  for (const Target& target : targets())
    for (const int which : {0, 1}) try {
        const Device device = Device::open(target.device);
        const Module module = Module::compile(device, source_of(kHeads[which]), {.mode = target.mode});
        const Kernel kernel = module.kernel("k");
        for (const Shape& shape : kNarrowShapes)
          run(which ? kBf16 : kHalf, kHeads[which], target, shape, kernel, device);
      } catch (const Error& error) {
        ADD_FAILURE() << text_of(target) << error.what();
      }
}

}  // namespace
}  // namespace trine::compute
