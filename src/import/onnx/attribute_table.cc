// Made from the operator schemas of the onnx package and, for com.microsoft, of onnxruntime. Letters: i integer, f
// real, s string, t tensor, g graph, y type; I, F, S lists of them. `!`: must be there; `<v`: in versions before v
// only.
#include "import/onnx/attribute_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "graph/op_def.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

struct Row {
  std::string_view op, attributes;
};

constexpr Row kRows[] = {
    // operators that have attributes
    {"AffineGrid", "align_corners:i"},
    {"ArgMax", "axis:i keepdims:i select_last_index:i"},
    {"ArgMin", "axis:i keepdims:i select_last_index:i"},
    {"Attention",
     "is_causal:i kv_num_heads:i left_window_size:i q_num_heads:i qk_matmul_output_mode:i right_window_size:i "
     "scale:f softcap:f softmax_precision:i"},
    {"AveragePool", "auto_pad:s ceil_mode:i count_include_pad:i dilations:I kernel_shape:I! pads:I strides:I"},
    {"BatchNormalization", "epsilon:f momentum:f spatial:i<9 training_mode:i"},
    {"Bernoulli", "dtype:i seed:f"},
    {"BitCast", "to:i!"},
    {"BitShift", "direction:s!"},
    {"BlackmanWindow", "output_datatype:i periodic:i"},
    {"Cast", "round_mode:s saturate:i to:i!"},
    {"CastLike", "round_mode:s saturate:i"},
    {"CausalConvWithState", "activation:s"},
    {"Celu", "alpha:f"},
    {"CenterCropPad", "axes:I"},
    {"Clip", "max:f<11 min:f<11"},
    {"Col2Im", "dilations:I pads:I strides:I"},
    {"Compress", "axis:i"},
    {"Concat", "axis:i!"},
    {"ConcatFromSequence", "axis:i! new_axis:i"},
    {"Constant",
     "sparse_value:t value:t value_float:f value_floats:F value_int:i value_ints:I value_string:s value_strings:S"},
    {"ConstantOfShape", "value:t"},
    {"Conv", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"ConvInteger", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"ConvTranspose", "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I strides:I"},
    {"CumProd", "exclusive:i reverse:i"},
    {"CumSum", "exclusive:i reverse:i"},
    {"DFT", "axis:i<20 inverse:i onesided:i"},
    {"DeformConv", "dilations:I group:i kernel_shape:I offset_group:i pads:I strides:I"},
    {"DepthToSpace", "blocksize:i! mode:s"},
    {"DequantizeLinear", "axis:i block_size:i output_dtype:i"},
    {"Dropout", "ratio:f<12 seed:i"},
    {"Einsum", "equation:s!"},
    {"Elu", "alpha:f"},
    {"EyeLike", "dtype:i k:i"},
    {"Flatten", "axis:i"},
    {"GRU",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i "
     "linear_before_reset:i"},
    {"Gather", "axis:i"},
    {"GatherElements", "axis:i"},
    {"GatherND", "batch_dims:i"},
    {"Gelu", "approximate:s"},
    {"Gemm", "alpha:f beta:f transA:i transB:i"},
    {"GlobalLpPool", "p:i"},
    {"GridSample", "align_corners:i mode:s padding_mode:s"},
    {"GroupNormalization", "epsilon:f num_groups:i! stash_type:i"},
    {"HammingWindow", "output_datatype:i periodic:i"},
    {"HannWindow", "output_datatype:i periodic:i"},
    {"HardSigmoid", "alpha:f beta:f"},
    {"Hardmax", "axis:i"},
    {"If", "else_branch:g! then_branch:g!"},
    {"ImageDecoder", "pixel_format:s"},
    {"InstanceNormalization", "epsilon:f"},
    {"IsInf", "detect_negative:i detect_positive:i"},
    {"LRN", "alpha:f beta:f bias:f size:i!"},
    {"LSTM",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i input_forget:i layout:i"},
    {"LayerNormalization", "axis:i epsilon:f stash_type:i"},
    {"LeakyRelu", "alpha:f"},
    {"LinearAttention", "chunk_size:i kv_num_heads:i! q_num_heads:i! scale:f update_rule:s"},
    {"LogSoftmax", "axis:i"},
    {"Loop", "body:g!"},
    {"LpNormalization", "axis:i p:i"},
    {"LpPool", "auto_pad:s ceil_mode:i dilations:I kernel_shape:I! p:i pads:I strides:I"},
    {"MaxPool", "auto_pad:s ceil_mode:i dilations:I kernel_shape:I! pads:I storage_order:i strides:I"},
    {"MaxRoiPool", "pooled_shape:I! spatial_scale:f"},
    {"MaxUnpool", "kernel_shape:I! pads:I strides:I"},
    {"MeanVarianceNormalization", "axes:I"},
    {"MelWeightMatrix", "output_datatype:i"},
    {"Mod", "fmod:i"},
    {"Multinomial", "dtype:i sample_size:i seed:f"},
    {"NegativeLogLikelihoodLoss", "ignore_index:i reduction:s"},
    {"NonMaxSuppression", "center_point_box:i"},
    {"OneHot", "axis:i"},
    {"Optional", "type:y"},
    {"Pad", "mode:s pads:I!<11 value:f<11"},
    {"QLinearConv", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"QuantizeLinear", "axis:i block_size:i output_dtype:i precision:i saturate:i"},
    {"RMSNormalization", "axis:i epsilon:f stash_type:i"},
    {"RNN", "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i"},
    {"RandomNormal", "dtype:i mean:f scale:f seed:f shape:I!"},
    {"RandomNormalLike", "dtype:i mean:f scale:f seed:f"},
    {"RandomUniform", "dtype:i high:f low:f seed:f shape:I!"},
    {"RandomUniformLike", "dtype:i high:f low:f seed:f"},
    {"Range", "stash_type:i"},
    {"ReduceL1", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceL2", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceLogSum", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceLogSumExp", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceMax", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceMean", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceMin", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceProd", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"ReduceSum", "axes:I<13 keepdims:i noop_with_empty_axes:i"},
    {"ReduceSumSquare", "axes:I<18 keepdims:i noop_with_empty_axes:i"},
    {"RegexFullMatch", "pattern:s"},
    {"Reshape", "allowzero:i"},
    {"Resize",
     "antialias:i axes:I coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f "
     "keep_aspect_ratio_policy:s mode:s nearest_mode:s"},
    {"ReverseSequence", "batch_axis:i time_axis:i"},
    {"RoiAlign",
     "coordinate_transformation_mode:s mode:s output_height:i output_width:i sampling_ratio:i spatial_scale:f"},
    {"RotaryEmbedding", "interleaved:i num_heads:i rotary_embedding_dim:i"},
    {"STFT", "onesided:i"},
    {"Scan",
     "body:g! directions:I<9 num_scan_inputs:i! scan_input_axes:I scan_input_directions:I scan_output_axes:I "
     "scan_output_directions:I"},
    {"Scatter", "axis:i"},
    {"ScatterElements", "axis:i reduction:s"},
    {"ScatterND", "reduction:s"},
    {"Selu", "alpha:f gamma:f"},
    {"SequenceEmpty", "dtype:i"},
    {"SequenceMap", "body:g!"},
    {"Shape", "end:i start:i"},
    {"Shrink", "bias:f lambd:f"},
    {"SimplifiedLayerNormalization", "axis:i epsilon:f stash_type:i"},
    {"Slice", "axes:I<10 ends:I!<10 starts:I!<10"},
    {"Softmax", "axis:i"},
    {"SoftmaxCrossEntropyLoss", "ignore_index:i reduction:s"},
    {"SpaceToDepth", "blocksize:i! mode:s"},
    {"Split", "axis:i num_outputs:i split:I<13"},
    {"SplitToSequence", "axis:i keepdims:i"},
    {"Squeeze", "axes:I<13"},
    {"StringNormalizer", "case_change_action:s is_case_sensitive:i locale:s stopwords:S"},
    {"StringSplit", "delimiter:s maxsplit:i"},
    {"SwiGLU", "alpha:f"},
    {"Swish", "alpha:f"},
    {"TensorScatter", "axis:i mode:s"},
    {"TfIdfVectorizer",
     "max_gram_length:i! max_skip_count:i! min_gram_length:i! mode:s! ngram_counts:I! ngram_indexes:I! "
     "pool_int64s:I pool_strings:S weights:F"},
    {"ThresholdedRelu", "alpha:f"},
    {"TopK", "axis:i k:i!<10 largest:i sorted:i"},
    {"Transpose", "perm:I"},
    {"Trilu", "upper:i"},
    {"Unique", "axis:i sorted:i"},
    {"Unsqueeze", "axes:I!<13"},
    {"Upsample", "mode:s scales:F!<9"},
    {"ai.onnx.ml:Binarizer", "threshold:f"},
    {"ai.onnx.ml:CastMap", "cast_to:s map_form:s max_map:i"},
    {"ai.onnx.ml:CategoryMapper", "cats_int64s:I cats_strings:S default_int64:i default_string:s"},
    {"ai.onnx.ml:DictVectorizer", "int64_vocabulary:I string_vocabulary:S"},
    {"ai.onnx.ml:FeatureVectorizer", "inputdimensions:I"},
    {"ai.onnx.ml:Imputer",
     "imputed_value_floats:F imputed_value_int64s:I replaced_value_float:f replaced_value_int64:i"},
    {"ai.onnx.ml:LabelEncoder",
     "classes_strings:S<2 default_float:f default_int64:i default_string:s default_tensor:t keys_floats:F "
     "keys_int64s:I keys_strings:S keys_tensor:t values_floats:F values_int64s:I values_strings:S values_tensor:t"},
    {"ai.onnx.ml:LinearClassifier",
     "classlabels_ints:I classlabels_strings:S coefficients:F! intercepts:F multi_class:i post_transform:s"},
    {"ai.onnx.ml:LinearRegressor", "coefficients:F intercepts:F post_transform:s targets:i"},
    {"ai.onnx.ml:Normalizer", "norm:s"},
    {"ai.onnx.ml:OneHotEncoder", "cats_int64s:I cats_strings:S zeros:i"},
    {"ai.onnx.ml:SVMClassifier",
     "classlabels_ints:I classlabels_strings:S coefficients:F kernel_params:F kernel_type:s post_transform:s "
     "prob_a:F prob_b:F rho:F support_vectors:F vectors_per_class:I"},
    {"ai.onnx.ml:SVMRegressor",
     "coefficients:F kernel_params:F kernel_type:s n_supports:i one_class:i post_transform:s rho:F "
     "support_vectors:F"},
    {"ai.onnx.ml:Scaler", "offset:F scale:F"},
    {"ai.onnx.ml:TreeEnsemble",
     "aggregate_function:i leaf_targetids:I! leaf_weights:t! membership_values:t n_targets:i nodes_falseleafs:I! "
     "nodes_falsenodeids:I! nodes_featureids:I! nodes_hitrates:t nodes_missing_value_tracks_true:I nodes_modes:t! "
     "nodes_splits:t! nodes_trueleafs:I! nodes_truenodeids:I! post_transform:i tree_roots:I!"},
    {"ai.onnx.ml:TreeEnsembleClassifier",
     "base_values:F base_values_as_tensor:t class_ids:I class_nodeids:I class_treeids:I class_weights:F "
     "class_weights_as_tensor:t classlabels_int64s:I classlabels_strings:S nodes_falsenodeids:I "
     "nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t nodes_missing_value_tracks_true:I "
     "nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t "
     "post_transform:s"},
    {"ai.onnx.ml:TreeEnsembleRegressor",
     "aggregate_function:s base_values:F base_values_as_tensor:t n_targets:i nodes_falsenodeids:I "
     "nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t nodes_missing_value_tracks_true:I "
     "nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t "
     "post_transform:s target_ids:I target_nodeids:I target_treeids:I target_weights:F target_weights_as_tensor:t"},
    {"ai.onnx.ml:ZipMap", "classlabels_int64s:I classlabels_strings:S"},
    {"ai.onnx.preview.training:Adagrad", "decay_factor:f epsilon:f norm_coefficient:f"},
    {"ai.onnx.preview.training:Adam", "alpha:f beta:f epsilon:f norm_coefficient:f norm_coefficient_post:f"},
    {"ai.onnx.preview.training:Momentum", "alpha:f! beta:f! mode:s! norm_coefficient:f!"},
    {"ai.onnx.preview:FlexAttention", "prob_mod:g scale:f score_mod:g softmax_precision:i"},
    {"com.microsoft:Attention",
     "do_rotary:i mask_filter_value:f num_heads:i! past_present_share_buffer:i qkv_hidden_sizes:I "
     "rotary_embedding_dim:i scale:f unidirectional:i"},
    {"com.microsoft:DynamicQuantizeLSTM",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i input_forget:i"},
    {"com.microsoft:EmbedLayerNormalization", "epsilon:f mask_index_type:i"},
    {"com.microsoft:FusedConv",
     "activation:s activation_params:F auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"com.microsoft:FusedGemm",
     "activation:s activation_alpha:f activation_beta:f activation_gamma:f alpha:f beta:f transA:i transB:i"},
    {"com.microsoft:FusedMatMul", "alpha:f transA:i transB:i transBatchA:i transBatchB:i"},
    {"com.microsoft:GroupQueryAttention",
     "causal:i do_rotary:i k_norm_epsilon:f k_quant_type:s kv_cache_bit_width:i kv_num_heads:i! "
     "local_window_size:i num_heads:i! q_norm_epsilon:f qk_norm_epsilon:f qk_output:i rotary_interleaved:i "
     "scale:f sliding_window_cache:i smooth_softmax:i softcap:f v_quant_type:s"},
    {"com.microsoft:MatMulNBits", "K:i! N:i! accuracy_level:i bits:i block_size:i! weight_prepacked:i"},
    {"com.microsoft:MultiHeadAttention", "mask_filter_value:f num_heads:i! scale:f unidirectional:i"},
    {"com.microsoft:QLinearAveragePool",
     "auto_pad:s ceil_mode:i channels_last:i count_include_pad:i kernel_shape:I! pads:I strides:I"},
    {"com.microsoft:QLinearConcat", "axis:i!"},
    {"com.microsoft:QLinearGlobalAveragePool", "channels_last:i"},
    {"com.microsoft:QLinearLeakyRelu", "alpha:f"},
    {"com.microsoft:QuickGelu", "alpha:f"},
    {"com.microsoft:RotaryEmbedding", "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i scale:f"},
    {"com.microsoft:SkipLayerNormalization", "epsilon:f"},
    {"com.microsoft:SkipSimplifiedLayerNormalization", "epsilon:f"},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "attributes_of searches by name");

struct Attribute {
  std::string_view name;
  char kind = 0;
  bool required = false;
  int64_t end = 0;  // the version that dropped it; 0: none did

  bool is_in(int64_t version) const { return end == 0 || version < end; }
};

std::vector<Attribute> attributes_of(std::string_view op) {
  const auto* row = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  if (row == std::end(kRows) || row->op != op) return {};
  std::vector<Attribute> out;
  for (std::string_view rest = row->attributes; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const size_t colon = word.find(':'), below = word.find('<');
    Attribute a{word.substr(0, colon), word[colon + 1], word.find('!') != word.npos};
    for (char digit : below == word.npos ? std::string_view() : word.substr(below + 1))
      a.end = a.end * 10 + (digit - '0');
    out.push_back(a);
  }
  return out;
}

constexpr std::pair<char, std::string_view> kKinds[] = {
    {'i', "an integer"},
    {'f', "a real number"},
    {'s', "a string"},
    {'t', "a tensor"},
    {'g', "a graph"},
    {'y', "a type"},
    {'I', "a list of integers"},
    {'F', "a list of real numbers"},
    {'S', "a list of strings"},
    {'T', "a list of tensors"},
};

std::string_view kind_text(char kind) {
  return std::ranges::find(kKinds, kind, &std::pair<char, std::string_view>::first)->second;
}

}  // namespace

bool is_private(std::string_view name) { return name.starts_with("__"); }

char kind_of(const AttrValue& value) { return "ifsIFStTy"[value.index()]; }

void check_attribute(std::string_view op, int64_t version, std::string_view name, char kind) {
  std::vector<std::string_view> accepted;
  int64_t end = 0;
  for (const Attribute& a : attributes_of(op)) {
    if (a.is_in(version)) accepted.push_back(a.name);
    if (a.name != name) continue;
    end = a.end;
    if (!a.is_in(version)) continue;
    if (a.kind == kind) return;
    throw Error(ErrorCode::invalid_model,
                fmt::format("attribute '{}' is {}; it must be {}", name, kind_text(kind), kind_text(a.kind)));
  }
  if (accepted.empty() && !find_onnx_op(op)) return;  // there is more to say than that
  throw Error(ErrorCode::invalid_model,
              fmt::format("attribute '{}' is not known{}; accepted: {}", name,
                          end > 0 ? fmt::format(" since version {}", end) : "",
                          accepted.empty() ? "none" : fmt::format("{}", fmt::join(accepted, ", "))));
}

void check_complete(std::string_view op, int64_t version, const std::function<bool(std::string_view)>& has) {
  for (const Attribute& a : attributes_of(op))
    if (a.required && a.is_in(version) && !has(a.name))
      throw Error(ErrorCode::invalid_model,
                  fmt::format("attribute '{}' is missing; it must be {}", a.name, kind_text(a.kind)));
}

std::vector<std::string_view> operators_with_attributes() {
  std::vector<std::string_view> out;
  for (const Row& row : kRows) out.push_back(row.op);
  return out;
}

}  // namespace trine::onnx
