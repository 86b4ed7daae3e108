// Folds and data movement: every row runs in the interpreter against the reference, and as machine code against the
// interpreter.
#include "compiled.h"

namespace trine {
namespace {

using namespace test;

struct Row {
  std::string inputs;  // "f32[3,5], f32[5]": x, y, z, w
  std::string nodes;   // separated by ';', the last value made is %r
  double tolerance = 1e-5;
};

void run(const Row& row) {
  SCOPED_TRACE(row.inputs + " | " + row.nodes);
  std::mt19937 rng(seed());
  std::string text = "graph(";
  std::vector<Tensor> inputs;
  std::string rest = row.inputs;
  for (const char* name = "xyzw"; !rest.empty(); ++name) {
    const size_t end = rest.find("], ");
    const std::string type = rest.substr(0, end == std::string::npos ? end : end + 1);
    rest = end == std::string::npos ? "" : rest.substr(end + 3);
    if (!inputs.empty()) text += ", ";
    text += std::string("%") + *name + ": " + type;
    const Type parsed = Type::parse(type);
    inputs.push_back(random_tensor(parsed.dtype, parsed.shape.static_dims(), rng));
  }
  text += ") {\n";
  for (char c : row.nodes + ";") c == ';' ? text += "\n" : text += c;
  text += "return %r\n}\n";
  expect_matches(text, inputs, row.tolerance);
  static int rows = 0;  // compiling takes most of the time: other levels than the machine's own take turns
  if (!::testing::Test::HasFailure()) expect_compiled_equals_interpreted(text, inputs, rows++ % 8 == 0);
}

TEST(Folds, SoftmaxOverEveryAxisAndSize) {
  for (const char* dims : {"1,1", "3,1", "1,7", "5,31", "4,32", "7,33", "3,128", "2,515", "2,1030", "0,5", "6,2"}) {
    for (const char* axis : {"0", "1"}) {
      run({std::string("f32[") + dims + "]", std::string("%r = softmax %x {axis=") + axis + "}"});
      run({std::string("f32[") + dims + "]", std::string("%r = log_softmax %x {axis=") + axis + "}"});
    }
  }
  for (const char* axis : {"0", "1", "2", "3"})
    run({"f32[2,5,3,11]", std::string("%r = softmax %x {axis=") + axis + "}"});
}

TEST(Folds, ReductionsOverEveryAxis) {
  for (const char* op :
       {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l2", "reduce_log_sum_exp"}) {
    for (const char* axes :
         {"i64[1]{0}", "i64[1]{1}", "i64[1]{2}", "i64[2]{0,1}", "i64[2]{0,2}", "i64[2]{1,2}", "i64[3]{0,1,2}"}) {
      for (const char* keep : {"0", "1"}) {
        run({"f32[4,7,37]", std::string("%a = const ") + axes + ";%r = " + op + " %x %a {keepdims=" + keep + "}"});
      }
    }
  }
  for (const char* type : {"f64", "i32", "i64"}) {
    run({std::string(type) + "[5,67]", "%a = const i64[1]{1};%r = reduce_sum %x %a {keepdims=0}", 1e-12});
    run({std::string(type) + "[5,67]", "%a = const i64[1]{0};%r = reduce_max %x %a {keepdims=0}", 0});
  }
}

TEST(Folds, Normalisations) {
  run({"f32[6,96], f32[96], f32[96]", "%r = layer_normalization %x %y %z {axis=-1}"});
  run({"f32[2,5,7], f32[5,7], f32[5,7]", "%r = layer_normalization %x %y %z {axis=1}"});
  run({"f32[2,6,5,7], f32[6], f32[6]", "%r = instance_normalization %x %y %z"});
  run({"f32[2,6,5,7], f32[6], f32[6]", "%r = group_normalization %x %y %z {num_groups=3}"});
  run({"f32[3,70]", "%r = lp_normalization %x {axis=1, p=2}"});
}

TEST(Folds, FusedWithTheirNeighbours) {
  run({"f32[6,200], f32[6,200]", "%a = add %x %y;%b = gelu %a;%r = softmax %b {axis=-1}"});
  run({"f32[6,200], f32[200]", "%a = mul %x %y;%b = softmax %a {axis=-1};%r = add %b %x"});
  run({"f32[6,200], f32[6,200], f32[200], f32[200]", "%a = add %x %y;%r = layer_normalization %a %z %w {axis=-1}"});
  run({"f32[6,64]", "%a = softmax %x {axis=-1};%r = softmax %a {axis=-1}"});
  run({"f32[6,9,33]", "%a = const i64[1]{2};%b = reduce_mean %x %a {keepdims=1};%c = sigmoid %b;%r = mul %x %c"});
  run({"f32[9,9]",
       "%a = const i64[1]{1};%b = reduce_sum %x %a {keepdims=1};%c = sub %x %b;%d = const i64[1]{0};"
       "%r = reduce_max %c %d {keepdims=0}"});
}

TEST(Movement, TransposesAndViews) {
  run({"f32[5,7]", "%r = transpose %x {perm=[1,0]}", 0});
  run({"f32[2,3,4,5]", "%r = transpose %x {perm=[0,2,3,1]}", 0});
  run({"f32[2,3,4,5]", "%r = transpose %x {perm=[3,1,0,2]}", 0});
  run({"f32[6,35], f32[2,3,35]", "%s = const i64[3]{2,3,35};%a = reshape %x %s;%r = add %a %y"});
  run({"f32[6,35], f32[10,21]", "%s = const i64[2]{10,21};%a = reshape %x %s;%r = add %a %y"});
  run({"f32[4,6]", "%s = const i64[3]{4,2,3};%a = reshape %x %s;%r = transpose %a {perm=[1,0,2]}", 0});
  run({"f32[1,5]", "%s = const i64[2]{6,5};%r = expand %x %s", 0});
}

TEST(Movement, PadsSlicesConcats) {
  run({"f32[3,7]", "%p = const i64[4]{1,2,0,3};%r = pad %x %p", 0});
  run({"f32[3,70], f32[3,33]", "%r = concat %x %y {axis=1}", 0});
  run({"f32[3,70], f32[5,70]", "%a = concat %x %y {axis=0};%r = relu %a", 0});
  run({"f32[3,70]",
       "%s = const i64[1]{5};%e = const i64[1]{60};%a = const i64[1]{1};%t = const i64[1]{3};"
       "%r = slice %x %s %e %a %t",
       0});
  run({"f32[9,70]", "%i = const i64[4]{8,0,-1,3};%r = gather %x %i {axis=0}", 0});
  run({"f32[9,70]", "%i = const i64[4]{8,0,-1,3};%r = gather %x %i {axis=1}", 0});
  run({"f32[1,8,3,5]", "%r = depth_to_space %x {blocksize=2}", 0});
  run({"i8[1,2,6,6]", "%r = space_to_depth %x {blocksize=2}", 0});
  run({"f32[3,70]", "%p = const i64[4]{0,2,0,2};%a = relu %x;%b = pad %a %p;%r = softmax %b {axis=-1}"});
}

TEST(Movement, QuantisedTypes) {
  run({"f32[4,65]",
       "%s = const f32[]{0.5};%z = const u8[]{3};%a = quantize_linear %x %s %z;"
       "%r = dequantize_linear %a %s %z",
       1e-6});
  run({"f32[4,65]", "%r = arg_max %x {axis=1, keepdims=0}", 0});
}

}  // namespace
}  // namespace trine
