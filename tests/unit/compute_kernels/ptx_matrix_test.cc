// Inline PTX of products of small matrices, and their loads: a warp's fragments against plain loops.
#include <gtest/gtest.h>

#include "ptx_case.h"

namespace trine::compute {
namespace {

using u32 = uint32_t;

u32 word(const Ints& in, int i) { return static_cast<u32>(in[static_cast<size_t>(i)]); }

// What lane `lane` holds of a matrix of `rows` by `depth`: register i, element j of a word of `each` elements.
struct Layout {
  int rows, depth, each;
  // Register and element of (row, k), and its lane.
  int lane(int row, int k) const { return row % 8 * 4 + k / each % 4; }
  int reg(int row, int k) const { return k / (4 * each) * (rows / 8) + row / 8; }
  int element(int k) const { return k % each; }
};

// out of thread i: its sums, mixed. `rows` by 8, `depth` deep; words of `each` elements of the left and the right.
void expect(const Shape& shape, const Ints& in, Ints& out, int rows, int depth, int each, int least, bool as_float) {
  const Layout left{rows, depth, each}, right{8, depth, each};
  for (int start = 0; start < shape.all(); start += 32)
    for (int lane = 0; lane < 32; ++lane) {
      Mixed r;
      for (int part = 0; part < rows / 4; ++part) {
        const int row = lane / 4 + part / 2 * 8, column = lane % 4 * 2 + part % 2;
        int sum = part + lane;
        for (int k = 0; k < depth; ++k) {
          const auto value = [&](const Layout& of, int line, u32 salt) {
            const u32 bits =
                word(in, start + of.lane(line, k)) * (2654435761u + 2 * static_cast<u32>(of.reg(line, k))) ^ salt;
            return (static_cast<int>(bits >> 4 * of.element(k) & 3)) + least;
          };
          sum += value(left, row, 0) * value(right, column, 0x5a5a5a5a);
        }
        if (as_float) r.add(static_cast<float>(sum));
        else r.add(sum);
      }
      out[static_cast<size_t>(start + lane)] = static_cast<int>(r.value);
    }
}

// Words of the fragments; of 16 bits, 8 bits, 32 bits.
#define TRINE_FRAGMENTS                                                                                                \
  TRINE_PTX_HEAD                                                                                                       \
  "auto bits = [&](int reg, unsigned salt) { return v * (2654435761u + 2 * reg) ^ salt; };\n"                          \
  "auto half = [](int x) { return x == 0 ? 0u : x == 1 ? 0x3c00u : x == 2 ? 0x4000u : x == 3 ? 0x4200u : 0xbc00u; "    \
  "};\n"                                                                                                               \
  "auto brain = [](int x) { return __float_as_uint((float)x) >> 16; };\n"                                              \
  "auto of16 = [&](unsigned b) { return half((int)(b & 3) - 1) | half((int)(b >> 4 & 3) - 1) << 16; };\n"              \
  "auto ofbf = [&](unsigned b) { return brain((int)(b & 3) - 1) | brain((int)(b >> 4 & 3) - 1) << 16; };\n"            \
  "auto of8 = [&](unsigned b) { unsigned x = 0; for (int j = 0; j < 4; ++j) x |= ((unsigned)((int)(b >> 4 * j & 3) - " \
  "1) & 255) << 8 * j; return x; };\n"                                                                                 \
  "auto of32 = [&](unsigned b) { return __float_as_uint((float)((int)(b & 3) - 1)); };\n"                              \
  "(void)half; (void)brain; (void)of16; (void)ofbf; (void)of8; (void)of32; const unsigned salt = 0x5a5a5a5au; "        \
  "(void)salt;\n"

const KernelCase kCases[] = {
    {"m16n8k16 of f16, sums in f32", TRINE_FRAGMENTS R"(
       float d0, d1, d2, d3, c[4]; for (int j = 0; j < 4; ++j) c[j] = j + lane;
       asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
         : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(of16(bits(0, 0))), "r"(of16(bits(1, 0))), "r"(of16(bits(2, 0))), "r"(of16(bits(3, 0))),
           "r"(of16(bits(0, salt))), "r"(of16(bits(1, salt))), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
       mix(r, d0); mix(r, d1); mix(r, d2); mix(r, d3); out[i] = r; })",
     &kWarpShapes, [](const Shape& shape, const Ints& in, Ints& out) { expect(shape, in, out, 16, 16, 2, -1, true); }},
    {"m16n8k8 of bf16", TRINE_FRAGMENTS R"(
       float d0 = 0 + lane, d1 = 1 + lane, d2 = 2 + lane, d3 = 3 + lane;
       asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
         : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(ofbf(bits(0, 0))), "r"(ofbf(bits(1, 0))), "r"(ofbf(bits(0, salt))));
       mix(r, d0); mix(r, d1); mix(r, d2); mix(r, d3); out[i] = r; })",
     &kWarpShapes, [](const Shape& shape, const Ints& in, Ints& out) { expect(shape, in, out, 16, 8, 2, -1, true); }},
    {"m16n8k8 of tf32", TRINE_FRAGMENTS R"(
       float d0 = 0 + lane, d1 = 1 + lane, d2 = 2 + lane, d3 = 3 + lane;
       asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
         : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(of32(bits(0, 0))), "r"(of32(bits(1, 0))), "r"(of32(bits(2, 0))), "r"(of32(bits(3, 0))),
           "r"(of32(bits(0, salt))), "r"(of32(bits(1, salt))));
       mix(r, d0); mix(r, d1); mix(r, d2); mix(r, d3); out[i] = r; })",
     &kWarpShapes, [](const Shape& shape, const Ints& in, Ints& out) { expect(shape, in, out, 16, 8, 1, -1, true); }},
    {"m16n8k32 of s8", TRINE_FRAGMENTS R"(
       int d0 = 0 + lane, d1 = 1 + lane, d2 = 2 + lane, d3 = 3 + lane;
       asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
         : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3) : "r"(of8(bits(0, 0))), "r"(of8(bits(1, 0))), "r"(of8(bits(2, 0))), "r"(of8(bits(3, 0))),
           "r"(of8(bits(0, salt))), "r"(of8(bits(1, salt))));
       mix(r, (unsigned)d0); mix(r, (unsigned)d1); mix(r, (unsigned)d2); mix(r, (unsigned)d3); out[i] = r; })",
     &kWarpShapes, [](const Shape& shape, const Ints& in, Ints& out) { expect(shape, in, out, 16, 32, 4, -1, false); }},
    {"m8n8k4 of f64", TRINE_FRAGMENTS R"(
       double d0 = 0 + lane, d1 = 1 + lane, a = (int)(bits(0, 0) & 3) - 1, b = (int)(bits(0, salt) & 3) - 1;
       asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d0), "+d"(d1) : "d"(a), "d"(b));
       mix(r, (float)d0); mix(r, (float)d1); out[i] = r; })",
     &kWarpShapes, [](const Shape& shape, const Ints& in, Ints& out) { expect(shape, in, out, 8, 4, 1, -1, true); }},
    {"ldmatrix and movmatrix", TRINE_PTX_HEAD R"(
       __shared__ __align__(16) unsigned short s[32][32][8]; unsigned a, b, c, d, e; int warp = t / 32;
       for (int j = 0; j < 8; ++j) s[warp][lane][j] = (unsigned short)(v + j * 257);
       __syncwarp(); unsigned at = (unsigned)__cvta_generic_to_shared(&s[warp][lane][0]);
       asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
       mix(r, a); mix(r, b); mix(r, c); mix(r, d);
       asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory"); mix(r, a); mix(r, b);
       asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(e) : "r"(a)); mix(r, e);
       out[i] = r; })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords& x, Mixed& r) {
         const int lane = x.i % 32, start = x.i - lane;
         const auto at = [&](int matrix, int row, int column) {
           return (word(in, start + matrix * 8 + row) + static_cast<u32>(column) * 257) & 65535;
         };
         const int row = lane / 4, column = lane % 4 * 2;
         for (int m = 0; m < 4; ++m) r.add(at(m, row, column) | at(m, row, column + 1) << 16);
         for (int m = 0; m < 2; ++m) r.add(at(m, column, row) | at(m, column + 1, row) << 16);
         r.add(at(0, row, column) | at(0, row, column + 1) << 16);
       });
     }},
};

TEST(Kernels, InlinePtxOfMatrices) { run_cases(kCases); }

TEST(Kernels, InlinePtxThatIsNotThereIsNamed) {
  const auto says = [](const char* body, const char* part) {
    const std::string source =
        std::string("__global__ void k(int* out) { unsigned v = 3; ") + body + " if (out) *out = v; }";
    const std::string text = failure({"cpu", CpuMode::automatic}, source.c_str(), {{1}, {32}});
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says("asm volatile(\"wgmma.fence.sync.aligned;\");", "inline PTX 'wgmma.fence.sync.aligned'");
  says("asm volatile(\"{ .reg .u32 x; mov.u32 x, %0; add.u32.strange x, x, 1; }\" :: \"r\"(v));",
       "inline PTX 'add.u32.strange'");
  says("asm volatile(\"{ mov.u32 y, %0; }\" :: \"r\"(v));", "inline PTX 'y'");
  says("asm volatile(\"addc.u32 %0, %0, 1;\" : \"+r\"(v));", "adds a carry");
}

}  // namespace
}  // namespace trine::compute
