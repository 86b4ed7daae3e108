// Attention on devices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

const std::vector<DType> kHalf = {DType::f16, DType::bf16}, kFloats = {DType::f32, DType::f16, DType::bf16};

AttentionProblem attention(int64_t batch, int64_t heads, int64_t q_len, int64_t kv_len, int64_t dim, int64_t v_dim,
                           int64_t kv_heads = 0) {
  AttentionProblem p{.batch = batch, .heads = heads, .kv_heads = kv_heads ? kv_heads : heads};
  p.q_len = q_len, p.kv_len = kv_len, p.head_dim = dim, p.v_head_dim = v_dim;
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
  p.q_stride = {q_len * heads * dim, dim, heads * dim};
  p.k_stride = {p.kv_heads * kv_len * dim, kv_len * dim, dim};  // [B, H, S, D]
  p.v_stride = {kv_len * p.kv_heads * v_dim, v_dim, p.kv_heads * v_dim};
  p.out_stride = {q_len * heads * v_dim, v_dim, heads * v_dim};
  return p;
}

// Scores of normal data are off by (d + 8) roundings of sums below 6 sqrt(d); weights by twice that; with products of
// 16 bits each weight is rounded once more, and no value is larger than 6.
CaseOptions bound_of(const AttentionProblem& p, DType type) {
  const double d = static_cast<double>(p.head_dim), unit = type == DType::f16    ? 0x1p-11
                                                           : type == DType::bf16 ? 0x1p-8
                                                                                 : 0;
  const double score = 0x1p-24 * (d + 8) * std::abs(p.scale) * 6 * d + (p.softcap > 0 ? 8 * 0x1p-24 * p.softcap : 0);
  const double relative = std::expm1(2 * score) + static_cast<double>(p.kv_len + 30) * 0x1p-24 + unit;
  return {.bound = [=](double want) { return relative * 6 + 0x1p-22 * std::abs(want); }};
}

void add(Cases& cases, AttentionProblem p, const std::vector<DType>& types, int rows = 1,
         std::function<void(CaseData&)> adjust = {}, bool one_tile = false) {
  for (DType type : types) {
    p.type = type;
    CaseOptions options = bound_of(p, type);
    options.least_rows = type == DType::f32 ? 1 : rows;
    options.adjust = adjust;
    // Each tile is a program of its own, and long in the making.
    options.drop = {"attention_half_mma_keys_by_warp"};
    if (!one_tile)
      options.drop.insert(options.drop.end(), {"attention_half_mma_64_of_128", "attention_half_mma_64_of_208"});
    cases.add(p, options);
  }
}

TEST(DeviceAttention, Sizes) {
  Cases cases;
  for (int64_t q : {1, 15, 33})
    for (int64_t kv : {1, 33, 100}) add(cases, attention(1, 2, q, kv, 32, 32), {DType::f32, DType::f16}, 5, {}, true);
  add(cases, attention(2, 2, 70, 197, 20, 20), {DType::f32, DType::f16}, 3, {}, true);
  add(cases, attention(1, 2, 70, 90, 64, 64), {DType::f32, DType::f16}, 3);
  for (int64_t dim : {4, 96, 256}) add(cases, attention(1, 1, 20, 41, dim, dim), {DType::f16}, dim > 128 ? 2 : 3);
  add(cases, attention(1, 2, 20, 41, 7, 13), kFloats, 3);
  add(cases, attention(1, 1, 5, 41, 300, 290), kFloats);
  add(cases, attention(1, 2, 0, 5, 8, 8), kFloats);
  cases.run();
}

TEST(DeviceAttention, LongSequencesAndGroups) {
  Cases cases;
  add(cases, attention(1, 1, 140, 300, 32, 32), kHalf, 3);
  add(cases, attention(2, 6, 9, 71, 32, 32, 2), kFloats, 3);
  add(cases, attention(1, 4, 1, 700, 64, 64, 2), {DType::f16}, 3);  // split keys
  add(cases, attention(2, 2, 3, 333, 30, 24), kHalf, 3);
  cases.run();
}

TEST(DeviceAttention, CausalAndWindows) {
  Cases cases;
  for (int64_t offset : {0, 5, -3}) {
    AttentionProblem p = attention(1, 2, 70, 75, 16, 16);
    p.causal = true, p.causal_offset = offset, p.lse = true;
    add(cases, p, {DType::f32, DType::f16}, 3);
  }
  for (int64_t left : {-1, 0, 3, 40})
    for (int64_t right : {-1, 2}) {
      AttentionProblem p = attention(1, 1, 50, 141, 32, 32);
      p.window_left = left, p.window_right = right, p.bottom_right = left == 3, p.lse = true;
      add(cases, p, {DType::f32, DType::f16}, 3);
    }
  cases.run();
}

TEST(DeviceAttention, MasksCapsAndAlibi) {
  Cases cases;
  for (std::array<int64_t, 4> stride :
       {std::array<int64_t, 4>{0, 0, 0, 1}, {21, 0, 0, 1}, {0, 189, 21, 1}, {0, 0, 1, 9}}) {
    AttentionProblem p = attention(2, 3, 9, 21, 16, 16);
    p.mask = MaskKind::additive, p.mask_stride = stride;
    add(cases, p, {DType::f32, DType::f16}, 3);
  }
  for (bool causal : {false, true}) {  // a mask of keys over several tiles
    AttentionProblem p = attention(2, 2, 70, 210, 64, 64);
    p.mask = MaskKind::additive, p.mask_stride = {210, 0, 0, 1}, p.causal = causal;
    add(cases, p, {DType::f16, DType::bf16}, 3);
  }
  AttentionProblem p = attention(2, 2, 9, 21, 16, 16);
  p.mask = MaskKind::boolean, p.mask_stride = {189, 0, 21, 1}, p.lse = true;
  add(cases, p, kFloats, 3, [](CaseData& d) {
    for (int64_t i = 0; i < 21; ++i) d.set(3, i, 0);  // the first query sees nothing
  });
  p = attention(1, 2, 9, 210, 16, 16);
  p.softcap = 2;
  add(cases, p, {DType::f16}, 3);
  p.alibi = true, p.causal = true, p.causal_offset = 190;
  add(cases, p, {DType::f32, DType::f16}, 3);
  p = attention(1, 1, 9, 40, 16, 16);
  p.scale = -0.3f;
  add(cases, p, {DType::f32, DType::f16}, 3);
  cases.run();
}

TEST(DeviceAttention, LengthsOfAPaddedBatch) {
  Cases cases;
  for (bool bottom_right : {false, true}) {
    AttentionProblem p = attention(4, 2, 9, 150, 8, 8);  // the last entry has no keys
    p.lengths = true, p.lse = true, p.causal = bottom_right, p.bottom_right = bottom_right;
    add(cases, p, {DType::f32, DType::f16}, 4, [](CaseData& d) {
      for (int64_t b = 0; b < 4; ++b)
        d.set(4, b, static_cast<double>(9 - 3 * b)), d.set(5, b, static_cast<double>(150 - 50 * b));
      for (int i : {1, 2})
        for (int64_t e = d.sizes.in[i] - 8; e < d.sizes.in[i]; ++e) d.set(i, e, NAN);  // padding is not read
    });
  }
  cases.run();
}

TEST(DeviceAttention, DropoutAndHiddenNan) {
  Cases cases;
  AttentionProblem p = attention(2, 2, 33, 53, 8, 8);
  p.dropout = 0.3f, p.lse = true;
  add(cases, p, kFloats, 1, [](CaseData& d) {
    const int32_t words[] = {5, 1, 11, 0};
    std::memcpy(d.in[7].data(), words, sizeof words);
  });
  p = attention(1, 1, 9, 9, 8, 8);
  p.causal = true;
  p.type = DType::f32;
  CaseOptions options = bound_of(p, p.type);
  options.adjust = [](CaseData& d) { d.set(1, 60, NAN); };
  cases.add(p, options);
  cases.run();
}

// The row whose warps have 32 keys each, alone.
TEST(DeviceAttention, KeysByWarp) {
  Cases cases;
  const auto add_alone = [&](AttentionProblem p, const std::vector<DType>& types, int shift = 0,
                             std::function<void(CaseData&)> adjust = {}) {
    for (DType type : types) {
      p.type = type;
      CaseOptions options = bound_of(p, type);
      options.only = "attention_half_mma_keys_by_warp", options.shift = shift, options.adjust = adjust;
      cases.add(p, options);
    }
  };
  // Each width and number of warps is a program of its own, and compilers for CPUs take seconds for the wide ones.
  add_alone(attention(2, 3, 40, 70, 64, 64), {DType::f16});
  if (!traits_of(test_device()).is_cpu) {
    add_alone(attention(1, 2, 17, 30, 96, 96), {DType::f16}, 1);
    add_alone(attention(1, 2, 33, 50, 128, 128), kHalf);
    add_alone(attention(2, 3, 197, 197, 64, 64), kHalf);
    add_alone(attention(1, 3, 400, 500, 64, 64), {DType::f16}, 1);
  }
  add_alone(attention(2, 8, 5, 64, 32, 32, 2), {DType::bf16}, 1);
  for (bool causal : {false, true}) {
    AttentionProblem p = attention(2, 2, 40, 40, 32, 32);
    p.mask = MaskKind::additive, p.mask_stride = {40, 0, 0, 1}, p.causal = causal, p.lse = true;
    add_alone(p, {DType::f16});
  }
  AttentionProblem p = attention(2, 2, 19, 40, 32, 32);
  p.mask = MaskKind::boolean, p.mask_stride = {760, 0, 40, 1}, p.lse = true, p.window_left = 30;
  add_alone(p, {DType::f16}, 0, [](CaseData& d) {
    for (int64_t i = 0; i < 40; ++i) d.set(3, i, 0);  // the first query sees nothing
  });
  p = attention(3, 2, 40, 70, 64, 64);
  p.lengths = true, p.lse = true, p.causal = true, p.bottom_right = true;
  add_alone(p, {DType::f16}, 0, [](CaseData& d) {
    for (int64_t b = 0; b < 3; ++b)
      d.set(4, b, static_cast<double>(40 - 20 * b)), d.set(5, b, static_cast<double>(70 - 35 * b));
    for (int i : {1, 2})
      for (int64_t e = d.sizes.in[i] - 64; e < d.sizes.in[i]; ++e) d.set(i, e, NAN);  // padding is not read
  });
  cases.run();
}

// What was fastest on an H200; of few keys, what is estimated to be.
TEST(DeviceAttention, ChoiceOnLargeDevice) {
  DeviceTraits traits{.architecture = 90, .specific = true, .multiprocessors = 132};
  traits.shared_bytes_per_block = 227 << 10;
  traits.flops_per_second = 5e13, traits.bytes_per_second = 4e12;
  const auto expect = [&](AttentionProblem p, std::string_view row) {
    p.type = DType::f16;
    EXPECT_EQ(find_on_device(p, traits, {.providers = false}).best()->name, row) << text(p);
  };
  for (bool masked : {false, true})
    for (int64_t batch : {1, 32}) {
      AttentionProblem p = attention(batch, 12, 128, 128, 64, 64);
      if (masked) p.mask = MaskKind::additive, p.mask_stride = {128, 0, 0, 1};
      expect(p, "attention_half_mma_keys_by_warp");
    }
  for (int64_t batch : {1, 32}) expect(attention(batch, 12, 197, 197, 64, 64), "attention_half_mma_keys_by_warp");
  expect(attention(1, 32, 1, 4096, 128, 128, 8), "attention_half_mma_split_keys");
  expect(attention(32, 32, 1, 4096, 128, 128, 8), "attention_half_mma_64x64");
  AttentionProblem causal = attention(1, 16, 4096, 4096, 128, 128);
  expect(causal, "attention_half_mma_128x64");
  causal.causal = true;
  expect(causal, "attention_half_mma_64x64");
  expect(attention(4, 16, 2048, 2048, 64, 64), "attention_half_mma_128x64");
}

}  // namespace
}  // namespace trine::dnn::test
