// Inline PTX in the forms that libraries use.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_case.h"

namespace trine::compute {
namespace {

#define TRINE_HEAD                                        \
  "__global__ void k(const int* in, int* out, int n) {\n" \
  "int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t; unsigned v = in[i], r = 0;\n"

template <class Body>
void each(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (size_t i = 0; i < static_cast<size_t>(shape.all()); ++i)
    out[i] = static_cast<int>(body(in[i], static_cast<int>(i)));
}

const KernelCase kCases[] = {
    {"special registers", TRINE_HEAD R"(
       unsigned a, b, c, d; asm("mov.u32 %0, %%laneid;" : "=r"(a)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(b));
       asm volatile("mov.u32 %0, %%tid.x;" : "=r"(c)); asm("mov.u32 %0, %%nctaid.x;" : "=r"(d));
       out[i] = a + (b ^ ((1u << a) - 1)) * 1000 + c * 64 + d * 65536; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         const int t = i % shape.threads();
         return t % 32 + t * 64 + shape.blocks() * 65536;
       });
     }},
    {"fields of bits", TRINE_HEAD R"(
       unsigned a, c; int b; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(t % 40), "r"(t % 7 * 6));
       asm("bfe.s32 %0, %1, 3, 5;" : "=r"(b) : "r"(v)); asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(c) : "r"(v), "r"(~v), "r"(5), "r"(9));
       out[i] = a + b * 3 + c * 5; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int value, int i) {
         const auto v = static_cast<uint32_t>(value);
         const int t = i % shape.threads(), at = t % 40, length = t % 7 * 6;
         const auto mask = static_cast<uint32_t>((uint64_t{1} << std::min(length, 32)) - 1);
         const uint32_t a = (at >= 32 ? 0 : v >> at) & mask;
         const int b = (value << 24) >> 27;
         const uint32_t field = 0x1ff << 5, c = (~v & ~field) | (v << 5 & field);
         return a + static_cast<uint32_t>(b * 3) + c * 5;
       });
     }},
    {"bytes, sums and counts", TRINE_HEAD R"(
       unsigned a, b, c, d, e; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(i), "r"(0x9146));
       asm("vadd.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(b) : "r"(v), "r"(t), "r"(7));
       asm("vshl.u32.u32.u32.clamp.add %0, %1, %2, %3;" : "=r"(c) : "r"(v), "r"(t), "r"(1));
       asm("popc.b32 %0, %1;" : "=r"(d) : "r"(v)); asm("clz.b32 %0, %1;" : "=r"(e) : "r"(v));
       out[i] = a + b * 3 + c * 5 + d * 7 + e * 11; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int value, int i) {
         const auto v = static_cast<uint32_t>(value), t = static_cast<uint32_t>(i % shape.threads());
         const uint64_t both = uint64_t{static_cast<uint32_t>(i)} << 32 | v;
         const auto byte = [&](int b) { return static_cast<uint32_t>(both >> 8 * b & 255); };
         const uint32_t a = byte(6) | byte(4) << 8 | byte(1) << 16 | (byte(1) & 128 ? 255u : 0u) << 24;
         const uint32_t c = (t >= 32 ? 0 : v << t) + 1;
         const uint32_t zeros = v ? static_cast<uint32_t>(__builtin_clz(v)) : 32;
         return a + (v + t + 7) * 3 + c * 5 + static_cast<uint32_t>(__builtin_popcount(v)) * 7 + zeros * 11;
       });
     }},
    {"loads and stores", TRINE_HEAD R"(
       __shared__ int s[1024]; unsigned long long wide; unsigned short half; int whole;
       asm volatile("ld.global.s32 %0, [%1];" : "=r"(whole) : "l"(in + i) : "memory");
       asm volatile("st.volatile.u32 [%0], %1;" :: "l"(s + t), "r"(whole) : "memory");
       asm volatile("bar.sync 0;" ::: "memory");
       asm volatile("ld.volatile.u16 %0, [%1+2];" : "=h"(half) : "l"(s + size - 1 - t));
       asm volatile("ld.cg.u32 %0, [%1];" : "=r"(r) : "l"(s + size - 1 - t));
       out[i] = r + half; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         const int size = shape.threads(), other = in[static_cast<size_t>(i / size * size + size - 1 - i % size)];
         return other + static_cast<int>(static_cast<uint32_t>(other) >> 16);
       });
     }},
    {"vectors", TRINE_HEAD R"(
       __shared__ __align__(16) unsigned s[4096]; unsigned a, b, c, d; unsigned long long x, y;
       asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" :: "l"(__cvta_generic_to_shared(s + 4 * t)), "r"(v), "r"(v + 1), "r"(v + 2), "r"(v + 3) : "memory");
       asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(s + 4 * t));
       asm volatile("ld.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(s + 4 * t));
       out[i] = a + b * 3 + c * 5 + d * 7 + (unsigned)(x >> 32) * 11 + (unsigned)y * 13; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](int value, int) {
         const auto v = static_cast<uint32_t>(value);
         return v + (v + 1) * 3 + (v + 2) * 5 + (v + 3) * 7 + (v + 1) * 11 + (v + 2) * 13;
       });
     }},
    {"shuffles and barriers of a library", TRINE_HEAD R"(
       asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(v), "r"(1), "r"(0), "r"(0xffffffff));
       unsigned q; asm volatile("shfl.sync.idx.b32 %0, %1, %2, %3, %4;" : "=r"(q) : "r"(v), "r"(5), "r"(0x1f), "r"(-1));
       asm volatile("bar.sync 1, %0;" :: "r"(size)); asm volatile("membar.gl;" ::: "memory");
       out[i] = r + q * 3; })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int, int i) {
         const int lane = i % 32;
         return in[static_cast<size_t>(lane ? i - 1 : i)] + in[static_cast<size_t>(i - lane + 5)] * 3;
       });
     }},
    {"an operand that is read and written, and an exit", TRINE_HEAD R"(
       out[i] = 3; unsigned kept = v; asm("bfe.u32 %0, %0, 1, 8;" : "+r"(kept)); if (t % 2) asm volatile("exit;"); out[i] = kept; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [&](int v, int i) { return i % shape.threads() % 2 ? 3 : v >> 1 & 255; });
     }},
};

TEST(Kernels, InlinePtx) { run_cases(kCases); }

}  // namespace
}  // namespace trine::compute
