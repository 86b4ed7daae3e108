// FlexAttention (ai.onnx.preview): attention whose scores and probabilities pass through bodies of the model.
//   s = score_mod(scale * q k^T);  p = prob_mod(softmax(s));  y = p v
// The attribute "bodies" lists which of prob_mod, score_mod the node's bodies are.
#include <algorithm>
#include <cmath>

#include "graph/infer.h"
#include "ops/attention_core.h"
#include "ops/node_error.h"

namespace trine {
namespace {

int body_index(const Node& node, std::string_view name) {
  const std::vector<std::string> names =
      node.attrs.has("bodies") ? node.attrs.strings("bodies") : std::vector<std::string>{};
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

DType score_dtype(const Node& node, DType input) {
  return node.attrs.dtype("softmax_precision", input == DType::f64 ? DType::f64 : DType::f32);
}

void need_operands(const Node& node, const Shape& q, const Shape& k, const Shape& v) {
  require(node, q.rank() == 4 && k.rank() == 4 && v.rank() == 4,
          fmt::format("q is [{}], k [{}], v [{}]; want four dimensions each", q.text(), k.text(), v.text()));
}

void flex_attention_infer(InferContext& c) {
  for (int i : {0, 1, 2}) c.need_rank(i, 4);
  const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  const bool known = q.has_rank() && k.has_rank() && v.has_rank();
  c.set(0, c.dtype(0), known ? Shape{q[0], q[1], q[2], v[3]} : c.fresh_shape(4));
  const Shape scores = known ? Shape{q[0], q[1], q[2], k[2]} : c.fresh_shape(4);
  for (std::string_view name : {"score_mod", "prob_mod"}) {
    const int k_body = body_index(c.node(), name);
    if (k_body < 0) continue;
    std::vector<Type> types = {Type::tensor(score_dtype(c.node(), c.dtype(0)), scores)};
    for (int i = c.input_count() - c.node().captures; i < c.input_count(); ++i) types.push_back(c.input(i));
    c.infer_body(k_body, std::move(types));
  }
}

std::vector<double> modified(EvalContext& c, std::string_view name, const std::vector<double>& scores,
                             const Dims& dims) {
  const int body = body_index(c.node(), name);
  if (body < 0) return scores;
  std::vector<Datum> inputs = {Tensor::from_f64(score_dtype(c.node(), c.tensor(0).dtype()), dims, scores)};
  for (int i = c.input_count() - c.node().captures; i < c.input_count(); ++i) inputs.push_back(c.datum(i));
  const std::vector<Datum> out = c.run_body(body, std::move(inputs));
  require(c.node(), out.size() == 1 && out[0].is_tensor() && out[0].tensor().dims() == dims,
          fmt::format("{} must return one tensor [{}]", name, to_string(dims)));
  return out[0].tensor().f64_values();
}

void flex_attention_reference(EvalContext& c) {
  const Tensor &q = c.tensor(0), &k = c.tensor(1), &v = c.tensor(2);
  need_operands(c.node(), Shape::from(q.dims()), Shape::from(k.dims()), Shape::from(v.dims()));
  AttentionProblem p;
  p.batch = q.dim(0), p.q_heads = q.dim(1), p.q_len = q.dim(2), p.head = q.dim(3);
  p.kv_heads = k.dim(1), p.kv_len = k.dim(2), p.v_head = v.dim(3);
  p.q = q.f64_values(), p.k = k.f64_values(), p.v = v.f64_values();
  p.scale = c.attrs().has("scale") ? c.attrs().real("scale") : 1 / std::sqrt(static_cast<double>(p.head));
  p.check(c.node());
  const Dims dims = {p.batch, p.q_heads, p.q_len, p.kv_len};
  std::vector<double> scores, probabilities;
  attend(p, ScoreStage::raw, &scores);
  const std::vector<double> changed = modified(c, "score_mod", scores, dims);
  softmax_rows(changed, p.kv_len, probabilities);
  const std::vector<double> y = weigh_values(p, modified(c, "prob_mod", probabilities, dims));
  c.set(0, Tensor::from_f64(q.dtype(), {p.batch, p.q_heads, p.q_len, p.v_head}, y));
}

const OpDef op_flex_attention = {
    .name = "flex_attention",
    .onnx = "ai.onnx.preview:FlexAttention",
    .doc = "prob_mod(softmax(score_mod(scale * q k^T))) v",
    .types = "Tf T T ? ...",
    .min_inputs = 3,
    .max_inputs = -1,
    .infer = flex_attention_infer,
    .reference = flex_attention_reference,
};
const RegisterOp register_flex_attention(op_flex_attention);

}  // namespace
}  // namespace trine
