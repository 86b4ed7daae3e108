// Words of two halves or four bytes, and other integer intrinsics, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_case.h"

namespace trine::compute {
namespace {

#define TRINE_HEAD                                                                                                    \
  "__global__ void k(const int* in, int* out, int n) {\n"                                                             \
  "int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned a = in[i] * 2654435761u, b = (in[i] + i) * 2246822519u;\n" \
  "unsigned h = 0; auto mix = [&](unsigned v) { h = h * 31 + v; };\n"

template <class Body>
void each(const Shape& shape, const Ints& in, Ints& out, const Body& body) {
  for (size_t i = 0; i < static_cast<size_t>(shape.all()); ++i) {
    const auto a = static_cast<uint32_t>(in[i]) * 2654435761u;
    out[i] = static_cast<int>(body(a, (static_cast<uint32_t>(in[i]) + static_cast<uint32_t>(i)) * 2246822519u));
  }
}

// Mixes words that are made of f(x, y) of elements of `bits` bits.
class Mixer {
 public:
  Mixer(int bits, uint32_t a, uint32_t b) : bits_(bits), a_(a), b_(b) {}
  int most() const { return (1 << (bits_ - 1)) - 1; }
  int top() const { return (1 << bits_) - 1; }
  template <class F>
  Mixer& with(bool is_signed, F f) {
    uint32_t word = 0;
    for (int at = 0; at < 32; at += bits_)
      word |= (static_cast<uint32_t>(f(part(a_, at, is_signed), part(b_, at, is_signed))) & mask()) << at;
    hash_ = hash_ * 31 + word;
    return *this;
  }
  Mixer& distance(bool is_signed) {
    uint32_t sum = 0;
    for (int at = 0; at < 32; at += bits_)
      sum += static_cast<uint32_t>(std::abs(part(a_, at, is_signed) - part(b_, at, is_signed)));
    hash_ = hash_ * 31 + sum;
    return *this;
  }
  uint32_t hash() const { return hash_; }

 private:
  uint32_t mask() const { return (1u << bits_) - 1; }
  int part(uint32_t word, int at, bool is_signed) const {
    const int v = static_cast<int>(word >> at & mask());
    return is_signed && v > most() ? v - top() - 1 : v;
  }
  int bits_;
  uint32_t a_, b_, hash_ = 0;
};

uint32_t arithmetic(int bits, uint32_t a, uint32_t b) {
  Mixer m(bits, a, b);
  const int most = m.most(), least = -most - 1, top = m.top();
  m.with(true, [](int x, int y) { return x + y; }).with(true, [](int x, int y) { return x - y; });
  m.with(true, [&](int x, int y) { return std::clamp(x + y, least, most); });
  m.with(true, [&](int x, int y) { return std::clamp(x - y, least, most); });
  m.with(false, [&](int x, int y) { return std::min(x + y, top); });
  m.with(false, [&](int x, int y) { return std::max(x - y, 0); });
  m.with(false, [](int x, int y) { return (x + y + 1) / 2; }).with(false, [](int x, int y) { return (x + y) / 2; });
  m.with(true, [](int x, int y) { return (x + y + (x + y > 0) - (x + y < 0)) / 2; });  // away from zero
  m.with(true, [](int x, int y) { return std::abs(x - y); }).with(false, [](int x, int y) { return std::abs(x - y); });
  m.with(true, [](int x, int y) { return std::max(x, y); }).with(false, [](int x, int y) { return std::max(x, y); });
  m.with(true, [](int x, int y) { return std::min(x, y); }).with(false, [](int x, int y) { return std::min(x, y); });
  m.with(true, [](int x, int) { return std::abs(x); }).with(true, [&](int x, int) {
    return std::min(std::abs(x), most);
  });
  m.with(true, [](int x, int) { return -x; }).with(true, [&](int x, int) { return std::min(-x, most); });
  return m.distance(true).distance(false).hash();
}
uint32_t comparisons(int bits, uint32_t a, uint32_t b) {
  Mixer m(bits, a, b);
  m.with(false, [](int x, int y) { return x == y ? -1 : 0; }).with(false, [](int x, int y) { return x != y; });
  m.with(true, [](int x, int y) { return x >= y ? -1 : 0; }).with(false, [](int x, int y) { return x > y; });
  m.with(true, [](int x, int y) { return x <= y; }).with(false, [](int x, int y) { return x < y ? -1 : 0; });
  return m.with(true, [](int x, int y) { return x > y; }).hash();
}

#define TRINE_ARITHMETIC(n)                                                                                   \
  "mix(__vadd" n "(a, b)); mix(__vsub" n "(a, b)); mix(__vaddss" n "(a, b)); mix(__vsubss" n                  \
  "(a, b));"                                                                                                  \
  "mix(__vaddus" n "(a, b)); mix(__vsubus" n "(a, b)); mix(__vavgu" n "(a, b)); mix(__vhaddu" n               \
  "(a, b));"                                                                                                  \
  "mix(__vavgs" n "(a, b)); mix(__vabsdiffs" n "(a, b)); mix(__vabsdiffu" n "(a, b)); mix(__vmaxs" n          \
  "(a, b));"                                                                                                  \
  "mix(__vmaxu" n "(a, b)); mix(__vmins" n "(a, b)); mix(__vminu" n "(a, b)); mix(__vabs" n                   \
  "(a));"                                                                                                     \
  "mix(__vabsss" n "(a)); mix(__vneg" n "(a)); mix(__vnegss" n "(a)); mix(__vsads" n "(a, b)); mix(__vsadu" n \
  "(a, b));"
#define TRINE_COMPARISONS(n)                                                                     \
  "b ^= (b ^ a) & 0xff00ff; mix(__vcmpeq" n "(a, b)); mix(__vsetne" n "(a, b)); mix(__vcmpges" n \
  "(a, b));"                                                                                     \
  "mix(__vsetgtu" n "(a, b)); mix(__vsetles" n "(a, b)); mix(__vcmpltu" n "(a, b)); mix(__vsetgts" n "(a, b));"

const KernelCase kCases[] = {
    {"halves of words", TRINE_HEAD TRINE_ARITHMETIC("2") "out[i] = h; }", &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](uint32_t a, uint32_t b) { return arithmetic(16, a, b); });
     }},
    {"bytes of words", TRINE_HEAD TRINE_ARITHMETIC("4") "out[i] = h; }", &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](uint32_t a, uint32_t b) { return arithmetic(8, a, b); });
     }},
    {"comparisons of halves and bytes",
     TRINE_HEAD TRINE_COMPARISONS("2") "unsigned first = h; h = 0;" TRINE_COMPARISONS("4") "out[i] = first ^ h * 7; }",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](uint32_t a, uint32_t b) {
         b ^= (b ^ a) & 0xff00ff;
         return comparisons(16, a, b) ^ comparisons(8, a, b) * 7;
       });
     }},
    {"products, sums of differences, shifts of two words", TRINE_HEAD R"(
       mix(__umulhi(a, b)); mix(__mulhi((int)a, (int)b)); mix(__umul24(a, b)); mix(__usad(a, b, 7)); mix(__uhadd(a, b)); mix(__urhadd(a, b));
       mix((unsigned)(__umul64hi((unsigned long long)a << 32 | b, (unsigned long long)b << 32 | a) >> 7));
       mix(__funnelshift_l(a, b, b & 63)); mix(__funnelshift_rc(a, b, a & 63)); mix(__dp4a((int)a, (int)b, 5)); mix(__dp2a_lo((int)a, (int)b, 5));
       mix(__dp2a_hi(a, b, 5u)); mix(__vimax3_s32((int)a, (int)b, 9)); mix(__vimin3_u32(a, b, 9)); out[i] = h; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each(shape, in, out, [](uint32_t a, uint32_t b) {
         uint32_t h = 0;
         const auto mix = [&](uint64_t v) { h = h * 31 + static_cast<uint32_t>(v); };
         const auto byte = [](uint32_t v, int at) { return static_cast<int>(static_cast<int8_t>(v >> 8 * at)); };
         const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
         mix(uint64_t{a} * b >> 32);
         mix(static_cast<uint64_t>(int64_t{x} * y) >> 32);
         mix((a & 0xffffff) * (b & 0xffffff));
         mix((a > b ? a - b : b - a) + 7);
         mix((uint64_t{a} + b) / 2);
         mix((uint64_t{a} + b + 1) / 2);
         __extension__ using Wide = unsigned __int128;
         mix(static_cast<uint64_t>(Wide{uint64_t{a} << 32 | b} * (uint64_t{b} << 32 | a) >> 64) >> 7);
         const uint64_t both = uint64_t{b} << 32 | a;
         mix(both << (b & 31) >> 32);
         mix((a & 63) >= 32 ? b : both >> (a & 63));
         int dot = 5;
         for (int at = 0; at < 4; ++at) dot += byte(a, at) * byte(b, at);
         mix(static_cast<uint32_t>(dot));
         mix(static_cast<uint32_t>(5 + static_cast<int16_t>(a) * byte(b, 0) + (x >> 16) * byte(b, 1)));
         mix(5 + (a & 0xffff) * (b >> 16 & 255) + (a >> 16) * (b >> 24));
         mix(static_cast<uint32_t>(std::max({x, y, 9})));
         mix(std::min({a, b, 9u}));
         return h;
       });
     }},
};

TEST(Kernels, WordsOfHalvesAndBytes) { run_cases(kCases); }

}  // namespace
}  // namespace trine::compute
