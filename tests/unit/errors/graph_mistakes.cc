// Graph text that cannot be read, and operators given what they do not take: while shapes are inferred, or at run time.
#include "graph/eval.h"
#include "graph/infer.h"
#include "provoke.h"

namespace trine::test {
namespace {

std::function<void()> text(const std::string& graph) {
  return [=] { Graph::parse(graph); };
}

// One node: `inputs` as in graph text ("%x: f32[2,3]"), `node` what stands behind "%y =".
std::function<void()> inferred(const std::string& inputs, const std::string& node) {
  return [=] {
    Graph g = Graph::parse("graph(" + inputs + ") {\n  %y = " + node + "\n  return %y\n}");
    infer_shapes(g);
  };
}

// The same by the reference; the first input holds `values`.
std::function<void()> evaluated(const std::string& inputs, const std::string& node,
                                const std::vector<int64_t>& values) {
  return [=] {
    Graph g = Graph::parse("graph(" + inputs + ") {\n  %y = " + node + "\n  return %y\n}");
    infer_shapes(g);
    std::vector<Datum> given = {Tensor::vector_i64(values)};
    for (size_t i = 1; i < g.inputs.size(); ++i) {
      const Type& type = g.type(g.inputs[i]);
      const Dims dims = type.shape.static_dims();
      given.push_back(
          Tensor::from_f64(type.dtype, dims, std::vector<double>(static_cast<size_t>(element_count(dims)), 1)));
    }
    evaluate(g, given);
  };
}

}  // namespace

std::vector<Mistake> graph_mistakes() {
  return {
      {"text.no_graph", text("relu")},
      {"text.unknown_operator", text("graph(%x: f32[2]) {\n  %y = frobnicate %x\n  return %y\n}")},
      {"text.undefined_value", text("graph(%x: f32[2]) {\n  %y = relu %z\n  return %y\n}")},
      {"text.defined_twice", text("graph(%x: f32[2], %x: f32[2]) {\n  return %x\n}")},
      {"text.constant_count", text("graph() {\n  %c: f32[3] = const f32[3]{1,2}\n  return %c\n}")},
      {"text.constant_symbolic", text("graph() {\n  %c: f32[N] = const f32[N]{1,2}\n  return %c\n}")},
      {"text.number", text("graph(%x: f32[2]) {\n  %y = softmax %x {axis=one}\n  return %y\n}")},
      {"text.behind", text("graph(%x: f32[2]) {\n  return %x\n} more")},
      {"text.type", text("graph(%x: f31[2]) {\n  return %x\n}")},
      {"text.size", text("graph(%x: f32[2**3]) {\n  return %x\n}")},
      {"text.arity", text("graph(%x: f32[2]) {\n  %y = add %x\n  return %y\n}")},
      {"op.axis", inferred("%x: f32[3,5]", "softmax %x {axis=2}")},
      {"op.broadcast", inferred("%x: f32[3,5], %z: f32[4]", "add %x %z")},
      {"op.matmul", inferred("%x: f32[3,5], %z: f32[4,2]", "matmul %x %z")},
      {"op.gemm_rank", inferred("%x: f32[2,3,5], %z: f32[5,2]", "gemm %x %z")},
      {"op.conv_rank", inferred("%x: f32[1,3,8,8], %w: f32[4,3,3]", "conv %x %w")},
      {"op.conv_channels", inferred("%x: f32[1,3,8,8], %w: f32[4,2,3,3]", "conv %x %w")},
      {"op.conv_too_small", inferred("%x: f32[1,3,2,2], %w: f32[4,3,3,3]", "conv %x %w")},
      {"op.pool_too_small", inferred("%x: f32[1,3,2,2]", "average_pool %x {kernel_shape=[3,2]}")},
      {"op.slice_types", inferred("%x: f32[5], %s: i64[1], %a: i32[1]", "slice %x %s %s %a")},
      {"op.conv_stride", inferred("%x: f32[1,3,8,8], %w: f32[4,3,3,3]", "conv %x %w {strides=[0,1]}")},
      {"op.auto_pad", inferred("%x: f32[1,3,8,8], %w: f32[4,3,3,3]", "conv %x %w {auto_pad=\"SAME\"}")},
      {"op.concat_sizes", inferred("%x: f32[2,3], %z: f32[4,5]", "concat %x %z {axis=0}")},
      {"op.concat_axis", inferred("%x: f32[2,3]", "concat %x %x")},
      {"op.transpose_perm", inferred("%x: f32[3,5]", "transpose %x {perm=[0,0]}")},
      {"op.cast_to", inferred("%x: f32[3]", "cast %x")},
      {"op.cast_unknown", inferred("%x: f32[3]", "cast %x {to=\"f31\"}")},
      {"op.pool_kernel", inferred("%x: f32[1,2,5,5]", "max_pool %x")},
      {"op.group_norm", inferred("%x: f32[2,6,5], %s: f32[6]", "group_normalization %x %s %s {num_groups=4}")},
      {"op.einsum", inferred("%x: f32[3,4]", "einsum %x {equation=\"ij->k\"}")},
      {"op.types", inferred("%x: f32[3]", "bitwise_not %x")},
      {"op.all_wrong_nodes",
       [] {
         Graph g = Graph::parse(
             "graph(%x: f32[3]) {\n  %a = softmax %x {axis=4}\n  %b = transpose %x {perm=[5]}\n  return %a, %b\n}");
         infer_shapes(g);
       }},
      {"data.gather_index", evaluated("%i: i64[2], %x: f32[3,2]", "gather %x %i", {0, 3})},
      {"data.reshape", evaluated("%s: i64[2], %x: f32[12]", "reshape %x %s", {5, 3})},
      {"data.squeeze", evaluated("%a: i64[1], %x: f32[2]", "squeeze %x %a", {0})},
      {"data.slice_step", evaluated("%s: i64[1], %x: f32[5,5], %z: i64[1]", "slice %x %z %z %z %s", {0})},
      {"data.slice_axis", evaluated("%a: i64[1], %x: f32[5], %z: i64[1]", "slice %x %z %z %a", {3})},
      {"data.top_k", evaluated("%k: i64[1], %x: f32[3]", "top_k %x %k", {4})},
      {"data.expand", evaluated("%s: i64[1], %x: f32[3]", "expand %x %s", {4})},
      {"data.pads", evaluated("%p: i64[3], %x: f32[3]", "pad %x %p", {1, 1, 1})},
      {"data.huge", evaluated("%s: i64[2]", "constant_of_shape %s", {int64_t{1} << 40, int64_t{1} << 40})},
      {"data.negative_size", evaluated("%s: i64[2]", "constant_of_shape %s", {2, -1})},
      {"data.one_hot_depth", evaluated("%d: i64[1], %i: i64[3], %v: f32[2]", "one_hot %i %d %v", {-3})},
  };
}

}  // namespace trine::test
