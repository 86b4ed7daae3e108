#include "rows.h"

namespace trine::test {

RowGraph graph_of(const Row& row) {
  std::mt19937 rng(seed());
  RowGraph graph{"graph(", {}};
  std::string rest = row.inputs;
  for (const char* name = "xyzw"; !rest.empty(); ++name) {
    const size_t end = rest.find("], ");
    const std::string type = rest.substr(0, end == std::string::npos ? end : end + 1);
    rest = end == std::string::npos ? "" : rest.substr(end + 3);
    if (!graph.inputs.empty()) graph.text += ", ";
    graph.text += std::string("%") + *name + ": " + type;
    const Type parsed = Type::parse(type);
    graph.inputs.push_back(random_tensor(parsed.dtype, parsed.shape.static_dims(), rng));
  }
  graph.text += ") {\n";
  for (char c : row.nodes + ";") c == ';' ? graph.text += "\n" : graph.text += c;
  graph.text += "return %r\n}\n";
  return graph;
}

std::vector<Row> fused_fold_rows() {
  return {
      {"f32[6,200], f32[6,200]", "%a = add %x %y;%b = gelu %a;%r = softmax %b {axis=-1}"},
      {"f32[6,200], f32[200]", "%a = mul %x %y;%b = softmax %a {axis=-1};%r = add %b %x"},
      {"f32[6,200], f32[6,200], f32[200], f32[200]", "%a = add %x %y;%r = layer_normalization %a %z %w {axis=-1}"},
      {"f32[6,64]", "%a = softmax %x {axis=-1};%r = softmax %a {axis=-1}"},
      {"f32[6,9,33]", "%a = const i64[1]{2};%b = reduce_mean %x %a {keepdims=1};%c = sigmoid %b;%r = mul %x %c"},
      {"f32[9,9]",
       "%a = const i64[1]{1};%b = reduce_sum %x %a {keepdims=1};%c = sub %x %b;%d = const i64[1]{0};"
       "%r = reduce_max %c %d {keepdims=0}"},
  };
}

std::vector<Row> normalisation_rows() {
  return {
      {"f32[6,96], f32[96], f32[96]", "%r = layer_normalization %x %y %z {axis=-1}"},
      {"f32[2,5,7], f32[5,7], f32[5,7]", "%r = layer_normalization %x %y %z {axis=1}"},
      {"f32[2,6,5,7], f32[6], f32[6]", "%r = instance_normalization %x %y %z"},
      {"f32[2,6,5,7], f32[6], f32[6]", "%r = group_normalization %x %y %z {num_groups=3}"},
      {"f32[3,70]", "%r = lp_normalization %x {axis=1, p=2}"},
  };
}

std::vector<Row> view_rows() {
  return {
      {"f32[5,7]", "%r = transpose %x {perm=[1,0]}", 0},
      {"f32[2,3,4,5]", "%r = transpose %x {perm=[0,2,3,1]}", 0},
      {"f32[2,3,4,5]", "%r = transpose %x {perm=[3,1,0,2]}", 0},
      {"f32[6,35], f32[2,3,35]", "%s = const i64[3]{2,3,35};%a = reshape %x %s;%r = add %a %y"},
      {"f32[6,35], f32[10,21]", "%s = const i64[2]{10,21};%a = reshape %x %s;%r = add %a %y"},
      {"f32[4,6]", "%s = const i64[3]{4,2,3};%a = reshape %x %s;%r = transpose %a {perm=[1,0,2]}", 0},
      {"f32[1,5]", "%s = const i64[2]{6,5};%r = expand %x %s", 0},
  };
}

std::vector<Row> pad_slice_concat_rows() {
  return {
      {"f32[3,7]", "%p = const i64[4]{1,2,0,3};%r = pad %x %p", 0},
      {"f32[3,70], f32[3,33]", "%r = concat %x %y {axis=1}", 0},
      {"f32[3,70], f32[5,70]", "%a = concat %x %y {axis=0};%r = relu %a", 0},
      {"f32[3,70]",
       "%s = const i64[1]{5};%e = const i64[1]{60};%a = const i64[1]{1};%t = const i64[1]{3};"
       "%r = slice %x %s %e %a %t",
       0},
      {"f32[9,70]", "%i = const i64[4]{8,0,-1,3};%r = gather %x %i {axis=0}", 0},
      {"f32[9,70]", "%i = const i64[4]{8,0,-1,3};%r = gather %x %i {axis=1}", 0},
      {"f32[1,8,3,5]", "%r = depth_to_space %x {blocksize=2}", 0},
      {"i8[1,2,6,6]", "%r = space_to_depth %x {blocksize=2}", 0},
      {"f32[3,70]", "%p = const i64[4]{0,2,0,2};%a = relu %x;%b = pad %a %p;%r = softmax %b {axis=-1}"},
  };
}

}  // namespace trine::test
