#include "to_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "number_types.h"

namespace trine::bench {
namespace {

using dnn::Activation;
using dnn::Residual;

// Operands past this are listed, not made.
constexpr double kMostElements = 2e9;
constexpr int64_t kLongest = 1 << 20;  // kernels and padding

// Why an entry is none of ours, thrown within this file only.
struct Unsupported {
  std::string why;
};

[[noreturn]] void unsupported(std::string why) { throw Unsupported{std::move(why)}; }

void only(const Entry& entry, const std::string& option, const std::string& otherwise,
          std::initializer_list<std::string_view> accepted) {
  const std::string value = entry.option(option, otherwise);
  if (std::find(accepted.begin(), accepted.end(), value) == accepted.end()) {
    unsupported(fmt::format("--{}={}; only {}", option, value, fmt::join(accepted, ", ")));
  }
}

dnn::ElementTypes types_of(const Entry& entry) {
  NumberTypes n = number_types_of(entry);
  if (!n.unsupported.empty()) unsupported(std::move(n.unsupported));
  return n.types;
}

// What no problem of trine::dnn has yet.
void refuse_options(const Entry& entry) {
  types_of(entry);
  for (const char* tag : {"stag", "wtag", "dtag", "tag"}) {
    if (entry.driver != Driver::matmul) {
      only(entry, tag, "any", {"any", "axb", "nwc", "nhwc", "ndhwc", "acb", "acdb", "acdeb", ""});
    }
  }
  only(entry, "match", "", {""});
  only(entry, "attr-fpmath", "", {"", "strict"});
  for (const char* name : {"strides", "grouped", "encoding", "sparse-encoding", "attr-dropout",
                           "attr-precomputed-reductions", "attr-rounding-mode"}) {
    only(entry, name, "", {""});
  }
}

float number_at(const std::vector<std::string>& parts, size_t i, float otherwise) {
  if (i >= parts.size() || parts[i].empty()) return otherwise;
  float value = 0;
  const auto [end, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), value);
  if (error != std::errc() || !std::isfinite(value)) unsupported(fmt::format("post-op with '{}'", parts[i]));
  return value;
}

struct NamedActivation {
  std::string_view name;
  Activation activation;
  float alpha, beta;  // benchdnn's defaults
};
constexpr NamedActivation kActivations[] = {
    {"relu", Activation::relu, 0, 0},           {"clip", Activation::clip, 0, 0},
    {"clip_v2", Activation::clip, 0, 0},        {"logistic", Activation::sigmoid, 0, 0},
    {"tanh", Activation::tanh, 0, 0},           {"swish", Activation::silu, 0, 0},
    {"hardswish", Activation::hardswish, 0, 0}, {"hardsigmoid", Activation::hardsigmoid, 0, 0},
    {"gelu_erf", Activation::gelu, 0, 0},       {"gelu_tanh", Activation::gelu_tanh, 0, 0},
};

void add_activation(const std::vector<std::string>& parts, dnn::Epilogue& e) {
  const auto found =
      std::find_if(std::begin(kActivations), std::end(kActivations), [&](const auto& a) { return a.name == parts[0]; });
  if (found == std::end(kActivations) || e.activation != Activation::none) unsupported("post-op " + parts[0]);
  e.activation = found->activation;
  e.alpha = number_at(parts, 1, 0);
  e.beta = number_at(parts, 2, 0);
  if (number_at(parts, 3, 1) != 1) unsupported("a scale of post-op " + parts[0]);
  if (e.activation == Activation::relu && e.alpha != 0) e.activation = Activation::leaky_relu;
  if (e.activation == Activation::silu && number_at(parts, 1, 1) != 1) unsupported("swish with a factor");
  const bool has_numbers = e.activation == Activation::clip || e.activation == Activation::leaky_relu ||
                           e.activation == Activation::hardsigmoid;
  if (!has_numbers) e.alpha = e.beta = 0;
}

// "sum+relu", "swish:1+sum".
dnn::Epilogue epilogue_of(const Entry& entry, bool bias) {
  dnn::Epilogue e{.bias = bias};
  const std::string ops = entry.option("attr-post-ops", "");
  if (ops.empty()) return e;
  for (const std::string& op : split(ops, '+')) {
    const auto parts = split(op, ':');
    if (parts[0] != "sum") {
      add_activation(parts, e);
      continue;
    }
    if (e.residual != Residual::none) unsupported("post-op " + op);
    e.residual = e.activation == Activation::none ? Residual::before_activation : Residual::after_activation;
  }
  if (e.activation == Activation::none && e.residual != Residual::none) e.residual = Residual::before_activation;
  return e;
}

// FWD_B has a bias; FWD_D and FWD_I have one when --bia-dt gives it a type.
bool forward_with_bias(const Entry& entry, const std::string& otherwise) {
  only(entry, "dir", otherwise, {"FWD_B", "FWD_D", "FWD_I"});
  only(entry, "bia-dt", "undef", {"undef", "f32", "s32", ""});
  return entry.option("dir", otherwise) == "FWD_B" || entry.option("bia-dt", "undef").ends_with("32");
}

double product(const Extents& e) {
  return static_cast<double>(e[0]) * static_cast<double>(e[1]) * static_cast<double>(e[2]);
}
double product(const std::vector<int64_t>& dims) {
  double p = 1;
  for (int64_t d : dims) p *= static_cast<double>(d);
  return p;
}

void check_size(std::initializer_list<double> elements) {
  for (double n : elements) {
    if (n <= 0) unsupported("empty tensors");
    if (n > kMostElements) unsupported(fmt::format("{:.2g} elements; at most {:.2g}", n, kMostElements));
  }
}

dnn::Problem conv(const Entry& entry) {
  const Sizes& s = entry.sizes;
  const auto d = [](int64_t v) { return static_cast<double>(v); };
  check_size({d(s.mb) * d(s.ic) * product(s.in), d(s.mb) * d(s.oc) * product(s.out),
              d(s.ic) / d(s.g) * d(s.oc) * product(s.kernel), product(s.stride),
              product(s.kernel) * product(s.dilation) + 1});
  dnn::ConvProblem p;
  p.n = s.mb, p.in_channels = s.ic, p.out_channels = s.oc, p.groups = s.g;
  p.in = s.in, p.out = s.out, p.kernel = s.kernel, p.stride = s.stride, p.pad_begin = s.pad_begin;
  for (size_t i = 0; i < 3; ++i) p.dilation[i] = s.dilation[i] + 1;
  p.transposed = entry.driver == Driver::deconv;
  for (size_t i = 0; i < 3; ++i) {
    if (s.pad_begin[i] < 0 || s.pad_begin[i] > kLongest) unsupported(fmt::format("padding {}", s.pad_begin[i]));
    if (s.kernel[i] > kLongest) unsupported(fmt::format("kernel size {}", s.kernel[i]));
  }
  const std::string dir = entry.option("dir", "FWD_B");
  if (dir.starts_with("BWD")) only(entry, "attr-post-ops", "", {""});
  if (dir == "BWD_D") return dnn::backward_data(p);
  if (dir == "BWD_W" || dir == "BWD_WB") return dnn::ConvWeightsProblem{.forward = p, .bias = dir == "BWD_WB"};
  p.epilogue = epilogue_of(entry, forward_with_bias(entry, "FWD_B"));
  p.types = types_of(entry);
  return p;
}

dnn::Problem pool(const Entry& entry) {
  const Sizes& s = entry.sizes;
  forward_with_bias(entry, "FWD_D");
  only(entry, "attr-post-ops", "", {""});
  const auto d = [](int64_t v) { return static_cast<double>(v); };
  check_size({d(s.mb) * d(s.ic) * product(s.in), d(s.mb) * d(s.ic) * product(s.out), product(s.kernel),
              product(s.stride), product(s.kernel) * product(s.dilation) + 1});
  dnn::PoolProblem p{.n = s.mb, .channels = s.ic, .in = s.in, .out = s.out, .kernel = s.kernel, .stride = s.stride};
  const std::string alg = entry.option("alg", "max");
  p.kind = alg.ends_with("max")                                     ? dnn::PoolKind::max
           : alg == "avg_p" || alg == "pooling_avg_include_padding" ? dnn::PoolKind::average_with_pad
                                                                    : dnn::PoolKind::average;
  for (size_t i = 0; i < 3; ++i) {
    p.dilation[i] = s.dilation[i] + 1;
    p.pad_begin[i] = s.pad_begin[i];
    p.pad_end[i] = std::max<int64_t>(s.pad_end[i], 0);
    if (s.pad_begin[i] < 0 || s.pad_begin[i] >= s.kernel[i]) unsupported("padding that a window can lie in");
  }
  return p;
}

dnn::Problem inner_product(const Entry& entry) {
  const Sizes& s = entry.sizes;
  const double k = static_cast<double>(s.ic) * product(s.in), m = static_cast<double>(s.mb),
               n = static_cast<double>(s.oc);
  check_size({k, m * k, k * n, m * n});
  return dnn::MatmulProblem{.m = s.mb,
                            .n = s.oc,
                            .k = static_cast<int64_t>(k),
                            .b_constant = true,
                            .epilogue = epilogue_of(entry, forward_with_bias(entry, "FWD_B")),
                            .types = types_of(entry)};
}

// Weights without a batch are constants, as benchdnn's reordered ones; others are computed at run time in a network.
dnn::Problem matmul(const Entry& entry) {
  const auto& a = entry.tensors[0];
  const auto& b = entry.tensors[1];
  only(entry, "stag", "any", {"any", "ab", "abc", "abcd", "abx"});
  only(entry, "wtag", "any", {"any", "ab", "abc", "abcd", "abx", "ba", "acb", "abdc"});
  only(entry, "dtag", "any", {"any", "ab", "abc", "abcd", "abx"});
  dnn::MatmulProblem p{.m = a[a.size() - 2], .n = b.back(), .k = a.back()};
  p.a_batch.assign(a.begin(), a.end() - 2);
  p.b_batch.assign(b.begin(), b.end() - 2);
  p.b_constant = b.size() == 2;
  const std::string wtag = entry.option("wtag", "any");
  p.trans_b = wtag == "ba" || wtag == "acb" || wtag == "abdc";
  const bool bias = forward_with_bias(entry, "FWD_I");
  if (bias) only(entry, "bia-mask", "2", {std::to_string(1 << (a.size() - 1))});  // along N
  p.epilogue = epilogue_of(entry, bias);
  p.types = types_of(entry);
  double batch = 1;
  for (size_t i = 0; i + 2 < a.size(); ++i) batch *= static_cast<double>(std::max(a[i], b[i]));
  check_size({product(a), product(b), batch * static_cast<double>(p.m) * static_cast<double>(p.n)});
  return p;
}

dnn::Problem rnn(const Entry& entry) {
  const Sizes& s = entry.sizes;
  only(entry, "prop", "FWD_I", {"FWD_I", "FWD_D", "FWD_B"});
  only(entry, "direction", "left2right", {"left2right", "right2left", "concat"});
  const bool projected = entry.option("with-projection", "false") == "true";
  if (s.dic != s.sic || (s.dhc != s.dic && !projected)) unsupported("sic, dhc and dic that differ");
  if (s.layers < 1 || s.layers > 64) unsupported(fmt::format("{} layers; 1 to 64", s.layers));
  const double cell = 4.0 * static_cast<double>(s.dhc), x = static_cast<double>(s.slc),
               rows = static_cast<double>(s.steps) * static_cast<double>(s.mb);
  check_size({cell * x, cell * static_cast<double>(s.sic), rows * x, rows * cell});
  dnn::RnnProblem p{.steps = s.steps, .batch = s.mb, .input = s.slc, .hidden = s.dhc};
  p.projection = projected ? s.dic : 0;
  p.layers = s.layers;
  const std::string alg = entry.option("alg", "VANILLA_RNN"), direction = entry.option("direction", "left2right");
  const std::string activation = entry.option("activation", "RELU");
  if (alg == "VANILLA_RNN") {
    only(entry, "activation", "RELU", {"RELU", "TANH", "relu", "tanh"});
    p.kind = activation == "RELU" || activation == "relu" ? dnn::RnnKind::rnn_relu : dnn::RnnKind::rnn_tanh;
  } else if (alg == "VANILLA_LSTM") {
    p.kind = dnn::RnnKind::lstm;
    p.peephole = entry.option("with-peephole", "false") == "true";
  } else if (alg == "VANILLA_GRU" || alg == "LBR_GRU") {
    p.kind = dnn::RnnKind::gru;
    p.linear_before_reset = alg == "LBR_GRU";
  } else {
    unsupported("--alg=" + alg);
  }
  p.direction = direction == "concat"       ? dnn::RnnDirection::bidirectional
                : direction == "right2left" ? dnn::RnnDirection::reverse
                                            : dnn::RnnDirection::forward;
  if (p.layers > 1 && s.slc != p.directions() * s.dic) unsupported("layers of different input size");
  if (projected && p.kind != dnn::RnnKind::lstm) unsupported("a projection without --alg=VANILLA_LSTM");
  return p;
}

dnn::Problem resampling(const Entry& entry) {
  const Sizes& s = entry.sizes;
  forward_with_bias(entry, "FWD_D");
  only(entry, "attr-post-ops", "", {""});
  const auto d = [](int64_t v) { return static_cast<double>(v); };
  check_size({d(s.mb) * d(s.ic) * product(s.in), d(s.mb) * d(s.ic) * product(s.out)});
  dnn::ResizeProblem p{.n = s.mb, .channels = s.ic, .in = s.in, .out = s.out};
  p.mode = entry.option("alg", "nearest").ends_with("linear") ? dnn::ResizeMode::linear : dnn::ResizeMode::nearest;
  for (size_t i = 0; i < 3; ++i) p.scale[i] = d(s.out[i]) / d(s.in[i]);
  return p;
}

// BxHxSqxD : BxH'xDxSkv : BxH'xSkvxDv. Keys lie [.., Skv, D] in memory, as a network has them.
dnn::Problem attention(const Entry& entry) {
  const auto& q = entry.tensors[0];
  const auto& k = entry.tensors[1];
  const auto& v = entry.tensors[2];
  const bool ranks = q.size() == 4 && k.size() == 4 && v.size() == 4;
  if (!ranks || k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || k[1] < 1 || q[1] % k[1] != 0 || k[2] != q[3] ||
      k[3] != v[2]) {
    unsupported("not BxHxSqxD:BxH'xDxSkv:BxH'xSkvxDv");
  }
  check_size({product(q), product(k), product(v), product({q[0], q[1], q[2], v[3]})});
  dnn::AttentionProblem p{.batch = q[0],
                          .heads = q[1],
                          .kv_heads = k[1],
                          .q_len = q[2],
                          .kv_len = v[2],
                          .head_dim = q[3],
                          .v_head_dim = v[3]};
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(q[3])));
  const auto strides = [](int64_t heads, int64_t length, int64_t dim) {
    return std::array<int64_t, 3>{heads * length * dim, length * dim, dim};
  };
  p.q_stride = strides(q[1], q[2], q[3]), p.k_stride = strides(k[1], k[3], k[2]);
  p.v_stride = strides(v[1], v[2], v[3]), p.out_stride = strides(q[1], q[2], v[3]);
  return p;
}

dnn::Problem translate(const Entry& entry) {
  refuse_options(entry);
  switch (entry.driver) {
    case Driver::conv:
    case Driver::deconv: return conv(entry);
    case Driver::pool: return pool(entry);
    case Driver::ip: return inner_product(entry);
    case Driver::matmul: return matmul(entry);
    case Driver::rnn: return rnn(entry);
    case Driver::resampling: return resampling(entry);
    case Driver::sdpa: return attention(entry);
    default: unsupported(fmt::format("{}: trine::dnn has no such problem", name(entry.driver)));
  }
}

// Pairs of an output and a kernel position that meet the input, along one dimension.
double meetings(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  double count = 0;
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t offset = k * dilation - pad;  // 0 <= o * stride + offset < in
    const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const int64_t end = in - 1 - offset < 0 ? 0 : (in - 1 - offset) / stride + 1;
    count += static_cast<double>(std::max<int64_t>(0, std::min(end, out) - first));
  }
  return count;
}

}  // namespace

Translated to_problem(const Entry& entry) {
  try {
    return {translate(entry), number_types_of(entry).quantization, ""};
  } catch (const Unsupported& u) {
    return {std::nullopt, {}, u.why};
  }
}

double benchdnn_ops(const dnn::Problem& problem) {
  const auto* weights = std::get_if<dnn::ConvWeightsProblem>(&problem);
  const auto* p = weights ? &weights->forward : std::get_if<dnn::ConvProblem>(&problem);
  if (!p) return dnn::flops(problem);
  double positions = 1;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t in = p->transposed ? p->out[i] : p->in[i], out = p->transposed ? p->in[i] : p->out[i];
    positions *= meetings(in, out, p->kernel[i], p->stride[i], p->dilation[i], p->pad_begin[i]);
  }
  return 2 * static_cast<double>(p->n) * static_cast<double>(p->in_channels) / static_cast<double>(p->groups) *
         static_cast<double>(p->out_channels) * positions;
}

}  // namespace trine::bench
