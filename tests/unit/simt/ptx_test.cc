// PTX as it is written: entries, parameters, instructions for each architecture.
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "compile.h"

namespace trine::simt {
namespace {

std::string ptx_of(std::string_view source, const char* architecture = "sm_90", int version = 80,
                   bool fast_math = false) {
  return compiler().ptx(parsed(source, {.fast_math = fast_math}), architecture, version, fast_math);
}

size_t count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

constexpr const char* kScale = R"(
    struct P { char c; double d; };
    __device__ float twice(float x) { return x * 2; }
    __global__ void __launch_bounds__(256) scale(float* x, float a, P p, bool b, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n && b) x[i] = twice(x[i]) * a + (float)p.d;
    })";

TEST(Ptx, EntriesHaveTheParametersThatParseTold) {
  struct {
    const char* architecture;
    int version;
  } const rows[] = {{"sm_75", 63}, {"sm_80", 70},  {"sm_86", 80},  {"sm_89", 78},
                    {"sm_90", 78}, {"sm_90a", 80}, {"sm_100", 86}, {"sm_120", 87}};
  const DeviceModule module = parsed(kScale);
  for (const auto& row : rows) {
    const std::string text = compiler().ptx(module, row.architecture, row.version, false);
    const std::string symbol = module.kernels[0].symbol;
    EXPECT_NE(text.find(".version " + std::to_string(row.version / 10) + "." + std::to_string(row.version % 10)),
              std::string::npos);
    EXPECT_NE(text.find(std::string(".target ") + row.architecture), std::string::npos);
    EXPECT_EQ(count(text, "\\.visible \\.entry " + symbol), 1u);
    EXPECT_EQ(count(text, "\\.param[^\n]*_param_[0-4](,|\n|\\[16\\])"), 5u) << text;
    EXPECT_EQ(count(text, "\\.param \\.align 8 \\.b8 " + symbol + "_param_2\\[16\\]"), 1u) << text;
    EXPECT_EQ(count(text, "\\.maxntid 256"), 1u);
    EXPECT_EQ(count(text, "\\.func"), 0u) << "device functions are inlined";
  }
}

// A tile of 16 by 16 is two instructions; pairs of halves are loaded in one.
TEST(Ptx, WmmaIsMmaSync) {
  const std::string text = ptx_of(R"(
    #include <mma.h>
    using namespace nvcuda::wmma;
    __global__ void k(const half* a, const half* b, float* c, int n) {
      fragment<matrix_a, 16, 16, 16, half, row_major> fa;
      fragment<matrix_b, 16, 16, 16, half, col_major> fb;
      fragment<accumulator, 16, 16, 16, float> sum;
      fill_fragment(sum, 0.0f);
      load_matrix_sync(fa, a, n);
      load_matrix_sync(fb, b, n);
      mma_sync(sum, fa, fb, sum);
      store_matrix_sync(c, sum, n, mem_row_major);
    })");
  EXPECT_EQ(count(text, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 2u) << text;
  EXPECT_EQ(count(text, "ld.global[a-z.]*\\.[bu]32"), 8u) << text;
  EXPECT_EQ(count(text, "st.global[a-z.]*\\.v2"), 4u) << text;
  EXPECT_EQ(count(text, "\\.local"), 0u) << text;
}

struct InstructionCase {
  const char* why;
  const char* body;
  const char* expected;  // of the PTX
};

const InstructionCase kInstructionCases[] = {
    {"grid and block", "*o = gridDim.z + blockDim.y;", "%nctaid.z"},
    {"barrier", "__syncthreads();", "bar.sync|barrier.sync"},
    {"count", "*o = __syncthreads_count(*o);", "red.popc.u32"},
    {"warp barrier", "__syncwarp(); *o = *p;", "bar.warp.sync"},
    {"shuffle", "*o = __shfl_down_sync(~0u, *o, 3);", "shfl.sync.down.b32[^\n]*3, 31"},
    {"narrow segments", "*o = __shfl_xor_sync(~0u, *o, 1, 8);", "shfl.sync.bfly.b32[^\n]*1, 6175"},
    {"vote", "*o = __ballot_sync(~0u, *o);", "vote.sync.ballot.b32"},
    {"match", "*o = __match_any_sync(~0u, *o);", "match.any.sync.b32"},
    {"add", "atomicAdd(o, 3);", "atom.global.add.u32|red.global.add.u32|atom.add.u32|red.relaxed.gpu.global.add.u32"},
    {"float add", "*p = atomicAdd(p, 3.0f);", "atom.global.add.f32"},
    {"whole system", "*o = atomicAdd_system(o, 3);", "atom.relaxed.sys.add.u32"},
    {"whole system, unsigned", "*u = atomicMax_system(u, 3u);", "atom.relaxed.sys.max.u32"},
    {"compare and swap", "*o = atomicCAS(o, 1, 2);", "atom.relaxed.gpu.global.cas.b32"},
    {"wrapping", "*u = atomicInc(u, 7u);", "atom.global.inc.u32"},
    {"fence", "*o = 1; __threadfence(); *p = 1;", "membar.gl|fence.[a-z_.]*gpu"},
    {"high half", "*o = __mulhi(*o, o[1]);", "mul.hi.s32"},
    {"bytes", "*o = __popc(*o) + __clz(o[1]);", "popc.b32"},
    {"bits", "*o = __brev(*o);", "brev.b32"},
    {"funnel", "*o = __funnelshift_l(*o, o[1], o[2]);", "shf.l.wrap.b32"},
    {"printf", "printf(\"%d %f\\n\", *o, *p);", "vprintf"},
    {"assert", "assert(*o > 0);", "__assertfail"},
    {"clock", "*o = (int)clock64();", "%clock64"},
    {"fused", "*p = p[1] * p[2] + p[3];", "fma.rn.f32"},
    {"as written", "*p = __fmul_rn(p[1], p[2]) + p[3];", "mul.rn.f32"},
    {"division", "*p = p[1] / p[2];", "div.rn.f32"},
    {"wait", "__nanosleep(100);", "nanosleep.u32"},
    {"trap", "__trap();", "trap;|exit;"},
    {"memory", "*(void**)o = malloc(8);", "malloc"},
};

TEST(Ptx, Instructions) {
  for (const InstructionCase& row : kInstructionCases) {
    const std::string source = "__global__ void k(int* o, unsigned* u, float* p) { " + std::string(row.body) + " }";
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const std::string text = ptx_of(source, architecture);
      EXPECT_GE(count(text, row.expected), 1u) << row.why << "\n" << text;
    }
  }
}

TEST(Ptx, FastMathDividesApproximately) {
  const char* source = "__global__ void k(float* p) { *p = p[1] / p[2] + __builtin_sqrtf(p[3]); }";
  EXPECT_EQ(count(ptx_of(source), "approx|ftz"), 0u) << ptx_of(source);
  EXPECT_EQ(count(ptx_of(source, "sm_80", 80, true), "div.approx.ftz.f32"), 1u);
  EXPECT_EQ(count(ptx_of(source, "sm_80", 80, true), "sqrt.approx.ftz.f32"), 1u);
}

TEST(Ptx, VariablesStayVisible) {
  const std::string text = ptx_of(R"(
      __device__ int counter = 7;
      __constant__ float table[10];
      __device__ int helper(int x) { return x + counter; }
      __global__ void k(float* x) {
        __shared__ float s[64];
        extern __shared__ int dynamic[];
        s[threadIdx.x] = table[threadIdx.x];
        dynamic[threadIdx.x] = helper(3);
        __syncthreads();
        x[threadIdx.x] = s[63 - threadIdx.x] + dynamic[0];
      })");
  EXPECT_EQ(count(text, "\\.visible \\.global[^\n]*counter = 7"), 1u) << text;
  EXPECT_EQ(count(text, "\\.visible \\.const[^\n]*table\\[40\\]"), 1u) << text;
  EXPECT_EQ(count(text, "\\.shared \\.align 4 \\.b8 [^\n]*\\[256\\]"), 1u) << text;
  EXPECT_EQ(count(text, "\\.extern \\.shared"), 1u) << text;
}

TEST(Ptx, ManagedVariablesSaySo) {
  const std::string text = ptx_of(R"(
      __managed__ int both[4];
      __device__ int device_only;
      __global__ void k() { both[threadIdx.x] += device_only; })");
  EXPECT_EQ(count(text, "\\.global \\.attribute\\(\\.managed\\)[^\n]*both\\[16\\]"), 1u) << text;
  EXPECT_EQ(count(text, "\\.managed"), 1u) << text;
}

TEST(Ptx, GridsMeetWithoutOutsideHelp) {
  const std::string text = ptx_of(R"(
/**/#include <cooperative_groups.h>
      __global__ void k(int* x) { x[0] = 1; cooperative_groups::this_grid().sync(); x[1] = x[0]; })");
  EXPECT_EQ(count(text, "\\.extern|\\.func"), 0u) << text;
  EXPECT_GE(count(text, "%envreg2"), 1u);
  EXPECT_EQ(count(text, "bar.sync|barrier.sync"), 2u) << text;
}

TEST(Ptx, DebugBuildsCarryLines) {
  const DeviceModule module = parsed("__global__ void k(int* o) {\n  int i = 3;\n  *o = i;\n}\n", {.debug = true});
  const std::string text = compiler().ptx(module, "sm_80", 80, false);
  EXPECT_EQ(count(text, "\\.target sm_80, debug"), 1u) << text;
  EXPECT_GE(count(text, "\\.loc\t[0-9]+ 3"), 1u) << text;
  const std::string optimized = ptx_of("__global__ void k(int* o) {}");
  EXPECT_EQ(count(optimized, "debug|\\.loc"), 0u);
}

// A variable that only the lane which gives it has set: passing it is no proof that this lane is the only one.
TEST(Ptx, GuardsOfWhatIsShuffledStay) {
  const std::string text = ptx_of(R"(
      __device__ int rows;
      __global__ void k(int* out) {
        int lane = threadIdx.x % 32, row;
        if (lane == 0) row = atomicAdd(&rows, 16);
        out[threadIdx.x] = __shfl_sync(~0u, row, 0) + lane;
      })");
  EXPECT_EQ(count(text, R"(@%p\d+ +bra)"), 1u) << text;
  EXPECT_EQ(count(text, "atom"), 1u) << text;
}

TEST(Ptx, WhatCannotBeIsAnError) {
  const DeviceModule module = parsed(kScale);
  const auto message = [&](const char* architecture, int version) {
    try {
      return compiler().ptx(module, architecture, version, false);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_TRUE(message("sm_1", 80).starts_with("ptx: architecture 'sm_1'; accepted are sm_70")) << message("sm_1", 80);
  EXPECT_TRUE(message("", 80).starts_with("ptx: architecture ''; accepted")) << message("", 80);
  EXPECT_TRUE(message("sm_90", 199).starts_with("ptx: version 199; accepted")) << message("sm_90", 199);
  EXPECT_TRUE(message("sm_90", 70).starts_with("ptx: PTX version 7.0 does not support target 'sm_90'"))
      << message("sm_90", 70);
  const auto of = [](const char* source) {
    try {
      return ptx_of(source, "sm_75", 80);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(of("__global__ void k(int* x) { *x = __nvvm_redux_sync_add(*x, -1); }"),
            "ptx: Cannot select: intrinsic %llvm.nvvm.redux.sync.add");
  EXPECT_EQ(of("namespace n { __device__ int g(int); } __global__ void k(int* x) { *x = n::g(*x); }"),
            "ptx: the device function n::g(int) is called and not defined; define it in this source");
  EXPECT_NE(message("sm_90", 80).find(".entry"), std::string::npos) << "the compiler goes on working";
}

}  // namespace
}  // namespace trine::simt
