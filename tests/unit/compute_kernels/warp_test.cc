// What the threads of a warp do together.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_case.h"

namespace trine::compute {
namespace {

#define TRINE_HEAD                                                                      \
  "__global__ void k(const int* in, int* out, int n) {\n"                               \
  "int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t, lane = t % 32;\n" \
  "unsigned all = size - t / 32 * 32 >= 32 ? 0xffffffffu : (1u << (size % 32)) - 1;\n"

// body(values of the warp, lanes there, lane) for every thread.
template <class Body>
void for_warps(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  const int t = shape.threads();
  for (int i = 0; i < shape.all(); ++i) {
    const int first = i / t * t + i % t / 32 * 32;
    const int lanes = std::min(32, t - i % t / 32 * 32);
    out[static_cast<size_t>(i)] = body(in.data() + first, lanes, i - first);
  }
}

template <int kind, int width>
void shuffled(const Shape& shape, const Ints& in, Ints& out) {
  for_warps(shape, in, out, [](const int* x, int lanes, int lane) {
    const int b = 3, base = lane / width * width;
    int from = lane;
    if (kind == 0) from = lane - b >= base ? lane - b : lane;
    if (kind == 1) from = lane + b < base + width ? lane + b : lane;
    if (kind == 2) from = (lane ^ b) < base + width ? lane ^ b : lane;
    if (kind == 3) from = base + b % width;
    return from < lanes ? x[from] : x[lane];
  });
}

// Lanes that are not there keep their own value on the CPU; on a GPU it is anything, and kernels do not look.
#define TRINE_SHUFFLE(function, width, from)                                      \
  TRINE_HEAD "int v = " #function "(all, in[i], 3, " #width "); int from = " from \
             ";\n"                                                                \
             "out[i] = from < 32 && !(all >> from & 1) ? in[i] : v; }"

const KernelCase kShuffles[] = {
    {"up 32", TRINE_SHUFFLE(__shfl_up_sync, 32, "lane"), &kShapes, shuffled<0, 32>},
    {"up 16", TRINE_SHUFFLE(__shfl_up_sync, 16, "lane"), &kShapes, shuffled<0, 16>},
    {"up 4", TRINE_SHUFFLE(__shfl_up_sync, 4, "lane"), &kShapes, shuffled<0, 4>},
    {"up 1", TRINE_SHUFFLE(__shfl_up_sync, 1, "lane"), &kShapes, shuffled<0, 1>},
    {"down 32", TRINE_SHUFFLE(__shfl_down_sync, 32, "lane + 3"), &kShapes, shuffled<1, 32>},
    {"down 8", TRINE_SHUFFLE(__shfl_down_sync, 8, "lane % 8 + 3 < 8 ? lane + 3 : lane"), &kShapes, shuffled<1, 8>},
    {"down 2", TRINE_SHUFFLE(__shfl_down_sync, 2, "lane"), &kShapes, shuffled<1, 2>},
    {"xor 32", TRINE_SHUFFLE(__shfl_xor_sync, 32, "lane ^ 3"), &kShapes, shuffled<2, 32>},
    {"xor 16", TRINE_SHUFFLE(__shfl_xor_sync, 16, "lane ^ 3"), &kShapes, shuffled<2, 16>},
    {"xor 2", TRINE_SHUFFLE(__shfl_xor_sync, 2, "(lane ^ 3) < (lane / 2 + 1) * 2 ? lane ^ 3 : lane"), &kShapes,
     shuffled<2, 2>},
    {"idx 32", TRINE_SHUFFLE(__shfl_sync, 32, "3"), &kShapes, shuffled<3, 32>},
    {"idx 8", TRINE_SHUFFLE(__shfl_sync, 8, "lane / 8 * 8 + 3"), &kShapes, shuffled<3, 8>},
    {"idx 2: wraps", TRINE_SHUFFLE(__shfl_sync, 2, "lane / 2 * 2 + 1"), &kShapes, shuffled<3, 2>},
    {"by a lane that differs", TRINE_HEAD "out[i] = __shfl_sync(all, in[i], (lane * 7 + 1) % 32); }", &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int, int lane) { return x[(lane * 7 + 1) % 32]; });
     }},
    {"of 64 bits and of doubles", TRINE_HEAD R"(
       long long w = __shfl_xor_sync(all, ((long long)in[i] << 32) + i, 1); double d = __shfl_xor_sync(all, in[i] * 0.5, 1);
       out[i] = (int)(w >> 32) + (int)(d * 2) + ((int)w == (i ^ 1)); })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int, int lane) { return 2 * x[lane ^ 1] + 1; });
     }},
    {"butterfly sum", TRINE_HEAD R"(
       int v = in[i]; for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d); out[i] = v; })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int) {
         int sum = 0;
         for (int j = 0; j < lanes; ++j) sum += x[j];
         return sum;
       });
     }},
    {"scan by up", TRINE_HEAD R"(
       int v = in[i]; for (int d = 1; d < 32; d *= 2) { int b = __shfl_up_sync(all, v, d); if (lane >= d) v += b; } out[i] = v; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int, int lane) {
         int sum = 0;
         for (int j = 0; j <= lane; ++j) sum += x[j];
         return sum;
       });
     }},
    {"by half of the warp, under a condition", TRINE_HEAD R"(
       out[i] = in[i];
       if (lane % 2) out[i] = __shfl_sync(0xaaaaaaaau & all, in[i], 1); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int, int lane) { return lane % 2 ? x[1] : x[lane]; });
     }},
    {"both halves at different places", TRINE_HEAD R"(
       if (lane < 16) out[i] = __shfl_xor_sync(0x0000ffffu, in[i], 1); else out[i] = -__shfl_xor_sync(0xffff0000u, in[i], 2); })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int, int lane) { return lane < 16 ? x[lane ^ 1] : -x[lane ^ 2]; });
     }},
};

TEST(Kernels, Shuffles) { run_cases(kShuffles); }

const KernelCase kVotes[] = {
    {"ballot", TRINE_HEAD "out[i] = __ballot_sync(all, in[i] > 0); }", &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int) {
         uint32_t bits = 0;
         for (int j = 0; j < lanes; ++j) bits |= uint32_t{x[j] > 0} << j;
         return static_cast<int>(bits);
       });
     }},
    {"all, any, uni", TRINE_HEAD R"(
       out[i] = __all_sync(all, in[i] > -400) * 8 + __any_sync(all, in[i] > 900) * 4 + __uni_sync(all, in[i] > 2000) * 2 +
                __uni_sync(all, in[i] > 0); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int) {
         const bool all = std::all_of(x, x + lanes, [](int v) { return v > -400; });
         const bool any = std::any_of(x, x + lanes, [](int v) { return v > 900; });
         const auto positive = std::count_if(x, x + lanes, [](int v) { return v > 0; });
         return all * 8 + any * 4 + 2 + (positive == 0 || positive == lanes);
       });
     }},
    {"match any", TRINE_HEAD "out[i] = __match_any_sync(all, in[i] & 3); }", &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int lane) {
         uint32_t same = 0;
         for (int j = 0; j < lanes; ++j) same |= uint32_t{(x[j] & 3) == (x[lane] & 3)} << j;
         return static_cast<int>(same);
       });
     }},
    {"match all, of 64 bits", TRINE_HEAD R"(
       int whole, some; unsigned a = __match_all_sync(all, 5ll << 40, &whole), b = __match_all_sync(all, (long long)lane << 40, &some);
       out[i] = (a == all) * 8 + whole * 4 + (b != 0) * 2 + some; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int*, int lanes, int) { return 12 + (lanes == 1 ? 3 : 0); });
     }},
    {"reductions", TRINE_HEAD R"(
       out[i] = __reduce_add_sync(all, in[i]) + __reduce_min_sync(all, in[i]) * 3 - __reduce_max_sync(all, in[i]) * 5 +
                (int)__reduce_xor_sync(all, (unsigned)in[i]) % 7; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int) {
         int sum = 0, bits = 0;
         for (int j = 0; j < lanes; ++j) {
           sum += x[j];
           bits ^= x[j];
         }
         return sum + *std::min_element(x, x + lanes) * 3 - *std::max_element(x, x + lanes) * 5 + bits % 7;
       });
     }},
    {"active mask: all, then those of a branch", TRINE_HEAD R"(
       unsigned before = __activemask(), inside = 0;
       if (lane < 5) inside = __activemask();
       out[i] = (before == all) * 64 + (int)inside; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out,
                 [](const int*, int lanes, int lane) { return 64 + (lane < 5 ? (1 << std::min(5, lanes)) - 1 : 0); });
     }},
    {"syncwarp orders shared memory", TRINE_HEAD R"(
       __shared__ int s[1024]; s[t] = in[i]; __syncwarp(all); int v = s[t / 32 * 32 + (size - t / 32 * 32 >= 32 ? 31 - lane : 0)];
       __syncwarp(all); s[t] = v; __syncwarp(); out[i] = s[t]; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int lane) { return x[lanes == 32 ? 31 - lane : 0]; });
     }},
    {"lanes and warps know who they are", R"(
       __device__ unsigned lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
     )" TRINE_HEAD R"(out[i] = lane_id() + warpSize * 100; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int*, int, int lane) { return lane + 3200; });
     }},
    {"warps of 2D and 3D blocks", R"(
       __global__ void k(const int* in, int* out, int n) {
         int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, size = blockDim.x * blockDim.y * blockDim.z;
         int i = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * size + t;
         unsigned all = size - t / 32 * 32 >= 32 ? 0xffffffffu : (1u << (size % 32)) - 1;
         out[i] = __shfl_sync(all, in[i], 0) + __popc(__ballot_sync(all, 1)); })",
     &kSpaceShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       for_warps(shape, in, out, [](const int* x, int lanes, int) { return x[0] + lanes; });
     }},
};

TEST(Kernels, Votes) { run_cases(kVotes); }

}  // namespace
}  // namespace trine::compute
