// Device headers at work: kernels that use them run on the CPU, and give what plain loops give.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "simt/headers/curand_kernel.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

constexpr uint32_t kPoison = 0xcdcdcdcd;

// Runs the kernel "k" on one block; its only argument is the words that it gives back.
std::vector<uint32_t> run(const char* source, uint32_t threads, std::vector<uint32_t> words) {
  const Device device = Device::open("cpu");
  Stream stream = device.create_stream();
  const Module module = Module::compile(device, source);
  module.kernel("k").launch(stream, {.block = {threads}}, words.data());
  stream.synchronize();
  return words;
}

std::vector<uint32_t> run(const char* source, uint32_t threads, size_t words_of_thread) {
  return run(source, threads, std::vector<uint32_t>(threads * words_of_thread, kPoison));
}

TEST(Run, TilesAndCoalescedThreads) {
  constexpr uint32_t kThreads = 64, kWords = 16;
  const std::vector<uint32_t> out = run(R"(
/**/#include <cooperative_groups.h>
/**/#include <cooperative_groups/reduce.h>
/**/#include <cooperative_groups/scan.h>
      namespace cg = cooperative_groups;
      struct Wide { int a; double b; char c; };
      __global__ void k(int* o) {
        auto block = cg::this_thread_block();
        auto warp = cg::tiled_partition<32>(block);
        auto tile = cg::tiled_partition<8>(block);
        int t = block.thread_rank();
        int* p = o + t * 16;
        p[0] = cg::reduce(warp, t, cg::plus<int>());
        p[1] = cg::reduce(tile, t * 37 % 64, cg::greater<int>());
        p[2] = cg::inclusive_scan(tile, t);
        p[3] = cg::exclusive_scan(warp, 1);
        p[4] = tile.meta_group_rank() * 100 + tile.meta_group_size();
        p[5] = tile.ballot(t & 1);
        p[6] = warp.shfl_up(t, 3);
        p[7] = tile.shfl_down(t, 3);
        p[8] = tile.match_any(t / 3);
        p[9] = p[10] = p[11] = p[12] = -1;
        if (t % 3 == 0) {
          auto active = cg::coalesced_threads();
          p[9] = active.size() * 100 + active.thread_rank();
          p[10] = cg::reduce(active, t, cg::plus<int>());
          p[11] = active.shfl(t, 2);
          p[12] = active.ballot(t & 1);
        }
        p[13] = __reduce_add_sync(~0u, t);
        p[14] = cg::labeled_partition(warp, t % 5).size();
        Wide w = tile.shfl(Wide{t, t * 0.5, (char)t}, 5);
        p[15] = w.a + (int)(w.b * 2) + w.c;
      })",
                                        kThreads, kWords);
  for (uint32_t t = 0; t < kThreads; ++t) {
    SCOPED_TRACE(t);
    const uint32_t warp = t / 32 * 32, tile = t / 8 * 8;
    uint32_t sum = 0, greatest = 0, scan = 0, same = 0, thirds = 0, rank = 0, third_sum = 0, odd = 0, labelled = 0;
    for (uint32_t i = warp; i < warp + 32; ++i) {
      sum += i;
      labelled += i % 5 == t % 5;
      if (i % 3) continue;
      rank += i < t;
      odd |= (i & 1) << thirds++;
      third_sum += i;
    }
    for (uint32_t i = tile; i < tile + 8; ++i) {
      greatest = std::max(greatest, i * 37 % 64);
      if (i <= t) scan += i;
      same |= uint32_t{i / 3 == t / 3} << (i - tile);
    }
    const uint32_t first_third = (warp + 2) / 3 * 3;
    const bool third = t % 3 == 0;
    const uint32_t expected[kWords] = {sum,
                                       greatest,
                                       scan,
                                       t - warp,
                                       t / 8 * 100 + 8,
                                       0xaa,
                                       t - warp < 3 ? t : t - 3,
                                       t - tile < 5 ? t + 3 : t,
                                       same,
                                       third ? thirds * 100 + rank : ~0u,
                                       third ? third_sum : ~0u,
                                       third ? first_third + 6 : ~0u,
                                       third ? odd : ~0u,
                                       sum,
                                       labelled,
                                       (tile + 5) * 3};
    for (uint32_t i = 0; i < kWords; ++i) EXPECT_EQ(out[t * kWords + i], expected[i]) << i;
  }
}

TEST(Run, GroupsOfAnyKind) {
  for (uint32_t threads : {1u, 31u, 32u, 33u, 96u, 256u, 1024u}) {
    const std::vector<uint32_t> out = run(R"(
/**/#include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __device__ void note(const cg::thread_group& g, int* p) {
          g.sync();
          p[0] = g.size();
          p[1] = g.thread_rank();
        }
        __global__ void k(int* o) {
          auto block = cg::this_thread_block();
          int* p = o + block.thread_rank() * 6;
          note(block, p);
          note(cg::tiled_partition(block, 4), p + 2);
          note(cg::this_thread(), p + 4);
        })",
                                          threads, 6);
    for (uint32_t t = 0; t < threads; ++t) {
      const std::vector<uint32_t> mine(out.begin() + t * 6, out.begin() + t * 6 + 6);
      EXPECT_EQ(mine, (std::vector<uint32_t>{threads, t, 4, t % 4, 1, 0})) << threads << " " << t;
    }
  }
}

TEST(Run, IntegerFunctions) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  constexpr uint32_t kThreads = 256, kWords = 24;
  std::vector<uint32_t> words(kThreads * kWords, kPoison);
  const uint32_t special[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
  for (uint32_t t = 0; t < kThreads; ++t)
    for (uint32_t i = 0; i < 3; ++i)
      words[t * kWords + i] = random() % 3 ? random() >> random() % 32 : special[random() % 5];
  const std::vector<uint32_t> out = run(R"(
      __global__ void k(unsigned* o) {
        unsigned* p = o + threadIdx.x * 24;
        unsigned x = p[0], y = p[1], z = p[2];
        unsigned long long l = (unsigned long long)x << 32 | y, m = (unsigned long long)y << 32 | z;
        p[3] = __clz(x); p[4] = __ffs(x); p[5] = __popcll(l); p[6] = __brev(x); p[7] = __byte_perm(x, y, z);
        p[8] = __funnelshift_l(x, y, z); p[9] = __funnelshift_rc(x, y, z & 63); p[10] = __mulhi((int)x, (int)y);
        p[11] = __umulhi(x, y); p[12] = __mul24((int)x, (int)y); p[13] = __umul64hi(l, m) >> 32;
        p[14] = __hadd((int)x, (int)y); p[15] = __urhadd(x, y); p[16] = __sad((int)x, (int)y, z);
        p[17] = __dp4a((int)x, (int)y, (int)z); p[18] = __clzll(l); p[19] = __brevll(l) >> 32; p[20] = __ffsll(m);
        p[21] = __fns(x, y & 31, (int)(z % 9) - 4); p[22] = min((int)x, (int)y); p[23] = max(x, y);
      })",
                                        kThreads, words);
  for (uint32_t t = 0; t < kThreads; ++t) {
    const uint32_t* p = &out[t * kWords];
    const uint32_t x = p[0], y = p[1], z = p[2];
    const auto a = static_cast<int32_t>(x), b = static_cast<int32_t>(y);
    const uint64_t l = uint64_t{x} << 32 | y, m = uint64_t{y} << 32 | z, yx = uint64_t{y} << 32 | x;
    SCOPED_TRACE(testing::Message() << std::hex << x << " " << y << " " << z);
    uint32_t reversed = 0, permuted = 0, dot = z;
    for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
    uint32_t reversed_y = 0;
    for (int i = 0; i < 32; ++i) reversed_y |= (y >> i & 1) << (31 - i);
    for (int i = 0; i < 4; ++i) {
      permuted |= static_cast<uint32_t>(yx >> (z >> 4 * i & 7) * 8 & 255) << 8 * i;
      dot += static_cast<uint32_t>(static_cast<int8_t>(x >> 8 * i) * static_cast<int8_t>(y >> 8 * i));
    }
    const auto low24 = [](uint32_t v) { return static_cast<int32_t>(v << 8) >> 8; };
    const uint32_t shift = z & 63;
    int nth = 0xffffffff, left = std::abs(static_cast<int>(z % 9) - 4);
    const int step = static_cast<int>(z % 9) - 4 < 0 ? -1 : 1;
    if (left == 0) nth = x >> (y & 31) & 1 ? static_cast<int>(y & 31) : -1;
    for (int i = static_cast<int>(y & 31); left && i >= 0 && i < 32; i += step)
      if (x >> i & 1 && --left == 0) nth = i;
    EXPECT_EQ(p[3], static_cast<uint32_t>(std::countl_zero(x)));
    EXPECT_EQ(p[4], x ? std::countr_zero(x) + 1u : 0u);
    EXPECT_EQ(p[5], static_cast<uint32_t>(std::popcount(l)));
    EXPECT_EQ(p[6], reversed);
    EXPECT_EQ(p[7], permuted);
    EXPECT_EQ(p[8], static_cast<uint32_t>(yx << (z & 31) >> 32));
    EXPECT_EQ(p[9], shift >= 32 ? y : static_cast<uint32_t>(yx >> shift));
    EXPECT_EQ(p[10], static_cast<uint32_t>((int64_t{a} * b) >> 32));
    EXPECT_EQ(p[11], static_cast<uint32_t>((uint64_t{x} * y) >> 32));
    EXPECT_EQ(p[12], static_cast<uint32_t>(int64_t{low24(x)} * low24(y)));
    EXPECT_EQ(p[13], static_cast<uint32_t>((static_cast<unsigned __int128>(l) * m) >> 96));
    EXPECT_EQ(p[14], static_cast<uint32_t>((int64_t{a} + b) >> 1));
    EXPECT_EQ(p[15], static_cast<uint32_t>((uint64_t{x} + y + 1) >> 1));
    EXPECT_EQ(p[16], static_cast<uint32_t>(z + std::abs(int64_t{a} - b)));
    EXPECT_EQ(p[17], dot);
    EXPECT_EQ(p[18], static_cast<uint32_t>(std::countl_zero(l)));
    EXPECT_EQ(p[19], reversed_y);
    EXPECT_EQ(p[20], m ? std::countr_zero(m) + 1u : 0u);
    EXPECT_EQ(p[21], static_cast<uint32_t>(nth));
    EXPECT_EQ(p[22], static_cast<uint32_t>(std::min(a, b)));
    EXPECT_EQ(p[23], std::max(x, y));
  }
}

TEST(Run, FloatIntrinsics) {
  constexpr uint32_t kThreads = 33, kWords = 16;
  const std::vector<uint32_t> out = run(R"(
      __global__ void k(unsigned* o) {
        unsigned* p = o + threadIdx.x * 16;
        const float x = 1.0f + threadIdx.x, third = __fdiv_rn(x, 3);
        p[0] = __float_as_uint(__fdiv_rz(x, 3));
        p[1] = __float_as_uint(__fdiv_ru(x, 3));
        p[2] = __float_as_uint(__fdiv_rd(-x, 3));
        p[3] = __float_as_uint(third);
        p[4] = __float2int_rn(x / 2);
        p[5] = __float2int_rz(-x / 2);
        p[6] = __float2uint_ru(x / 4);
        p[7] = __float2int_rd(-x / 4);
        p[8] = __double2hiint((double)x);
        p[9] = __float_as_uint(__int2float_rz(0x7fffffff - threadIdx.x));
        p[10] = __float_as_uint(__double2float_ru(0.1));
        p[11] = __float_as_uint(__saturatef(x - 2));
        p[12] = __double2ll_rn(1e18) >> 32;
        p[13] = __float_as_uint(__expf(x * 0.125f));
        p[14] = __float_as_uint(__uint_as_float(0x3f800000u + threadIdx.x));
        p[15] = __float2int_rn(x * 1e9f * 10);
      })",
                                        kThreads, kWords);
  for (uint32_t t = 0; t < kThreads; ++t) {
    SCOPED_TRACE(t);
    const uint32_t* p = &out[t * kWords];
    const float x = 1.0f + static_cast<float>(t), q = x / 3;
    const double exact = double{x} / 3;
    const float under = q > exact ? std::nextafter(q, 0.0f) : q, over = q < exact ? std::nextafter(q, 1e9f) : q;
    EXPECT_EQ(std::bit_cast<float>(p[0]), under);
    EXPECT_EQ(std::bit_cast<float>(p[1]), over);
    EXPECT_EQ(std::bit_cast<float>(p[2]), -over);
    EXPECT_EQ(std::bit_cast<float>(p[3]), q);
    EXPECT_EQ(p[4], static_cast<uint32_t>(std::nearbyint(x / 2)));
    EXPECT_EQ(p[5], static_cast<uint32_t>(static_cast<int>(-x / 2)));
    EXPECT_EQ(p[6], static_cast<uint32_t>(std::ceil(x / 4)));
    EXPECT_EQ(p[7], static_cast<uint32_t>(static_cast<int>(std::floor(-x / 4))));
    EXPECT_EQ(p[8], static_cast<uint32_t>(std::bit_cast<uint64_t>(double{x}) >> 32));
    EXPECT_EQ(std::bit_cast<float>(p[9]), 2147483520.0f);
    EXPECT_EQ(std::bit_cast<float>(p[10]), std::nextafter(0.1f, 0.1 > 0.1f ? 1.0f : 0.1f));
    EXPECT_EQ(std::bit_cast<float>(p[11]), std::min(std::max(x - 2, 0.0f), 1.0f));
    EXPECT_EQ(p[12], static_cast<uint32_t>(1000000000000000000ll >> 32));
    EXPECT_NEAR(std::bit_cast<float>(p[13]), std::exp(x * 0.125f), (4 + x * 0.25f) * 0x1p-23f * std::exp(x * 0.125f));
    EXPECT_EQ(p[14], 0x3f800000u + t);
    EXPECT_EQ(p[15], 0x7fffffffu);
  }
}

TEST(Run, RandomNumbersAreThoseOfTheHost) {
  constexpr uint32_t kThreads = 96, kWords = 12;
  const std::vector<uint32_t> out = run(R"(
/**/#include <curand_kernel.h>
      __global__ void k(unsigned* o) {
        unsigned* p = o + threadIdx.x * 12;
        curandState s;
        curand_init(1234567890123456789ull, threadIdx.x, threadIdx.x * 7, &s);
        for (int i = 0; i < 7; ++i) p[i] = curand(&s);
        uint4 q = curand4(&s);
        p[7] = q.x + q.w;
        p[8] = __float_as_uint(curand_uniform(&s));
        for (int i = 9; i < 12; ++i) p[i] = __float_as_uint(curand_normal(&s));
      })",
                                        kThreads, kWords);
  for (uint32_t t = 0; t < kThreads; ++t) {
    const uint32_t* p = &out[t * kWords];
    curandState s;
    curand_init(1234567890123456789ull, t, t * 7, &s);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(p[i], curand(&s));
    const uint4 q = curand4(&s);
    EXPECT_EQ(p[7], q.x + q.w);
    // The device fuses products with sums, and its logarithm is not the host's.
    EXPECT_NEAR(std::bit_cast<float>(p[8]), curand_uniform(&s), 1.2e-7f);
    for (int i = 9; i < 12; ++i) EXPECT_NEAR(std::bit_cast<float>(p[i]), curand_normal(&s), 1e-5f);
  }
}

}  // namespace
}  // namespace trine::compute
