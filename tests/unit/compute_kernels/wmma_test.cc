// nvcuda::wmma: each shape and type, both layouts of each matrix, against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "ptx_case.h"

namespace trine::compute {
namespace {

// The warp's matrices, of the words of its threads: small integers, so that every type holds the sums exactly.
const std::string kHead = R"(
#include <mma.h>
using namespace nvcuda::wmma;
__device__ int value(const int* in, int warp, int matrix, int row, int column, int least) {
  const unsigned at = row * 37 + column * 11 + matrix * 5;
  return (int)((unsigned)in[warp * 32 + at % 32] >> at % 29 & 3) + least;
}
__device__ int whole(float x) { return (int)x; }
template <int m, int n, int k, class T, class Stored, class D, class C, class LayoutA, class LayoutB>
__device__ unsigned product(const int* in, int warp, int least, layout_t from, layout_t to, char* bytes) {
  const int lane = threadIdx.x % 32;
  const bool along_a = __is_same(LayoutA, row_major), along_b = __is_same(LayoutB, row_major);
  const int stride_a = (along_a ? k : m) + 16, stride_b = (along_b ? n : k) + 16;
  const int stride_c = from == mem_row_major ? n : m, stride_d = (to == mem_row_major ? n : m) + 8;
  Stored* a = (Stored*)bytes; Stored* b = (Stored*)(bytes + 3072); C* c = (C*)(bytes + 6144); D* d = (D*)(bytes + 8192);
  __syncwarp();
  for (int i = lane; i < m * k; i += 32) {
    const int row = i / k, column = i % k;
    a[along_a ? row * stride_a + column : column * stride_a + row] = (Stored)(float)value(in, warp, 0, row, column, least);
  }
  for (int i = lane; i < k * n; i += 32) {
    const int row = i / n, column = i % n;
    b[along_b ? row * stride_b + column : column * stride_b + row] = (Stored)(float)value(in, warp, 1, row, column, least);
  }
  for (int i = lane; i < m * n; i += 32) {
    const int row = i / n, column = i % n;
    c[from == mem_row_major ? row * stride_c + column : column * stride_c + row] = (C)(float)value(in, warp, 2, row, column, 0);
  }
  __syncwarp();
  fragment<matrix_a, m, n, k, T, LayoutA> fa;
  fragment<matrix_b, m, n, k, T, LayoutB> fb;
  fragment<accumulator, m, n, k, C> fc;
  fragment<accumulator, m, n, k, D> fd, one;
  load_matrix_sync(fa, a, stride_a);
  load_matrix_sync(fb, b, stride_b);
  load_matrix_sync(fc, c, stride_c, from);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = (Stored)((float)fa.x[i] * 2.0f);
  fill_fragment(one, 1.0f);
  mma_sync(fd, fa, fb, fc);
  // The same place of fragments of one type is the same element.
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = (D)((float)fd.x[i] + (float)one.x[i] + (float)fc.x[i]);
  store_matrix_sync(d, fd, stride_d, to);
  unsigned r = 0;
  for (int i = lane; i < m * n; i += 32) {
    const int row = i / n, column = i % n;
    r = r * 31 + (unsigned)whole(d[to == mem_row_major ? row * stride_d + column : column * stride_d + row]);
  }
  return r;
}
template <int m, int n, int k, class T, class Stored, class D, class C>
__device__ int products(const int* in, int least) {
  __shared__ __align__(16) char bytes[4][8192 + 4 * (32 * 24 + 16 * 8)];
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32; char* own = bytes[threadIdx.x / 32];
  unsigned r = product<m, n, k, T, Stored, D, C, row_major, row_major>(in, warp, least, mem_row_major, mem_row_major, own);
  return r * 31 + product<m, n, k, T, Stored, D, C, col_major, col_major>(in, warp, least, mem_col_major, mem_col_major, own);
}
)";

// Kept for as long as the tables that point to it.
const char* kept(const std::string& text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(text).c_str();
}
const char* kernel_of(const std::string& arguments, const std::string& least) {
  return kept(
      kHead +
      "__global__ void k(const int* in, int* out, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] = products<" +
      arguments + ">(in, " + least + "); }");
}

template <int m, int n, int k, int least>
void expect_product(const Shape& shape, const Ints& in, Ints& out) {
  for (int start = 0; start < shape.all(); start += 32) {
    const auto value = [&](int matrix, int row, int column, int smallest) {
      const unsigned at = static_cast<unsigned>(row * 37 + column * 11 + matrix * 5);
      return static_cast<int>(static_cast<uint32_t>(in[static_cast<size_t>(start) + at % 32]) >> at % 29 & 3) +
             smallest;
    };
    for (int lane = 0; lane < 32; ++lane) {
      Mixed once, all;
      for (int i = lane; i < m * n; i += 32) {
        const int row = i / n, column = i % n;
        int sum = 2 * value(2, row, column, 0) + 1;
        for (int j = 0; j < k; ++j) sum += 2 * value(0, row, j, least) * value(1, j, column, least);
        once.add(sum);
      }
      for (int layout = 0; layout < 2; ++layout) all.add(once.value);
      out[static_cast<size_t>(start + lane)] = static_cast<int>(all.value);
    }
  }
}

const std::vector<Shape> kWarps = {{{2}, {96}}};

#define TRINE_WMMA_ROW(m, n, k, types, least)                                              \
  {#m "x" #n "x" #k ": " types, kernel_of(#m ", " #n ", " #k ", " types, #least), &kWarps, \
   expect_product<m, n, k, least>}
#define TRINE_WMMA_ROWS(types, least)                                                \
  TRINE_WMMA_ROW(16, 16, 16, types, least), TRINE_WMMA_ROW(32, 8, 16, types, least), \
      TRINE_WMMA_ROW(8, 32, 16, types, least)

const KernelCase kCases[] = {
    TRINE_WMMA_ROWS("half, half, float, float", -1),
    TRINE_WMMA_ROWS("half, half, half, half", -1),
    TRINE_WMMA_ROW(16, 16, 16, "half, half, float, half", -1),
    TRINE_WMMA_ROW(16, 16, 16, "half, half, half, float", -1),
    TRINE_WMMA_ROWS("__nv_bfloat16, __nv_bfloat16, float, float", -1),
    TRINE_WMMA_ROWS("signed char, signed char, int, int", -2),
    TRINE_WMMA_ROWS("unsigned char, unsigned char, int, int", 0),
    TRINE_WMMA_ROW(16, 16, 8, "precision::tf32, float, float, float", -1),
    TRINE_WMMA_ROW(8, 8, 4, "double, double, double, double", -1),
};

TEST(Kernels, Wmma) { run_cases(kCases); }

// 255 times 255, sixteen times, at 2147483000: clamped to the largest int, or wrapped.
const KernelCase kClamped[] = {
    {"clamped sums", kept(kHead + R"(
       __global__ void k(const int* in, int* out, int n) {
         fragment<matrix_a, 16, 16, 16, unsigned char, row_major> a; fragment<matrix_b, 16, 16, 16, unsigned char, col_major> b;
         fragment<accumulator, 16, 16, 16, int> c, d;
         fill_fragment(a, 255); fill_fragment(b, 255); fill_fragment(c, 2147483000);
         mma_sync(d, a, b, c, true); const int clamped = d.x[d.num_elements - 1]; mma_sync(d, a, b, c);
         out[blockIdx.x * blockDim.x + threadIdx.x] = clamped ^ d.x[0]; })"),
     &kWarps,
     [](const Shape&, const Ints&, Ints& out) {
       const uint32_t wrapped = 2147483000u + 16u * 255u * 255u;
       for (int& x : out) x = static_cast<int>(2147483647u ^ wrapped);
     }},
    // To nearest, halves away from zero.
    {"rounding to tf32", kept(kHead + R"(
       __global__ void k(const int* in, int* out, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x;
         out[i] = __float_as_int(__float_to_tf32(__int_as_float(0x3f800000 + i * 0x1000 - 1 + i % 3))); })"),
     &kWarps,
     [](const Shape&, const Ints&, Ints& out) {
       for (int i = 0; i < static_cast<int>(out.size()); ++i) {
         const double x = std::bit_cast<float>(0x3f800000 + i * 0x1000 - 1 + i % 3), step = 1 << (x < 2 ? 10 : 9);
         out[static_cast<size_t>(i)] = std::bit_cast<int>(static_cast<float>(std::floor(x * step + 0.5) / step));
       }
     }},
};

TEST(Kernels, WmmaEdges) { run_cases(kClamped); }

TEST(Kernels, WmmaNamesWhatIsNotThere) {
  const std::string text = failure({"cpu", CpuMode::automatic},
                                   "#include <mma.h>\n__global__ void k() { "
                                   "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 4, float> f; }",
                                   {{1}, {32}});
  EXPECT_NE(text.find("wmma: no such shape for this type"), std::string::npos) << text;
}

}  // namespace
}  // namespace trine::compute
