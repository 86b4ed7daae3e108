// Inline PTX of integers, bits and comparisons.
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx_case.h"

namespace trine::compute {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using s32 = int32_t;
using s64 = int64_t;
__extension__ typedef unsigned __int128 u128;

u64 first(const PtxWords& x) { return u64{x.v} << 32 | x.w; }
u64 second(const PtxWords& x) { return u64{x.w} << 32 | static_cast<u32>(~x.v); }
s32 saturated(s64 x) { return static_cast<s32>(std::clamp<s64>(x, INT32_MIN, INT32_MAX)); }

const KernelCase kCases[] = {
    {"sums and products", TRINE_PTX_HEAD R"(
       unsigned a; int d; unsigned long long c; unsigned short h;
       asm("add.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("sub.s32 %0, %1, %2;" : "=r"(d) : "r"(v), "r"(w)); mix(r, (unsigned)d);
       asm("add.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(v), "r"(w)); mix(r, (unsigned)d);
       asm("sub.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(v), "r"(w)); mix(r, (unsigned)d);
       asm("mul.lo.s32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("mul.hi.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("mul.hi.s32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("mul.wide.u32 %0, %1, %2;" : "=l"(c) : "r"(v), "r"(w)); mix(r, c);
       asm("mul.wide.s16 %0, %1, %2;" : "=r"(a) : "h"((short)v), "h"((short)w)); mix(r, a);
       asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(i)); mix(r, a);
       asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(i)); mix(r, a);
       asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(c) : "r"(v), "r"(w), "l"(5ll)); mix(r, c);
       asm("mul24.lo.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("mad24.hi.s32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(9)); mix(r, a);
       asm("mul.lo.u16 %0, %1, %2;" : "=h"(h) : "h"((short)v), "h"((short)w)); mix(r, (unsigned)h);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const u32 v = x.v, w = x.w, i = static_cast<u32>(x.i);
         const s32 a = static_cast<s32>(v), b = static_cast<s32>(w);
         const auto high = [&] { return static_cast<u32>((s64{a} * b) >> 32); };
         r.add(v + w);
         r.add(v - w);
         r.add(saturated(s64{a} + b));
         r.add(saturated(s64{a} - b));
         r.add(v * w);
         r.add(static_cast<u32>(u64{v} * w >> 32));
         r.add(high());
         r.add(u64{v} * w);
         r.add(static_cast<u32>(static_cast<int16_t>(v) * static_cast<int16_t>(w)));
         r.add(v * w + i);
         r.add(high() + i);
         r.add(s64{a} * b + 5);
         r.add(static_cast<u32>(u64{v & 0xffffff} * (w & 0xffffff)));
         const s64 p24 = s64{static_cast<s32>(v << 8) >> 8} * (static_cast<s32>(w << 8) >> 8);
         r.add(static_cast<u32>(p24 >> 16) + 9);
         r.add(v * w & 65535);
       });
     }},
    {"carries within an asm and from one to the next", TRINE_PTX_HEAD R"(
       unsigned long long x = (unsigned long long)v << 32 | w, y = (unsigned long long)w << 32 | ~v, lo, hi; unsigned a, b, c;
       asm("{add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %2, 0;}" : "=&l"(lo), "=l"(hi) : "l"(x), "l"(y)); mix(r, lo); mix(r, hi);
       asm("{\n\t.reg .u32 t1; sub.cc.u32 %0, %2, %3; subc.cc.u32 t1, %3, %2; subc.u32 %1, t1, 7;\n\t}" : "=&r"(a), "=r"(b) : "r"(v), "r"(w)); mix(r, a); mix(r, b);
       asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %4;" : "=&r"(a), "=r"(b) : "r"(v), "r"(w), "r"(~w)); mix(r, a); mix(r, b);
       asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); asm volatile("addc.u32 %0, %1, 3;" : "=r"(c) : "r"(v)); mix(r, c);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const u128 sum = u128{first(x)} + second(x);
         r.add(static_cast<u64>(sum));
         r.add(first(x) + static_cast<u64>(sum >> 64));
         r.add(x.v - x.w);
         const u32 borrow = x.v < x.w, t1 = x.w - x.v - borrow;
         const u32 again = u64{x.w} < u64{x.v} + borrow;
         r.add(t1 - 7 - again);
         const u64 product = u64{x.v} * x.w, low = u64{static_cast<u32>(product)} + static_cast<u32>(~x.w);
         r.add(static_cast<u32>(low));
         r.add(static_cast<u32>(product >> 32) + static_cast<u32>(~x.w) + static_cast<u32>(low >> 32));
         r.add(x.v + 3 + static_cast<u32>((u64{x.v} + x.w) >> 32));
       });
     }},
    {"quotients, extremes, shifts", TRINE_PTX_HEAD R"(
       unsigned a, by = w % 70; int d; unsigned long long c, x = (unsigned long long)v << 32 | w; unsigned short h;
       asm("div.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w | 1)); mix(r, a);
       asm("rem.s32 %0, %1, %2;" : "=r"(d) : "r"(v), "r"((w >> 1) | 1)); mix(r, (unsigned)d);
       asm("abs.s32 %0, %1;" : "=r"(d) : "r"(v)); mix(r, (unsigned)d);
       asm("neg.s64 %0, %1;" : "=l"(c) : "l"(x)); mix(r, c);
       asm("min.s32 %0, %1, %2;" : "=r"(d) : "r"(v), "r"(w)); mix(r, (unsigned)d);
       asm("max.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("max.s16 %0, %1, %2;" : "=h"(h) : "h"((short)v), "h"((short)w)); mix(r, (unsigned)h);
       asm("shl.b32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(by)); mix(r, a);
       asm("shr.u32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(by)); mix(r, a);
       asm("shr.s32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(by)); mix(r, a);
       asm("shr.s64 %0, %1, %2;" : "=l"(c) : "l"(x), "r"(by)); mix(r, c);
       asm("shl.b64 %0, %1, 9;" : "=l"(c) : "l"(x)); mix(r, c);
       asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(by)); mix(r, a);
       asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(by)); mix(r, a);
       asm("sad.u32 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(3)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const u32 v = x.v, w = x.w, by = w % 70;
         const s32 a = static_cast<s32>(v), b = static_cast<s32>(w);
         const s64 wide = static_cast<s64>(first(x));
         r.add(v / (w | 1));
         r.add(a % static_cast<s32>((w >> 1) | 1));
         r.add(a < 0 ? 0 - v : v);
         r.add(0 - first(x));
         r.add(std::min(a, b));
         r.add(std::max(v, w));
         r.add(static_cast<u32>(static_cast<uint16_t>(std::max(static_cast<int16_t>(v), static_cast<int16_t>(w)))));
         r.add(by < 32 ? v << by : 0u);
         r.add(by < 32 ? v >> by : 0u);
         r.add(a >> std::min(by, 31u));
         r.add(wide >> std::min(by, 63u));
         r.add(first(x) << 9);
         const u64 both = u64{w} << 32 | v;
         r.add(static_cast<u32>(both << (by & 31) >> 32));
         r.add(static_cast<u32>(both >> std::min(by, 32u)));
         r.add((v < w ? w - v : v - w) + 3);
       });
     }},
    {"bits and bytes", TRINE_PTX_HEAD R"(
       unsigned a; unsigned long long c, x = (unsigned long long)v << 32 | w; int d;
       asm("and.b32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("{ .reg .b32 t<2>; or.b32 t0, %1, %2; not.b32 t1, t0; xor.b32 %0, t1, %1; }" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("cnot.b32 %0, %1;" : "=r"(a) : "r"(v & 1)); mix(r, a);
       asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(a) : "r"(v), "r"(w), "r"(i)); mix(r, a);
       asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(a) : "r"(v), "r"(w), "r"(i), "n"(0xca)); mix(r, a);
       asm("popc.b64 %0, %1;" : "=r"(a) : "l"(x)); mix(r, a);
       asm("clz.b64 %0, %1;" : "=r"(a) : "l"(x >> (w & 63))); mix(r, a);
       asm("brev.b64 %0, %1;" : "=l"(c) : "l"(x)); mix(r, c);
       asm("bfind.u32 %0, %1;" : "=r"(a) : "r"(v >> (w & 31))); mix(r, a);
       asm("bfind.shiftamt.s32 %0, %1;" : "=r"(a) : "r"((int)v >> (w & 31))); mix(r, a);
       asm("bfe.u64 %0, %1, %2, %3;" : "=l"(c) : "l"(x), "r"(w & 63), "r"(v & 31)); mix(r, c);
       asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(c) : "l"(~x), "l"(x), "r"(w & 63), "r"(v & 31)); mix(r, c);
       asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(t & 3)); mix(r, a);
       asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(a) : "r"(v), "r"(w), "r"(t & 3)); mix(r, a);
       asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(v), "r"(w), "r"(11)); mix(r, (unsigned)d);
       asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(v), "r"(w), "r"(11)); mix(r, (unsigned)d);
       asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(d) : "l"(x)); mix(r, a); mix(r, (unsigned)d);
       asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(a) : "r"(v)); mix(r, a);
       asm("mov.b64 %0, {%1, %2};" : "=l"(c) : "r"(v), "r"(w)); mix(r, c);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const u32 v = x.v, w = x.w, i = static_cast<u32>(x.i);
         const u64 q = first(x);
         r.add(v & w);
         r.add(~(v | w) ^ v);
         r.add((v & 1) == 0);
         r.add(v ^ w ^ i);
         r.add((v & w) | (~v & i));
         r.add(std::popcount(q));
         r.add(std::countl_zero(q >> (w & 63)));
         u64 turned = 0;
         for (int bit = 0; bit < 64; ++bit) turned |= (q >> bit & 1) << (63 - bit);
         r.add(turned);
         r.add(31 - std::countl_zero(v >> (w & 31)));
         const s32 s = static_cast<s32>(v) >> (w & 31);
         const u32 size = static_cast<u32>(s < 0 ? ~s : s);
         r.add(size ? std::countl_zero(size) : -1);
         const u64 mask = (u64{1} << (v & 31)) - 1;
         r.add(q >> (w & 63) & mask);
         r.add((q & ~(mask << (w & 63))) | ((~q << (w & 63)) & (mask << (w & 63))));
         const u64 both = u64{w} << 32 | v;
         const auto byte = [&](int n) { return static_cast<u32>(both >> 8 * (n & 7) & 255); };
         const int n = x.t & 3;
         r.add(byte(n) | byte(n + 1) << 8 | byte(n + 2) << 16 | byte(n + 3) << 24);
         const u32 half = v >> 16 * (n & 1) & 65535;
         r.add(half << 16 | half);
         s32 sum = 11, sum2 = 11;
         for (int b = 0; b < 4; ++b) sum += static_cast<s32>(v >> 8 * b & 255) * static_cast<int8_t>(w >> 8 * b);
         for (int b = 0; b < 2; ++b)
           sum2 += static_cast<int16_t>(v >> 16 * b) * static_cast<s32>(w >> (16 + 8 * b) & 255);
         r.add(sum);
         r.add(sum2);
         r.add(w);
         r.add(v);
         r.add(v << 16 | v >> 16);
         r.add(both);
       });
     }},
    {"predicates, guards and jumps", TRINE_PTX_HEAD R"(
       unsigned a = 0; int d = 0;
       asm("{ .reg .pred p, q; setp.lt.s32 p|q, %1, %2; @p add.u32 %0, %0, 5; @!p sub.u32 %0, %0, 3; @q xor.b32 %0, %0, 64; }" : "+r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("{ .reg .pred p, q; setp.hs.u32 p, %1, %2; setp.eq.and.u32 q, %3, 1, !p; selp.u32 %0, 10, 20, q; }" : "=r"(a) : "r"(v), "r"(w), "r"(v & 1)); mix(r, a);
       asm("set.gt.u32.s32 %0, %1, %2;" : "=r"(a) : "r"(v), "r"(w)); mix(r, a);
       asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(a) : "r"(1), "r"(2), "r"(v)); mix(r, a);
       asm("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; setp.gt.s32 q, %2, 0; or.pred p, p, q; not.pred p, p; selp.s32 %0, -4, 4, p; }" : "=r"(d) : "r"(v & 3), "r"(w)); mix(r, (unsigned)d);
       asm("{\n .reg .pred p; .reg .u32 n; mov.u32 n, %1; mov.u32 %0, 0;\nLOOP:\n setp.eq.u32 p, n, 0;\n @p bra DONE; // all bits are gone\n add.u32 %0, %0, 1; shr.u32 n, n, 1; bra.uni LOOP;\nDONE:\n}" : "=&r"(a) : "r"(v)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const s32 a = static_cast<s32>(x.v), b = static_cast<s32>(x.w);
         r.add(a < b ? 5u : (0u - 3u) ^ 64u);
         r.add((x.v & 1) == 1 && x.v < x.w ? 10u : 20u);
         r.add(a > b ? ~0u : 0u);
         r.add(a >= 0 ? 1 : 2);
         r.add((x.v & 3) == 0 && b <= 0 ? -4 : 4);
         r.add(32 - std::countl_zero(x.v));
       });
     }},
};

TEST(Kernels, InlinePtxOfIntegers) { run_cases(kCases); }

}  // namespace
}  // namespace trine::compute
