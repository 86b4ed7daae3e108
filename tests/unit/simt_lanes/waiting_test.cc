// Which kernels with loops that wait lanes may run: those where one thread of a block waits for other blocks.
#include <gtest/gtest.h>

#include "lanes_program.h"

namespace trine::simt {
namespace {

struct WaitingCase {
  const char* name;
  const char* body;  // of k(int* flags, int* out), in thread t of block b
  Dim3 block;
  bool may_run;
};

const WaitingCase kCases[] = {
    {"a look-back",
     "if (t == 31) { if (b) while (atomicAdd(&flags[b - 1], 0) == 0) ; atomicExch(&flags[b], 1); }",
     {64},
     true},
    {"a volatile flag",
     "if (t == 0) while (*(volatile int*)flags != b) ; __syncthreads(); out[b * 64 + t] = t;",
     {64},
     true},
    {"a lock that the same thread gives back",
     "if (t == 0) while (atomicCAS(flags, 0, 1)) ; __syncthreads(); out[t] += t; __syncthreads(); "
     "if (t == 0) atomicExch(flags, 0);",
     {64},
     true},
    {"shared memory and the waiting thread are written before",
     "__shared__ int s[64]; s[t] = t; __syncthreads(); if (t == 5) { out[b] = s[t + 1]; while (*(volatile int*)flags < "
     "b) ; atomicAdd(flags, 1); }",
     {64},
     true},
    {"two threads wait", "if (t < 2) while (atomicAdd(flags, 0) == 0) ;", {64}, false},
    {"all threads wait", "while (atomicAdd(flags, 0) == 0) ;", {64}, false},
    {"one thread of each row waits", "if (t == 0) while (atomicAdd(flags, 0) == 0) ;", {32, 2}, false},
    {"for another thread of the block",
     "if (t == 1) atomicExch(flags, 1); if (t == 0) while (atomicAdd(flags, 0) == 0) ;",
     {64},
     false},
    {"for a store that comes after without a barrier",
     "if (t == 0) while (*(volatile int*)flags == 0) ; flags[t] = 1;",
     {64},
     false},
    {"for what a barrier before it does not tell",
     "out[t] = 1; __syncthreads(); if (t == 0) while (*(volatile int*)flags == 0) ;",
     {64},
     false},
    {"in shared memory", "__shared__ volatile int s; if (t == 1) s = 1; if (t == 0) while (s == 0) ;", {64}, false},
};

TEST(Waiting, RunsWhereOnlyOtherBlocksAreWaitedFor) {
  for (const WaitingCase& row : kCases) {
    const std::string source = "__global__ void k(int* flags, int* out) { int t = threadIdx.x, b = blockIdx.x; " +
                               std::string(row.body) + " }";
    LanesProgram program(source);
    const std::string why = program.refusal("k", row.block);
    EXPECT_EQ(why.empty(), row.may_run) << row.name << ": " << why;
    if (!row.may_run) EXPECT_NE(why.find("a loop that may wait for other threads"), std::string::npos) << row.name;
    else EXPECT_TRUE(program.compiled(program.find("k"), row.block, 0).waits) << row.name;
  }
}

TEST(Waiting, OtherKernelsDoNotWait) {
  LanesProgram program("__global__ void k(int* flags, int* out) { atomicAdd(flags, out[threadIdx.x]); }");
  EXPECT_FALSE(program.compiled(program.find("k"), {64}, 0).waits);
}

// Blocks run in order here: those before are done, and no block waits (see lanes_program.cc).
TEST(Waiting, LookBackAddsUpWhatBlocksBeforeTell) {
  LanesProgram program(R"(__global__ void k(const int* in, int* out, int* told) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    if (t == blockDim.x - 1) {
      int sum = 0;
      for (int i = b - 1; i >= 0; --i) { int word; do word = atomicAdd(&told[i], 0); while (word == 0); sum += word; }
      before = sum;
      atomicExch(&told[b], in[b]);
    }
    __syncthreads();
    out[b * blockDim.x + t] = before + t; })");
  constexpr uint32_t kBlocks = 9;
  for (const int width : kWidths)
    for (const uint32_t block : {1u, 31u, 33u, 256u}) {
      std::vector<int> in(kBlocks), told(kBlocks, 0), out(kBlocks * block, -1);
      std::mt19937 random(test_seed());
      for (int& value : in) value = 1 + int(random() % 1000);
      program.run("k", {kBlocks}, {block}, width, in.data(), out.data(), told.data());
      int sum = 0;
      for (uint32_t b = 0; b < kBlocks; sum += in[b++])
        for (uint32_t t = 0; t < block; ++t)
          ASSERT_EQ(out[size_t(b * block + t)], sum + int(t)) << "width " << width << ", " << b << ", " << t;
    }
}

}  // namespace
}  // namespace trine::simt
