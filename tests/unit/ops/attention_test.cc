// Attention in all its operators: masks, causal and windowed sight, caches, grouped heads, rotary embedding.
#include <random>

#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

Tensor random_tensor(std::mt19937& random, Dims dims) {
  std::uniform_real_distribution<double> pick(-1, 1);
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (double& v : values) v = pick(random);
  return as(DType::f64, std::move(dims), values);
}

std::mt19937 fresh_random() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return std::mt19937(seed);
}

// Rows [first, last) of the third dimension of [1,H,S,D].
Tensor rows(const Tensor& x, int64_t first, int64_t last) {
  const Reals v = x.f64_values();
  Reals y;
  for (int64_t h = 0; h < x.dim(1); ++h)
    y.insert(y.end(), v.begin() + (h * x.dim(2) + first) * x.dim(3), v.begin() + (h * x.dim(2) + last) * x.dim(3));
  return as(x.dtype(), {1, x.dim(1), last - first, x.dim(3)}, y);
}

const Attrs kCausal = attributes({{"is_causal", int64_t{1}}});

// Queries of 0 weigh every visible key alike: y is the mean of the visible values.
TEST(Attention, SightByMaskCausalityAndWindow) {
  const Tensor q = as(DType::f32, {1, 1, 3, 1}, {0, 0, 0}), k = as(DType::f32, {1, 1, 4, 1}, {1, 2, 3, 4}),
               v = as(DType::f32, {1, 1, 4, 1}, {1, 2, 4, 8});
  EXPECT_EQ(reals("attention", {q, k, v}), (Reals{3.75, 3.75, 3.75}));
  EXPECT_EQ(reals("attention", {q, k, v}, kCausal), (Reals{1, 1.5, as(DType::f32, {1}, {7 / 3.0}).f64_values()[0]}));
  EXPECT_EQ(
      reals("attention", {q, k, v}, attributes({{"left_window_size", int64_t{0}}, {"right_window_size", int64_t{1}}})),
      (Reals{1.5, 3, 6}));
  const Tensor keep = Tensor::from_i64(DType::boolean, {3, 4}, {1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(reals("attention", {q, k, v, keep}), (Reals{4.5, 2, 0}));  // a row that sees nothing is 0
  EXPECT_EQ(reals("attention", {q, k, v, keep}, kCausal), (Reals{1, 2, 0}));
  const Tensor shorter = Tensor::from_i64(DType::boolean, {1, 2}, {1, 1});  // keys past a short mask are hidden
  EXPECT_EQ(reals("attention", {q, k, v, shorter}), (Reals{1.5, 1.5, 1.5}));
  EXPECT_EQ(reals("attention", {q, k, v, Tensor(), Tensor(), Tensor(), i64s({3})}, kCausal),
            (Reals{1, 1.5, as(DType::f32, {1}, {7 / 3.0}).f64_values()[0]}));
  EXPECT_EQ(reals("attention", {q, k, v, Tensor(), Tensor(), Tensor(), i64s({2})}, kCausal),
            (Reals{0, 1, 1.5}));  // offset -1
}

TEST(Attention, HiddenKeysMayHoldAnything) {
  const Tensor q = floats({1, 1, 1, 1}, {1}), k = floats({1, 1, 2, 1}, {1, kNan}), v = floats({1, 1, 2, 1}, {5, kInf});
  const Tensor keep = Tensor::from_i64(DType::boolean, {1, 2}, {1, 0});
  EXPECT_EQ(reals("attention", {q, k, v, keep}), (Reals{5}));
}

TEST(Attention, CacheContinuesWhereItStopped) {
  std::mt19937 random = fresh_random();
  const Tensor q = random_tensor(random, {1, 4, 5, 3}), k = random_tensor(random, {1, 2, 5, 3}),
               v = random_tensor(random, {1, 2, 5, 2});
  const Tensor whole = run_op("attention", {q, k, v}, kCausal)[0];
  const auto next = run_op(
      "attention", {rows(q, 3, 5), rows(k, 3, 5), rows(v, 3, 5), Tensor(), rows(k, 0, 3), rows(v, 0, 3)}, kCausal, 3);
  expect_near(next[0].f64_values(), rows(whole, 3, 5).f64_values(), 1e-14);
  EXPECT_EQ(next[1].f64_values(), k.f64_values());
  EXPECT_EQ(next[2].f64_values(), v.f64_values());
}

TEST(Attention, PackedHeadsAreTheSameAndStagesAreVisible) {
  std::mt19937 random = fresh_random();
  const Tensor q = random_tensor(random, {2, 3, 8}), k = random_tensor(random, {2, 4, 4}),
               v = random_tensor(random, {2, 4, 6}), mask = random_tensor(random, {3, 4});
  Attrs attrs =
      attributes({{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"softcap", 0.5}, {"scale", 0.7}});
  std::vector<std::vector<Tensor>> stage;
  for (int64_t mode : {0, 1, 2, 3}) {
    attrs.set("qk_matmul_output_mode", mode);
    stage.push_back(run_op("attention", {q, k, v, mask}, attrs, 4));
    ASSERT_EQ(stage.back()[3].dims(), (Dims{2, 4, 3, 4}));
  }
  EXPECT_EQ(stage[0][0].dims(), (Dims{2, 3, 12}));
  const Reals raw = stage[0][3].f64_values(), capped = stage[1][3].f64_values(), biased = stage[2][3].f64_values(),
              p = stage[3][3].f64_values(), m = mask.f64_values();
  const Reals qv = q.f64_values(), kv = k.f64_values();
  EXPECT_NEAR(raw[0], 0.7 * (qv[0] * kv[0] + qv[1] * kv[1]), 1e-14);
  for (size_t i = 0; i < raw.size(); ++i) {
    EXPECT_NEAR(capped[i], 0.5 * std::tanh(raw[i] / 0.5), 1e-14);
    EXPECT_NEAR(biased[i], capped[i] + m[i % 12], 1e-14);
  }
  for (size_t r = 0; r < p.size(); r += 4) EXPECT_NEAR(p[r] + p[r + 1] + p[r + 2] + p[r + 3], 1, 1e-14);
}

TEST(Sdpa, AgreesWithAttentionInBothLayouts) {
  std::mt19937 random = fresh_random();
  const Tensor q = random_tensor(random, {2, 3, 8}), k = random_tensor(random, {2, 5, 4}),
               v = random_tensor(random, {2, 5, 4}), mask = random_tensor(random, {2, 1, 1, 5});
  const Attrs onnx = attributes({{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"is_causal", int64_t{1}}});
  Attrs ours = attributes({{"layout", std::string("bshd")},
                           {"num_heads", int64_t{4}},
                           {"kv_num_heads", int64_t{2}},
                           {"causal", int64_t{1}}});
  EXPECT_EQ(reals("sdpa", {q, k, v, mask}, ours), reals("attention", {q, k, v, mask}, onnx));
  ours.set("causal", int64_t{2});  // bottom right: query 0 sees keys 0..2
  const Tensor one = as(DType::f64, {1, 1, 3, 1}, {0, 0, 0}), keys = as(DType::f64, {1, 1, 5, 1}, {1, 2, 3, 4, 5});
  expect_near(reals("sdpa", {one, keys, keys}, attributes({{"causal", int64_t{2}}})), {2, 2.5, 3}, 1e-14);
}

TEST(Attention, WrongOperandsAreErrors) {
  const Tensor q = floats({1, 2, 1, 1}, {1, 2}), k3 = floats({1, 3, 1, 1}, {1, 2, 3}), k = floats({1, 1, 1, 1}, {1});
  EXPECT_NO_THROW(run_op("attention", {q, k, k}));
  EXPECT_THROW(run_op("attention", {q, k3, k3}), Error);
  EXPECT_THROW(run_op("attention", {q, k, floats({1, 1, 2, 1}, {1, 2})}), Error);
  EXPECT_THROW(run_op("attention", {q, k, k, floats({3}, {1, 2, 3})}), Error);
  EXPECT_THROW(run_op("attention", {q.reshaped({1, 1, 2}), k.reshaped({1, 1, 1}), k.reshaped({1, 1, 1})}), Error);
  EXPECT_THROW(run_op("attention", {q, k, k, Tensor(), k}), Error);
}

TEST(MultiHeadAttention, FormsAgree) {
  std::mt19937 random = fresh_random();
  const Tensor q = random_tensor(random, {1, 2, 4}), k = random_tensor(random, {1, 3, 4}),
               v = random_tensor(random, {1, 3, 4});
  const Attrs heads = attributes({{"num_heads", int64_t{2}}});
  const Attrs onnx = attributes({{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}});
  expect_near(reals("multi_head_attention", {q, k, v}, heads), reals("attention", {q, k, v}, onnx), 1e-14);
  // a length of 2 keys is the same as a mask over keys, up to exp(-10000) = 0
  const Tensor length = ints(DType::i32, {1}, {2}), keep = ints(DType::i32, {1, 3}, {1, 1, 0});
  EXPECT_EQ(reals("multi_head_attention", {q, k, v, Tensor(), length}, heads),
            reals("multi_head_attention", {q, k, v, Tensor(), keep}, heads));
  const Tensor boolean = Tensor::from_i64(DType::boolean, {1, 3}, {1, 1, 0});
  expect_near(reals("multi_head_attention", {q, k, v, Tensor(), keep}, heads),
              reals("attention", {q, k, v, boolean}, onnx), 1e-14);
  // packed [B,S,H,3,D]
  const Reals a = random_tensor(random, {4}).f64_values(), b = random_tensor(random, {4}).f64_values(),
              c = random_tensor(random, {4}).f64_values();
  const Tensor packed =
      as(DType::f64, {1, 1, 2, 3, 2}, {a[0], a[1], b[0], b[1], c[0], c[1], a[2], a[3], b[2], b[3], c[2], c[3]});
  EXPECT_EQ(reals("multi_head_attention", {packed}, heads), c);  // one key: its value
}

TEST(ContribAttention, ProjectsItsInput) {
  const Tensor x = as(DType::f64, {1, 2, 1}, {1, 3}), w = as(DType::f64, {1, 3}, {0, 0, 1}),
               b = as(DType::f64, {3}, {0, 0, 10});
  Attrs attrs = attributes({{"num_heads", int64_t{1}}});
  EXPECT_EQ(reals("contrib_attention", {x, w, b}, attrs), (Reals{12, 12}));
  attrs.set("unidirectional", int64_t{1});
  EXPECT_EQ(reals("contrib_attention", {x, w, b}, attrs), (Reals{11, 12}));
  const auto first = run_op("contrib_attention", {as(DType::f64, {1, 1, 1}, {1}), w, b}, attrs, 2);
  const auto second = run_op("contrib_attention", {as(DType::f64, {1, 1, 1}, {3}), w, b, Tensor(), first[1]}, attrs, 2);
  EXPECT_EQ(second[0].f64_values(), (Reals{12}));
  EXPECT_EQ(second[1].dims(), (Dims{2, 1, 1, 2, 1}));
}

TEST(GroupQueryAttention, DecodingMatchesTheWholePrompt) {
  std::mt19937 random = fresh_random();
  const Tensor q = random_tensor(random, {1, 3, 8}), k = random_tensor(random, {1, 3, 4}),
               v = random_tensor(random, {1, 3, 4});
  const Tensor cos = random_tensor(random, {4, 1}), sin = random_tensor(random, {4, 1});
  const Attrs attrs = attributes({{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"do_rotary", int64_t{1}}});
  const auto i32 = [](int64_t value) { return ints(DType::i32, {1}, {value}); };
  const auto slice = [](const Tensor& x, int64_t first, int64_t last) {
    const Reals v = x.f64_values();
    return as(x.dtype(), {1, last - first, x.dim(2)}, Reals(v.begin() + first * x.dim(2), v.begin() + last * x.dim(2)));
  };
  const Tensor none;
  const auto whole = run_op("group_query_attention", {q, k, v, none, none, i32(2), i32(3), cos, sin}, attrs, 3);
  const auto prompt =
      run_op("group_query_attention",
             {slice(q, 0, 2), slice(k, 0, 2), slice(v, 0, 2), none, none, i32(1), i32(2), cos, sin}, attrs, 3);
  const auto next = run_op(
      "group_query_attention",
      {slice(q, 2, 3), slice(k, 2, 3), slice(v, 2, 3), prompt[1], prompt[2], i32(2), i32(3), cos, sin}, attrs, 3);
  expect_near(next[0].f64_values(), slice(whole[0], 2, 3).f64_values(), 1e-14);
  expect_near(next[1].f64_values(), whole[1].f64_values(), 1e-14);
  expect_near(next[2].f64_values(), whole[2].f64_values(), 1e-14);
  EXPECT_THROW(run_op("group_query_attention", {q, k, v, none, none, i32(3), i32(3), cos, sin}, attrs, 3), Error);
  EXPECT_THROW(run_op("group_query_attention", {q, k, v, none, none, i32(2), i32(INT32_MAX), cos, sin}, attrs, 3),
               Error);
}

TEST(RotaryEmbedding, TurnsPairsOfEitherKind) {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4}), cos = floats({1, 1, 2}, {0, 1}), sin = floats({1, 1, 2}, {1, 0});
  const Attrs one = attributes({{"num_heads", int64_t{1}}});
  EXPECT_EQ(reals("rotary_embedding", {x, cos, sin}, one), (Reals{-3, 2, 1, 4}));
  Attrs pairs = one;
  pairs.set("interleaved", int64_t{1});
  EXPECT_EQ(reals("rotary_embedding", {x, cos, sin}, pairs), (Reals{-2, 1, 3, 4}));
  Attrs part = one;
  part.set("rotary_embedding_dim", int64_t{2});
  const Tensor table = floats({2, 1}, {1, 0}), sines = floats({2, 1}, {0, 1}), at = ints(DType::i64, {1, 1}, {1});
  EXPECT_EQ(reals("rotary_embedding", {x, table, sines, at}, part), (Reals{-2, 1, 3, 4}));
  EXPECT_THROW(run_op("rotary_embedding", {x, table, sines, ints(DType::i64, {1, 1}, {2})}, part), Error);
  EXPECT_EQ(
      reals("contrib_rotary_embedding", {x, i64s({1}), floats({2, 2}, {9, 9, 0, 1}), floats({2, 2}, {9, 9, 1, 0})}),
      (Reals{-3, 2, 1, 4}));
}

TEST(LinearAttention, RulesByHand) {
  const auto one = [](double v) { return as(DType::f32, {1, 1, 1}, {v}); };
  const Tensor state = as(DType::f32, {1, 1, 1, 1}, {10});
  const auto run = [&](const char* rule, Tensor decay, Tensor beta) {
    const Attrs attrs = attributes({{"q_num_heads", int64_t{1}},
                                    {"kv_num_heads", int64_t{1}},
                                    {"scale", 1.0},
                                    {"update_rule", std::string(rule)}});
    return reals("linear_attention", {one(2), one(3), one(5), state, decay, beta}, attrs)[0];
  };
  const double half = std::log(0.5);
  EXPECT_EQ(run("linear", Tensor(), Tensor()), 2 * (10 + 15));
  EXPECT_NEAR(run("gated", one(half), Tensor()), 2 * (5 + 15), 1e-5);
  EXPECT_EQ(run("delta", Tensor(), one(0.5)), 2 * (10 + 3 * 0.5 * (5 - 30)));
  EXPECT_NEAR(run("gated_delta", one(half), one(0.5)), 2 * (5 + 3 * 0.5 * (5 - 15)), 1e-4);
  EXPECT_THROW(run("linear", one(half), Tensor()), Error);
}

}  // namespace
}  // namespace trine
