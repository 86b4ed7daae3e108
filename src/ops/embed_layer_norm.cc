// com.microsoft:EmbedLayerNormalization: layer_norm(word[ids] + position[p] + segment[s]) * gamma + beta over the last
// dimension.  Inputs 0 input_ids [B,S], 1 segment_ids, 2 word, 3 position, 4 segment embeddings [n,H], 5 gamma, 6 beta,
// 7 mask [B,S], 8 position_ids [B|1,S].  Outputs y [B,S,H], mask_index [B] = mask sums, the sum before normalising.
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"

namespace trine {
namespace {

void embed_layer_norm_infer(InferContext& c) {
  c.need_rank(0, 2);
  c.need_rank(2, 2);
  const Dim batch = c.shape(0).has_rank() ? c.shape(0)[0] : c.fresh("batch");
  const Dim length = c.shape(0).has_rank() ? c.shape(0)[1] : c.fresh("length");
  const Dim hidden = c.shape(2).has_rank() ? c.shape(2)[1] : c.fresh("hidden");
  c.set(0, c.dtype(2), Shape{batch, length, hidden});
  c.set(1, DType::i32, Shape{batch});
  c.set(2, c.dtype(2), Shape{batch, length, hidden});
}

struct Table {
  int64_t rows, hidden;
  std::vector<double> values;
};

Table table_of(EvalContext& c, int input, int64_t hidden) {
  const Tensor& t = c.tensor(input);
  require(c.node(), t.rank() == 2 && t.dim(1) == hidden,
          fmt::format("input {} is {}; want [n,{}]", input, t.type_text(), hidden));
  return {t.dim(0), hidden, t.f64_values()};
}

void add_row(EvalContext& c, const Table& table, int64_t index, double* sum) {
  const int64_t row = c.checked_index(index, table.rows, "embedding index");
  for (int64_t i = 0; i < table.hidden; ++i) sum[i] += table.values[static_cast<size_t>(row * table.hidden + i)];
}

void normalise(double* x, int64_t n, const std::vector<double>& gamma, const std::vector<double>& beta,
               double epsilon) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < n; ++i) mean += x[i] / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = (x[i] - mean) / std::sqrt(variance + epsilon) * gamma[static_cast<size_t>(i)] + beta[static_cast<size_t>(i)];
}

void set_mask_index(EvalContext& c, int64_t batch, int64_t length) {
  std::vector<int64_t> sums(static_cast<size_t>(batch), 0);
  if (c.has(7)) {
    const std::vector<int64_t> mask = c.tensor(7).i64_values();
    require(c.node(), static_cast<int64_t>(mask.size()) == batch * length,
            fmt::format("mask is {}; want [{},{}]", c.tensor(7).type_text(), batch, length));
    for (size_t i = 0; i < mask.size(); ++i) sums[i / static_cast<size_t>(length)] += mask[i] != 0;
  }
  c.set(1, Tensor::from_i64(DType::i32, {batch}, sums));
}

void embed_layer_norm_reference(EvalContext& c) {
  const Tensor& ids = c.tensor(0);
  require(c.node(), ids.rank() == 2 && c.tensor(2).rank() == 2,
          fmt::format("input_ids are {}, word_embedding {}", ids.type_text(), c.tensor(2).type_text()));
  const int64_t batch = ids.dim(0), length = ids.dim(1), hidden = c.tensor(2).dim(1);
  const Table word = table_of(c, 2, hidden), position = table_of(c, 3, hidden);
  const bool segmented = c.has(1) && c.has(4);
  const Table segment = segmented ? table_of(c, 4, hidden) : Table{};
  const std::vector<double> gamma = c.tensor(5).f64_values(), beta = c.tensor(6).f64_values();
  require(c.node(), static_cast<int64_t>(gamma.size()) == hidden && gamma.size() == beta.size(),
          "gamma and beta must have the embedding's width");
  const auto indices = [&](int i) { return c.has(i) ? c.tensor(i).i64_values() : std::vector<int64_t>{}; };
  const std::vector<int64_t> word_ids = ids.i64_values(), segment_ids = segmented ? indices(1) : std::vector<int64_t>{},
                             positions = indices(8);
  const int64_t tokens = batch * length;
  require(c.node(), !segmented || static_cast<int64_t>(segment_ids.size()) == tokens,
          "segment_ids must have the shape of input_ids");
  require(c.node(),
          positions.empty() || static_cast<int64_t>(positions.size()) == tokens ||
              static_cast<int64_t>(positions.size()) == length,
          "position_ids must have the shape of input_ids or one row of it");
  std::vector<double> sum(value_count(Dims{batch, length, hidden}), 0.0);
  for (int64_t t = 0; t < tokens; ++t) {
    double* row = sum.data() + t * hidden;
    add_row(c, word, word_ids[static_cast<size_t>(t)], row);
    const size_t at = static_cast<size_t>(positions.size() == word_ids.size() ? t : t % length);
    add_row(c, position, positions.empty() ? t % length : positions[at], row);
    if (segmented) add_row(c, segment, segment_ids[static_cast<size_t>(t)], row);
  }
  const DType dtype = c.tensor(2).dtype();
  c.set(2, Tensor::from_f64(dtype, {batch, length, hidden}, sum));
  for (int64_t t = 0; t < tokens; ++t)
    normalise(sum.data() + t * hidden, hidden, gamma, beta, c.attrs().real("epsilon", 1e-12));
  c.set(0, Tensor::from_f64(dtype, {batch, length, hidden}, sum));
  set_mask_index(c, batch, length);
}

const OpDef op_embed_layer_norm = {
    .name = "embed_layer_norm",
    .onnx = "com.microsoft:EmbedLayerNormalization",
    .doc = "layer_norm(word[ids] + position[p] + segment[s])",
    .types = "Ux U Tf T T T T U U",
    .min_inputs = 7,
    .max_inputs = 9,
    .min_outputs = 1,
    .max_outputs = 3,
    .infer = embed_layer_norm_infer,
    .reference = embed_layer_norm_reference,
};
const RegisterOp register_embed_layer_norm(op_embed_layer_norm);

}  // namespace
}  // namespace trine
