// The history of ONNX operators as a table. An operator without a row has meant the same since opset 7: later versions
// only took more types, or gained attributes and inputs whose absence means what was meant before.
#include "import/onnx/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "import/onnx/rewrites.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

void integers_to_input(ImportNode& node, GraphWriter& writer, const char* attribute, size_t input) {
  if (!node.attrs.has(attribute)) return;
  node.set_input(input, writer.add_constant(Tensor::vector_i64(node.attrs.integers(attribute))));
  node.attrs.erase(attribute);
}

void axes_to_input(ImportNode& node, GraphWriter& writer) { integers_to_input(node, writer, "axes", 1); }

void scalar_to_input(ImportNode& node, GraphWriter& writer, const char* attribute, size_t input) {
  if (!node.attrs.has(attribute)) return;
  node.set_input(input, scalar_like(writer, node.input(0), node.attrs.real(attribute)));
  node.attrs.erase(attribute);
}

void clip_bounds_to_inputs(ImportNode& node, GraphWriter& writer) {
  scalar_to_input(node, writer, "min", 1);
  scalar_to_input(node, writer, "max", 2);
}

void pads_to_inputs(ImportNode& node, GraphWriter& writer) {
  integers_to_input(node, writer, "pads", 1);
  scalar_to_input(node, writer, "value", 2);
}

void slice_to_inputs(ImportNode& node, GraphWriter& writer) {
  integers_to_input(node, writer, "starts", 1);
  integers_to_input(node, writer, "ends", 2);
  integers_to_input(node, writer, "axes", 3);
}

void split_to_input(ImportNode& node, GraphWriter& writer) { integers_to_input(node, writer, "split", 1); }

// Before 18 the number of outputs alone told into how many parts to split.
void split_counts_outputs(ImportNode& node, GraphWriter&) {
  if (node.input(1) == kNoValue) node.attrs.set("num_outputs", static_cast<int64_t>(node.wanted.size()));
}

void top_k_to_input(ImportNode& node, GraphWriter& writer) {
  if (!node.attrs.has("k")) throw Error(ErrorCode::invalid_model, "has no attribute k");
  node.set_input(1, writer.add_constant(Tensor::vector_i64({node.attrs.integer("k")})));
  node.attrs.erase("k");
}

// Inference alone: the ratio means nothing.
void dropout_without_ratio(ImportNode& node, GraphWriter&) { node.attrs.erase("ratio"); }

void dft_axis_to_input(ImportNode& node, GraphWriter& writer) {
  node.set_input(2, writer.add_constant(Tensor::scalar_i64(node.attrs.integer("axis", 1))));
  node.attrs.erase("axis");
}

// The N-D names that version 20 gave the modes.
void grid_sample_modes(ImportNode& node, GraphWriter&) {
  const std::string mode = node.attrs.string("mode", "bilinear");
  node.attrs.set("mode", std::string(mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode));
}

void roi_align_unshifted(ImportNode& node, GraphWriter&) {
  node.attrs.set("coordinate_transformation_mode", std::string("output_half_pixel"));
}

void scatter_to_elements(ImportNode& node, GraphWriter&) { node.op = "ScatterElements"; }

void too_old(ImportNode&, GraphWriter&) {
  throw Error(ErrorCode::unsupported, "meant something else before opset 7; convert the model to a newer opset");
}

constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();

struct Row {
  std::string_view op;
  int64_t below;  // applies to versions of the operator set below this one
  void (*rewrite)(ImportNode&, GraphWriter&);
};

constexpr Row kRows[] = {
    // of one operator: oldest first
    {"Add", 7, too_old},
    {"And", 7, too_old},
    {"AveragePool", 7, too_old},
    {"BatchNormalization", 7, too_old},
    {"BatchNormalization", 9, batch_norm_per_element},
    {"BatchNormalization", 14, batch_norm_by_outputs},
    {"Cast", 6, too_old},
    {"Clip", 11, clip_bounds_to_inputs},
    {"Concat", 4, too_old},
    {"DFT", 20, dft_axis_to_input},
    {"Div", 7, too_old},
    {"Dropout", 7, too_old},
    {"Dropout", 12, dropout_without_ratio},
    {"Equal", 7, too_old},
    {"GRU", 7, too_old},
    {"Gemm", 7, too_old},
    {"Greater", 7, too_old},
    {"GridSample", 20, grid_sample_modes},
    {"GroupNormalization", 21, group_norm_per_group},
    {"Hardmax", 13, softmax_over_flattened},
    {"LSTM", 7, too_old},
    {"Less", 7, too_old},
    {"LogSoftmax", 13, softmax_over_flattened},
    {"Mul", 7, too_old},
    {"Or", 7, too_old},
    {"PRelu", 7, too_old},
    {"Pad", 2, too_old},
    {"Pad", 11, pads_to_inputs},
    {"Pow", 7, too_old},
    {"RNN", 7, too_old},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"Reshape", 5, too_old},
    {"Resize", 11, resize_asymmetric},
    {"Resize", kAlways, resize_without_empty_inputs},
    {"RoiAlign", 16, roi_align_unshifted},
    {"Scan", 9, scan_over_batch},
    {"Scatter", kAlways, scatter_to_elements},
    {"Slice", 10, slice_to_inputs},
    {"Softmax", 13, softmax_over_flattened},
    {"Split", 13, split_to_input},
    {"Split", 18, split_counts_outputs},
    {"Squeeze", 13, axes_to_input},
    {"Sub", 7, too_old},
    {"Tile", 6, too_old},
    {"TopK", 10, top_k_to_input},
    {"Unsqueeze", 13, axes_to_input},
    {"Upsample", 7, too_old},
    {"Upsample", kAlways, upsample_to_resize},
    {"Xor", 7, too_old},
    {"ai.onnx.ml:LabelEncoder", 2, label_encoder_by_classes},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "modernise searches by name");

}  // namespace

void ImportNode::set_input(size_t i, ValueId id) {
  if (inputs.size() <= i) inputs.resize(i + 1, kNoValue);
  inputs[i] = id;
}

void modernise(ImportNode& node, int64_t version, GraphWriter& writer) {
  const std::string op = node.op;  // a rewrite may change it
  const auto* row = std::lower_bound(std::begin(kRows), std::end(kRows), std::string_view(op),
                                     [](const Row& r, std::string_view name) { return r.op < name; });
  for (; row != std::end(kRows) && row->op == op; ++row)
    if (version < row->below && node.op == op) row->rewrite(node, writer);
}

}  // namespace trine::onnx
