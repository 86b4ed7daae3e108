// The same network at many sizes: reports C11 and B19.
#include <gtest/gtest.h>

#include <random>

#include "engines.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "op_case.h"

namespace trine::test {
namespace {

Tensor drawn(DType type, const Dims& dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (double& v : values) v = is_float(type) ? normal(random) : static_cast<double>(random() % 256);
  return Tensor::from_f64(type, dims, values);
}

Graph typed(const std::string& text) {
  Graph graph = Graph::parse(text);
  infer_shapes(graph);
  return graph;
}

std::string conv_net(const std::string& batch) {
  return "graph(%x: f32[" + batch + R"(,3,17,13]) {
    %w1 = const f32[8,3,3,3] random(1)
    %w2 = const f32[8,1,3,3] random(2)
    %w3 = const f32[16,8,1,1] random(3)
    %fc = const f32[16,5] random(4)
    %a = conv %x %w1 {pads=[1,1,1,1], strides=[2,2]}
    %b = relu %a
    %c = conv %b %w2 {group=8, pads=[1,1,1,1]}
    %d = add %b %c
    %e = conv %d %w3
    %f = max_pool %e {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}
    %g = global_average_pool %f
    %h = flatten %g
    %i = matmul %h %fc
    %y = softmax %i
    return %y
  })";
}

// Report C11: a network of open batch is the network of each fixed batch.
TEST(Sizes, OpenBatchIsEveryFixedBatch) {
  for (bool code : {false, true}) {
    if (code && !has_machine_code()) continue;
    Session open(engine_of(typed(conv_net("N")), code), {.threads = 2});
    for (int64_t n : {1, 2, 7, 1, 33}) {
      const Tensor x = drawn(DType::f32, {n, 3, 17, 13}, static_cast<uint32_t>(n));
      const Graph fixed = typed(conv_net(std::to_string(n)));
      const Tensor want = Session(engine_of(fixed, code), {.threads = 2}).run({Datum(x)})[0].tensor();
      const Tensor got = open.run({Datum(x)})[0].tensor();
      EXPECT_EQ(difference(got, want, 80), "") << "batch " << n << ", code " << code;  // 80 eps = 1e-5
      EXPECT_EQ(difference(got, evaluate(fixed, {x})[0].tensor(), 80), "") << "batch " << n << ", code " << code;
    }
  }
}

// Report B19: bytes to floats with a zero point and in another layout, and products of quantised weights with a zero
// point for each group of rows, at every tail length.
TEST(Sizes, EveryTailOfAQuantisedTensor) {
  const std::string text = R"(graph(%x: u8[A,B,C]) {
    %s = const f32[]{0.5}
    %z = const u8[]{1}
    %d = dequantize_linear %x %s %z
    %y = transpose %d {perm=[2,0,1]}
    return %y
  })";
  const Graph graph = typed(text);
  for (bool code : {false, true}) {
    if (code && !has_machine_code()) continue;
    Session session(engine_of(graph, code), {.threads = 2});
    for (int64_t n = 1; n <= 65; ++n)
      for (const Dims& dims : {Dims{n, 3, 2}, Dims{3, n, 2}, Dims{2, 3, n}}) {
        const Tensor x = drawn(DType::u8, dims, static_cast<uint32_t>(n));
        EXPECT_EQ(difference(session.run({Datum(x)})[0].tensor(), evaluate(graph, {x})[0].tensor(), 0), "")
            << to_string(dims) << ", code " << code;
      }
  }
}

TEST(Sizes, EveryTailOfAProductOfQuantisedWeights) {
  for (int64_t n = 1; n <= 65; n += n < 20 ? 1 : 5) {
    const auto columns = std::to_string(n);
    const Graph graph = typed("graph(%x: u8[N,64], %w: i8[64," + columns + "], %ws: f32[2," + columns +
                              "], %wz: i8[2," + columns + R"(]) {
      %s = const f32[]{0.5}
      %z = const u8[]{1}
      %a = dequantize_linear %x %s %z
      %b = dequantize_linear %w %ws %wz {axis=0, block_size=32}
      %y = matmul %a %b
      return %y
    })");
    const std::vector<Datum> in = {drawn(DType::u8, {3, 64}, 1), drawn(DType::i8, {64, n}, 2),
                                   drawn(DType::f32, {2, n}, 3), drawn(DType::i8, {2, n}, 4)};
    for (bool code : {false, true}) {
      if (code && !has_machine_code()) continue;
      const Tensor got = Session(engine_of(graph, code), {.threads = 1}).run(in)[0].tensor();
      EXPECT_EQ(difference(got, evaluate(graph, in)[0].tensor(), 64), "") << n << " columns, code " << code;
    }
  }
}

}  // namespace
}  // namespace trine::test
