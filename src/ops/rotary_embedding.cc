// RotaryEmbedding, ONNX 23 and com.microsoft's: rotary.h applied to every head of x.
//   x [B,H,S,D] or [B,S,H*D];  caches [positions, half] with position_ids, or (ONNX) [B,S,half] without
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"
#include "ops/rotary.h"

namespace trine {
namespace {

struct Rotary {
  int64_t batch, heads, length, head, half;
  bool packed;  // [B,S,H*D]

  double* row(std::vector<double>& x, int64_t b, int64_t s, int64_t h) const {
    return x.data() + (packed ? (b * length + s) * heads + h : (b * heads + h) * length + s) * head;
  }
};

// `cache_half` is the caches' last dimension; com.microsoft takes the head size from it when num_heads is absent.
Rotary rotary_of(const Node& node, const Dims& x, int64_t cache_half, bool contrib) {
  require(node, x.size() == 3 || x.size() == 4,
          fmt::format("x has shape [{}]; want [batch,heads,length,size] or [batch,length,heads*size]", to_string(x)));
  Rotary r{};
  r.packed = x.size() == 3;
  r.batch = x[0];
  const int64_t rotated = node.attrs.integer("rotary_embedding_dim");
  int64_t heads = node.attrs.integer("num_heads");
  if (r.packed) {
    if (heads == 0 && contrib && cache_half > 0) heads = x[2] / (2 * cache_half);
    require(node, heads >= 1 && x[2] % heads == 0,
            fmt::format("x has shape [{}] and num_heads is {}; want a divisor", to_string(x), heads));
  }
  r.heads = r.packed ? heads : x[1];
  r.length = r.packed ? x[1] : x[2];
  r.head = r.packed ? x[2] / heads : x[3];
  const int64_t size = rotated > 0 ? rotated : r.head;
  require(node, size <= r.head && size % 2 == 0,
          fmt::format("{} of {} elements would turn; want an even number", size, r.head));
  r.half = size / 2;
  require(node, cache_half == r.half, fmt::format("the caches hold {} angles; want {}", cache_half, r.half));
  return r;
}

int64_t last_dim(const Tensor& t) { return t.rank() > 0 ? t.dims().back() : 0; }

// Cache row of every (batch, position).
std::vector<int64_t> cache_rows(EvalContext& c, const Rotary& r, int positions, int cache) {
  std::vector<int64_t> rows(value_count(Dims{r.batch, r.length}));
  const Tensor& table = c.tensor(cache);
  if (!c.has(positions)) {
    require(c.node(), table.dims() == Dims({r.batch, r.length, r.half}),
            fmt::format("without position_ids a cache must be [{},{},{}]; it is {}", r.batch, r.length, r.half,
                        table.type_text()));
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
    return rows;
  }
  const Tensor& ids = c.tensor(positions);
  const std::vector<int64_t> id = ids.i64_values();
  require(c.node(), table.rank() == 2, fmt::format("a cache is {}; want two dimensions", table.type_text()));
  const bool offset = ids.elements() == 1 && rows.size() != 1;  // com.microsoft: one start position for all
  require(c.node(), offset || id.size() == rows.size(),
          fmt::format("position_ids is {}; want [{},{}]", ids.type_text(), r.batch, r.length));
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t at =
        offset ? c.checked_index(id[0], table.dim(0), "position") + static_cast<int64_t>(i) % r.length : id[i];
    rows[i] = c.checked_index(at, table.dim(0), "position");
  }
  return rows;
}

void rotate_all(EvalContext& c, int positions, int cos_cache, int sin_cache, bool contrib) {
  const Tensor &x = c.tensor(0), &cos = c.tensor(cos_cache), &sin = c.tensor(sin_cache);
  require(c.node(), cos.dims() == sin.dims(),
          fmt::format("cos_cache is {}, sin_cache is {}; want one shape", cos.type_text(), sin.type_text()));
  const Rotary r = rotary_of(c.node(), x.dims(), last_dim(cos), contrib);
  const std::vector<int64_t> rows = cache_rows(c, r, positions, cos_cache);
  const std::vector<double> cv = cos.f64_values(), sv = sin.f64_values();
  const bool interleaved = c.attrs().integer("interleaved") != 0;
  std::vector<double> y = x.f64_values();
  for (int64_t b = 0; b < r.batch; ++b)
    for (int64_t s = 0; s < r.length; ++s) {
      const int64_t at = rows[static_cast<size_t>(b * r.length + s)] * r.half;
      for (int64_t h = 0; h < r.heads; ++h)
        rotate(r.row(y, b, s, h), cv.data() + at, sv.data() + at, r.half, interleaved);
    }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

void rotary_embedding_reference(EvalContext& c) { rotate_all(c, 3, 1, 2, false); }

const OpDef op_rotary_embedding = {
    .name = "rotary_embedding",
    .onnx = "RotaryEmbedding",
    .doc = "pairs of each head's elements turned by the angle of their position",
    .types = "Tf T T x",
    .min_inputs = 3,
    .max_inputs = 4,
    .infer = infer_same_as_first,
    .reference = rotary_embedding_reference,
};
const RegisterOp register_rotary_embedding(op_rotary_embedding);

// Inputs: x, position_ids ([1]: start for all, or [B,S]), cos_cache, sin_cache
void contrib_rotary_embedding_reference(EvalContext& c) { rotate_all(c, 1, 2, 3, true); }

const OpDef op_contrib_rotary_embedding = {
    .name = "contrib_rotary_embedding",
    .onnx = "com.microsoft:RotaryEmbedding",
    .doc = "rotary_embedding with position_ids second, which may be one start position",
    .types = "Tf x T T",
    .min_inputs = 4,
    .max_inputs = 4,
    .infer = infer_same_as_first,
    .reference = contrib_rotary_embedding_reference,
};
const RegisterOp register_contrib_rotary_embedding(op_contrib_rotary_embedding);

}  // namespace
}  // namespace trine
