// Inline PTX of memory, warps and barriers.
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx_case.h"

namespace trine::compute {
namespace {

using u32 = uint32_t;

u32 word(const Ints& in, int i) { return static_cast<u32>(in[static_cast<size_t>(i)]); }

const KernelCase kCases[] = {
    {"shared memory by addresses of 32 bits", TRINE_PTX_HEAD R"(
       __shared__ __align__(16) unsigned s[4096]; unsigned a, b, c, d; unsigned short h;
       unsigned base = (unsigned)__cvta_generic_to_shared(s), at = base + t * 16, other = base + (size - 1 - t) * 16;
       asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :: "r"(at), "r"(v), "r"(v + 1), "r"(w), "r"(w + 1) : "memory");
       __syncthreads();
       asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+8];" : "=r"(a), "=r"(b) : "r"(other) : "memory"); mix(r, a); mix(r, b);
       asm volatile("ld.shared::cta.u8 %0, [%1 + 5];" : "=r"(c) : "r"(other)); mix(r, c);
       asm volatile("ld.shared.s8 %0, [%1];" : "=r"(c) : "r"(other)); mix(r, c);
       asm volatile("{ .reg .u64 p; cvta.shared.u64 p, %1; ld.volatile.u32 %0, [p+8]; }" : "=r"(d) : "l"((unsigned long long)other)); mix(r, d);
       asm volatile("{ .reg .u64 p; .reg .u32 q; cvta.to.shared.u64 p, %1; cvt.u32.u64 q, p; ld.shared.u16 %0, [q+-2]; }" : "=h"(h) : "l"(s + 4 * t + 1)); mix(r, (unsigned)h);
       asm volatile("{ .reg .pred p, q; isspacep.shared p, %1; isspacep.global q, %2; and.pred p, p, q; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "l"(s + t), "l"(in)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords& x, Mixed& r) {
         const int size = shape.threads(), other = x.i - x.t + size - 1 - x.t;
         const u32 v = word(in, other), w = word(in, (other * 7 + 3) % shape.all());
         r.add(w);
         r.add(w + 1);
         r.add((v + 1) >> 8 & 255);
         r.add(int{static_cast<int8_t>(v)});
         r.add(w);
         r.add(x.v >> 16);
         r.add(1);
       });
     }},
    {"global memory with hints", TRINE_PTX_HEAD R"(
       unsigned a, b; unsigned long long policy; const int* p = in + i;
       asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
       asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1];" : "=r"(a) : "l"(p)); mix(r, a);
       asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory"); mix(r, a);
       asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; mov.u32 %0, 77; @p ld.global.cg.u32 %0, [%1]; }" : "=r"(b) : "l"(p), "r"(v & 1)); mix(r, b);
       asm volatile("prefetch.global.L2 [%0];" :: "l"(p));
       asm volatile("st.release.gpu.global.b32 [%0], %1;" :: "l"(out + i), "r"(r) : "memory"); })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         r.add(x.v);
         r.add(x.v);
         r.add(x.v & 1 ? x.v : 77);
       });
     }},
    {"atomics", TRINE_PTX_HEAD R"(
       __shared__ unsigned sum, most, bits, turns, once; __shared__ unsigned long long wide; __shared__ unsigned pair; __shared__ int least; unsigned old; unsigned long long before;
       if (t == 0) { sum = most = bits = turns = pair = 0; once = 5; wide = 0; least = 1000; } __syncthreads();
       unsigned at = (unsigned)__cvta_generic_to_shared(&sum);
       asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(at), "r"(t) : "memory");
       asm volatile("red.max.u32 [%0], %1;" :: "l"(&most), "r"(t * 3) : "memory");
       asm volatile("red.shared.or.b32 [%0], %1;" :: "l"(__cvta_generic_to_shared(&bits)), "r"(1u << lane) : "memory");
       asm volatile("atom.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(&turns), "r"(9) : "memory");
       asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(&wide), "l"(0x100000001ull) : "memory");
       asm volatile("atom.acq_rel.cta.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(&once), "r"(5), "r"(6) : "memory");
       asm volatile("red.min.s32 [%0], %1;" :: "l"(&least), "r"(-t) : "memory");
       asm volatile("red.add.noftz.f16x2 [%0], %1;" :: "l"(&pair), "r"(0x00003c00) : "memory");
       __syncthreads();
       mix(r, sum); mix(r, most); mix(r, bits); mix(r, turns); mix(r, wide); mix(r, once); mix(r, (unsigned)least); mix(r, pair);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords&, Mixed& r) {
         const u32 n = static_cast<u32>(shape.threads());
         r.add(n * (n - 1) / 2);
         r.add(3 * (n - 1));
         r.add(n >= 32 ? ~0u : (1u << n) - 1);
         r.add(n % 10);
         r.add(uint64_t{0x100000001} * n);
         r.add(6);
         r.add(-static_cast<int>(n - 1));
         const int log2 = 31 - std::countl_zero(n);  // n, to 1024, as a number of 16 bits
         r.add(static_cast<u32>(log2 + 15) << 10 | ((n << (10 - log2)) & 1023));
       });
     }},
    {"lanes of a warp", TRINE_PTX_HEAD R"(
       unsigned a, m;
       asm volatile("{ .reg .u32 q; .reg .pred p; shfl.sync.up.b32 q|p, %1, 3, 0, -1; @p add.u32 q, q, %1; mov.u32 %0, q; }" : "=r"(a) : "r"(v)); mix(r, a);
       asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, 5, 0x181f, 0xffffffff; @!p mov.u32 %0, 9; }" : "=r"(a) : "r"(v)); mix(r, a);
       asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 31, -1;" : "=r"(a) : "r"(v)); mix(r, a);
       asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(m) : "r"(v & 1)); mix(r, m);
       asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; }" : "=r"(a) : "r"(lane == 7)); mix(r, a);
       asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(a) : "r"(v & 3)); mix(r, a);
       asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; @p add.u32 %0, %0, 1; }" : "=r"(a) : "r"(4)); mix(r, a);
       asm volatile("redux.sync.add.u32 %0, %1, -1;" : "=r"(a) : "r"(v)); mix(r, a);
       asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(a) : "r"(v)); mix(r, a);
       asm volatile("bar.warp.sync 0xffffffff;"); asm volatile("activemask.b32 %0;" : "=r"(a)); mix(r, a);
       asm volatile("{ .reg .u32 q; mov.u32 q, %%laneid; mov.u32 %0, %%lanemask_lt; add.u32 %0, %0, q; }" : "=r"(a)); mix(r, a);
       out[i] = r; })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords& x, Mixed& r) {
         const int lane = x.i % 32, start = x.i - lane;
         const auto of = [&](int other) { return word(in, start + other); };
         r.add(lane >= 3 ? of(lane - 3) + x.v : x.v);
         r.add(lane % 8 + 5 < 8 ? of(lane + 5) : 9u);
         r.add(of(lane ^ 16));
         u32 ballot = 0, same = 0, sum = 0;
         int least = INT32_MAX;
         for (int other = 0; other < 32; ++other) {
           ballot |= (of(other) & 1) << other;
           same |= ((of(other) & 3) == (x.v & 3) ? 1u : 0u) << other;
           sum += of(other);
           least = std::min(least, static_cast<int>(of(other)));
         }
         r.add(ballot);
         r.add(1);
         r.add(same);
         r.add(0);  // all lanes and 1
         r.add(sum);
         r.add(least);
         r.add(~0u);
         r.add((1u << lane) - 1 + static_cast<u32>(lane));
       });
     }},
    {"barriers that reduce", TRINE_PTX_HEAD R"(
       unsigned a, b; __shared__ int s[1024]; s[t] = v;
       asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.cta.red.popc.aligned.u32 %0, 0, p; }" : "=r"(a) : "r"(v & 1) : "memory"); mix(r, a);
       asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, 1, p; selp.u32 %0, 1, 0, q; }" : "=r"(b) : "r"(t == size - 1) : "memory"); mix(r, b);
       mix(r, (unsigned)s[size - 1 - t]); asm volatile("fence.acq_rel.gpu;" ::: "memory"); asm volatile("griddepcontrol.wait;"); asm volatile("nanosleep.u32 10;");
       out[i] = r; })",
     &kWarpShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords& x, Mixed& r) {
         const int size = shape.threads(), start = x.i - x.t;
         u32 odd = 0;
         for (int other = 0; other < size; ++other) odd += word(in, start + other) & 1;
         r.add(odd);
         r.add(1);
         r.add(word(in, start + size - 1 - x.t));
       });
     }},
    {"asynchronous copies", TRINE_PTX_HEAD R"(
       __shared__ __align__(16) int s[1024]; unsigned at = (unsigned)__cvta_generic_to_shared(s + t);
       asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(at), "l"(in + i), "n"(4) : "memory");
       asm volatile("cp.async.commit_group;" ::: "memory"); asm volatile("cp.async.wait_group %0;" :: "n"(0) : "memory");
       __syncthreads(); unsigned q = s[size - 1 - t]; mix(r, q); __syncthreads();
       asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2;" :: "r"(at), "l"(in + i), "r"(t % 2 ? 2 : 0) : "memory");
       asm volatile("cp.async.wait_all;" ::: "memory"); mix(r, (unsigned)s[t]);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords& x, Mixed& r) {
         r.add(word(in, x.i - x.t + shape.threads() - 1 - x.t));
         r.add(x.t % 2 ? x.v & 65535 : 0u);
       });
     }},
    {"a barrier in shared memory", TRINE_PTX_HEAD R"(
       __shared__ unsigned long long barrier; __shared__ int s[1024]; unsigned at = (unsigned)__cvta_generic_to_shared(&barrier); unsigned long long state;
       if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(size) : "memory");
       __syncthreads();
       for (int round = 0; round < 3; ++round) {
         s[t] = v + round;
         if (round < 2) {
           asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
           asm volatile("{ .reg .pred p; WAIT: mbarrier.test_wait.shared.b64 p, [%0], %1; @!p bra WAIT; }" :: "r"(at), "l"(state) : "memory");
         } else {
           asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at) : "memory");
           asm volatile("{ .reg .pred P1;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n @P1 bra DONE;\n bra AGAIN;\nDONE:\n}" :: "r"(at), "r"(0) : "memory");
         }
         mix(r, (unsigned)s[size - 1 - t]); __syncthreads();
       }
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [&](const PtxWords& x, Mixed& r) {
         for (u32 round = 0; round < 3; ++round) r.add(word(in, x.i - x.t + shape.threads() - 1 - x.t) + round);
       });
     }},
};

TEST(Kernels, InlinePtxOfMemory) { run_cases(kCases); }

}  // namespace
}  // namespace trine::compute
