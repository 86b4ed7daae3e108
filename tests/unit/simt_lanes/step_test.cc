// Memory that lanes read and write a step apart, for certain or likely: fields of structs, indices clamped to edges or
// wrapped around. Each kernel against plain loops, where all lanes run and where some do.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "lanes_program.h"

namespace trine::simt {
namespace {

using Ints = std::vector<int>;
constexpr int kPoison = 0x5a5a5a5a;
constexpr int kFields = 4;  // elements of `in` and `out` for each thread

struct StepCase {
  const char* name;
  const char* body;  // of k(const int* in, int* out, int n), in thread i
  // What out is to hold; poisoned before. `in` and `out` have kFields * n elements.
  std::function<void(const Ints& in, Ints& out, int n)> expected;
};

template <class F>
auto each(F f) {
  return [f](const Ints& in, Ints& out, int n) {
    for (int i = 0; i < n; ++i) f(in, out, i, n);
  };
}
size_t at(int i) { return size_t(i); }

const StepCase kCases[] = {
    {"fields of two", "int2 v = ((const int2*)in)[i]; ((int2*)out)[i] = make_int2(v.y + 1, v.x - i);",
     each([](const Ints& in, Ints& out, int i, int) {
       out[at(2 * i)] = in[at(2 * i + 1)] + 1, out[at(2 * i + 1)] = in[at(2 * i)] - i;
     })},
    {"fields of three", "int3 v = ((const int3*)in)[i]; ((int3*)out)[i] = make_int3(v.z, v.x, v.y + i);",
     each([](const Ints& in, Ints& out, int i, int) {
       out[at(3 * i)] = in[at(3 * i + 2)], out[at(3 * i + 1)] = in[at(3 * i)];
       out[at(3 * i + 2)] = in[at(3 * i + 1)] + i;
     })},
    {"fields of four", "int4 v = ((const int4*)in)[i]; ((int4*)out)[i] = make_int4(v.w, v.z, v.y, v.x + i);",
     each([](const Ints& in, Ints& out, int i, int) {
       for (int f = 0; f < 4; ++f) out[at(4 * i + f)] = in[at(4 * i + 3 - f)] + (f == 3 ? i : 0);
     })},
    {"one field is left alone", "out[3 * i] = in[3 * i + 2]; out[3 * i + 2] = i;",
     each([](const Ints& in, Ints& out, int i, int) { out[at(3 * i)] = in[at(3 * i + 2)], out[at(3 * i + 2)] = i; })},
    {"a field is read between its neighbours are written",
     "out[2 * i] = i; int v = out[2 * i]; out[2 * i + 1] = v * 2;",
     each([](const Ints&, Ints& out, int i, int) { out[at(2 * i)] = i, out[at(2 * i + 1)] = 2 * i; })},
    {"later fields need what comes after earlier ones", "out[2 * i] = i; out[2 * i + 1] = __popc(in[i]) * 3;",
     each([](const Ints& in, Ints& out, int i, int) {
       out[at(2 * i)] = i, out[at(2 * i + 1)] = __builtin_popcount(unsigned(in[at(i)])) * 3;
     })},
    {"fields of some lanes", "if (in[i] % 3) { int2 v = ((const int2*)in)[i]; ((int2*)out)[i] = make_int2(v.y, v.x); }",
     each([](const Ints& in, Ints& out, int i, int) {
       if (in[at(i)] % 3) out[at(2 * i)] = in[at(2 * i + 1)], out[at(2 * i + 1)] = in[at(2 * i)];
     })},
    {"bytes of four", "uchar4 v = ((const uchar4*)in)[i]; ((uchar4*)out)[i] = make_uchar4(v.w, v.x, v.y, v.z);",
     each([](const Ints& in, Ints& out, int i, int) {
       const auto v = unsigned(in[at(i)]);
       out[at(i)] = int(v << 8 | v >> 24);
     })},
    {"doubles of two", "double2 v = ((const double2*)in)[i]; ((double2*)out)[i] = make_double2(v.y, v.x);",
     each([](const Ints& in, Ints& out, int i, int) {
       for (int f = 0; f < 4; ++f) out[at(4 * i + f)] = in[at(4 * i + (f ^ 2))];
     })},
    {"clamped at both ends", "out[i] = in[min(max(i - 3, 0), n - 1)] - in[min(i + 5, n - 1)];",
     each([](const Ints& in, Ints& out, int i, int n) {
       out[at(i)] = in[at(std::max(i - 3, 0))] - in[at(std::min(i + 5, n - 1))];
     })},
    {"by a choice", "int j = i + 2 < n ? i + 2 : 0; out[i] = in[j];",
     each([](const Ints& in, Ints& out, int i, int n) { out[at(i)] = in[at(i + 2 < n ? i + 2 : 0)]; })},
    {"wrapped around", "out[(i + 7) % n] = in[(i + n - 1) % n];",
     each([](const Ints& in, Ints& out, int i, int n) { out[at((i + 7) % n)] = in[at((i + n - 1) % n)]; })},
    {"rows and columns of 24", "int r = i / 24, c = i % 24; out[i] = in[r] * 5 + in[c * 2 + 1];",
     each([](const Ints& in, Ints& out, int i, int) { out[at(i)] = in[at(i / 24)] * 5 + in[at(i % 24 * 2 + 1)]; })},
    {"partners", "for (int b = 1; b < 64; b *= 2) out[i] = (b == 1 ? 0 : out[i]) + in[i ^ b];",
     each([](const Ints& in, Ints& out, int i, int) {
       out[at(i)] = 0;
       for (int b = 1; b < 64; b *= 2) out[at(i)] += in[at(i ^ b)];
     })},
    {"places within spans", "unsigned s = in[0] & 1 ? 4 : 64, k = i & (s - 1); out[((i - k) << 1) + k] = i;",
     each([](const Ints& in, Ints& out, int i, int) {
       const int s = in[0] & 1 ? 4 : 64, k = i & (s - 1);
       out[at(((i - k) << 1) + k)] = i;
     })},
    {"32 bits run over",
     "unsigned j = i + 0xfffffff0u; const int* middle = in + n; out[i] = i < 16 ? 7 : middle[j] + in[j];",
     each([](const Ints& in, Ints& out, int i, int n) {
       out[at(i)] = i < 16 ? 7 : in[at(n + i - 16)] + in[at(i - 16)];
     })},
    {"indices from another block",
     "int j = min(i + 1, n - 1), m = (int)(i * 3u + 1u) / 3, s = 0;"
     "for (int r = 0; r < 3; ++r) { if (in[0] & 1) s += in[j] ^ r; s -= in[m] + in[j + 1]; } out[m] = s; ",
     each([](const Ints& in, Ints& out, int i, int n) {
       out[at(i)] = 0;
       for (int r = 0, j = std::min(i + 1, n - 1); r < 3; ++r)
         out[at(i)] = int(unsigned(out[at(i)]) + unsigned(in[0] & 1 ? in[at(j)] ^ r : 0) - unsigned(in[at(i)]) -
                          unsigned(in[at(j + 1)]));
     })},
    {"behind a barrier",
     "int j = min(i + 1, n - 1); __shared__ int kept[256]; kept[threadIdx.x] = in[i]; __syncthreads();"
     "int2* to = (int2*)out + i; *to = make_int2(in[j] + kept[threadIdx.x], in[(i + 5) % n]); __syncthreads();"
     "to->x += in[j];",
     each([](const Ints& in, Ints& out, int i, int n) {
       const auto next = unsigned(in[at(std::min(i + 1, n - 1))]);
       out[at(2 * i)] = int(2 * next + unsigned(in[at(i)])), out[at(2 * i + 1)] = in[at((i + 5) % n)];
     })},
    {"in the end of memory", "if (i < n) { int4 v = ((const int4*)in)[n - 1 - i]; out[i] = v.w + in[4 * n - 1 - i]; }",
     each([](const Ints& in, Ints& out, int i, int n) {
       out[at(i)] = in[at(4 * (n - 1 - i) + 3)] + in[at(4 * n - 1 - i)];
     })},
};

TEST(Steps, AreThoseOfPlainLoops) {
  std::mt19937 random(test_seed());
  for (const CpuLevel level : kCpuLevels)
    for (const StepCase& row : kCases) {
      limit_cpu_level(level);
      LanesProgram program(std::string("__global__ void k(const int* in, int* out, int n) {\n"
                                       "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n") +
                           row.body + "}");
      for (const int width : level == CpuLevel::avx512 ? std::vector{8, 16, 32, 0} : std::vector{0})
        for (const uint32_t block : {1u, 31u, 32u, 96u, 256u})
          for (const int missing : {0, 5}) {
            const int n = std::max(int(block) * 3 - missing, 1);
            Ints in(size_t(kFields * n + 64)), out(in.size(), kPoison), want = out;
            for (int& v : in) v = int(random() >> 2);
            row.expected(in, want, n);
            program.run("k", {3}, {block}, width, in.data(), out.data(), n);
            EXPECT_EQ(out, want) << name(level) << ", " << row.name << ": width " << width << ", block " << block
                                 << ", n " << n;
          }
    }
  limit_cpu_level({});
}

// The last lane's element is the last of a page that no other follows.
TEST(Steps, ReadNothingBehindTheLastLane) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  char* pages = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  LanesProgram program(
      "template <int step> __device__ void pick(const int* in, int* out) {\n"
      "  out[threadIdx.x] = in[threadIdx.x * step]; }\n"
      "__global__ void k1(const int* in, int* out) { pick<1>(in, out); }\n"
      "__global__ void k2(const int* in, int* out) { pick<2>(in, out); }\n"
      "__global__ void k3(const int* in, int* out) { pick<3>(in, out); }\n"
      "__global__ void k4(const int* in, int* out) { pick<4>(in, out); }\n");
  for (int step = 1; step <= 4; ++step)
    for (const int width : {8, 16, 32}) {
      const int* end = reinterpret_cast<const int*>(pages + page);
      const int* in = end - (31 * step + 1);
      for (int i = 0; i < 32; ++i) const_cast<int*>(in)[i * step] = i * i;
      Ints out(32, kPoison);
      program.run("k" + std::to_string(step), {1}, {32}, width, in, out.data());
      for (int i = 0; i < 32; ++i) ASSERT_EQ(out[at(i)], i * i) << "step " << step << ", width " << width;
    }
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace trine::simt
