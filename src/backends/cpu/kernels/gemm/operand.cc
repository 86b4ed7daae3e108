#include "backends/cpu/kernels/gemm/operand.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_sizes.h"

namespace trine::cpu {
namespace {

using namespace dnn;

int64_t panel_words(const GemmIsa& isa, const WeightShape& s) { return s.taps * isa.words(s.channels) * kPanel; }

// One panel of words of kElements elements each. Loops run along the source where it is contiguous.
template <class T>
void pack_panel(const T* source, const WeightShape& s, int64_t column, T* panel) {
  constexpr int64_t kElements = 4 / sizeof(T);
  int64_t columns = std::min<int64_t>(s.columns - column, kPanel), words = (s.channels + kElements - 1) / kElements;
  std::memset(panel, 0, static_cast<size_t>(s.taps * words * kPanel) * 4);
  for (int64_t tap = 0; tap < s.taps; ++tap, panel += words * kPanel * kElements) {
    const T* from = source + tap * s.tap_step + column * s.column_step;
    auto at = [&](int64_t c, int64_t j) { return panel + (c / kElements * kPanel + j) * kElements + c % kElements; };
    if (s.column_step == 1) {
      for (int64_t c = 0; c < s.channels; ++c)
        for (int64_t j = 0; j < columns; ++j) *at(c, j) = from[c * s.channel_step + j];
    } else {
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t c = 0; c < s.channels; ++c) *at(c, j) = from[c * s.channel_step + j * s.column_step];
    }
  }
}

void sum_columns(const int8_t* panel, int64_t words, int32_t* sums) {
  std::fill_n(sums, kPanel, 0);
  for (int64_t i = 0; i < words; ++i)
    for (int b = 0; b < 4; ++b) sums[i % kPanel] += panel[i * 4 + b];
}

// By the functions of this machine: every level's give the same bytes.
void pack_f32(const float* weights, const WeightShape& s, int64_t panel, float* packed) {
  const GemmIsa& isa = gemm_isa(cpu_level());
  int64_t column = panel * kPanel;
  int columns = static_cast<int>(std::min<int64_t>(s.columns - column, kPanel));
  const float* from = weights + column * s.column_step;
  float* to = packed + panel * panel_words(isa, s);
  if (s.taps == 1 && s.column_step == 1) return isa.pack_panel(from, s.channel_step, s.channels, columns, to);
  if (s.taps == 1 && s.channel_step == 1)
    return isa.pack_panel_transposed(from, s.column_step, s.channels, columns, to);
  pack_panel(weights, s, column, to);
}

bool is_one_of(DType type, std::initializer_list<DType> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

const char* types_refusal(const GemmIsa& isa, const ElementTypes& t, const Epilogue& e) {
  if (isa.format == DType::f32) return t.are_f32() ? nullptr : "operands other than f32";
  if (isa.format == DType::bf16) {
    bool fits = t.in == DType::bf16 && t.weights == DType::bf16 && is_one_of(t.out, {DType::bf16, DType::f32}) &&
                t.bias == DType::f32 && !t.scale_per_channel;
    return fits ? nullptr : "operands other than bf16 by bf16 to bf16 or f32";
  }
  if (!t.are_integers() || t.weights != DType::i8) return "operands other than u8 or i8 by i8";
  if (!is_one_of(t.bias, {DType::f32, DType::i32})) return "a bias other than f32 or i32";
  if (is_one_of(t.out, {DType::f32, DType::u8, DType::i8})) return nullptr;
  if (t.out != DType::i32) return "an output other than f32, u8, i8 and i32";
  bool raw = e.residual == Residual::none && e.activation == Activation::none && (!e.bias || t.bias == DType::i32);
  return raw ? nullptr : "an epilogue of i32 sums beyond an i32 bias";
}

int64_t packed_bytes(const GemmIsa& isa, const WeightShape& s) {
  int64_t bytes = s.padded_columns() / kPanel * panel_words(isa, s) * 4;
  return isa.format == DType::i8 ? bytes + s.padded_columns() * 4 : bytes;
}

void pack_weights(const GemmIsa& isa, const void* weights, const WeightShape& s, int64_t panel_begin, int64_t panel_end,
                  void* packed) {
  int64_t words = panel_words(isa, s);
  for (int64_t i = panel_begin; i < panel_end; ++i) {
    char* panel = static_cast<char*>(packed) + i * words * 4;
    if (isa.format == DType::f32) {
      pack_f32(static_cast<const float*>(weights), s, i, static_cast<float*>(packed));
    } else if (isa.format == DType::bf16) {
      pack_panel(static_cast<const uint16_t*>(weights), s, i * kPanel, reinterpret_cast<uint16_t*>(panel));
    } else {
      auto* sums = reinterpret_cast<int32_t*>(static_cast<char*>(packed) + s.padded_columns() / kPanel * words * 4);
      pack_panel(static_cast<const int8_t*>(weights), s, i * kPanel, reinterpret_cast<int8_t*>(panel));
      sum_columns(reinterpret_cast<const int8_t*>(panel), words, sums + i * kPanel);
    }
  }
}

WeightShape filter_shape(const ConvProblem& p) {
  int64_t taps = volume(p.kernel);
  return {taps, p.in_per_group(), p.out_per_group(), 1, taps, p.in_per_group() * taps};
}

size_t filter_bytes(const GemmIsa& isa, const ConvProblem& p) {
  return static_cast<size_t>(p.groups * packed_bytes(isa, filter_shape(p)));
}

void pack_filters(const GemmIsa& isa, const ConvProblem& p, const void* weights, void* packed) {
  WeightShape shape = filter_shape(p);
  int64_t from_step = shape.columns * shape.column_step * isa.element_bytes(), to_step = packed_bytes(isa, shape);
  for (int64_t g = 0; g < p.groups; ++g)
    pack_weights(isa, static_cast<const char*>(weights) + g * from_step, shape, 0, shape.padded_columns() / kPanel,
                 static_cast<char*>(packed) + g * to_step);
}

size_t ColumnNumbers::bytes(const ElementTypes& types, int64_t groups, int64_t columns) {
  if (!types.are_integers()) return 0;
  return static_cast<size_t>(groups * WeightShape{.columns = columns}.padded_columns()) * 12;
}

ColumnNumbers::ColumnNumbers(const ElementTypes& types, const Args& args, int64_t groups, int64_t columns,
                             void* workspace)
    : types_(types),
      args_(args),
      columns_(columns),
      padded_(WeightShape{.columns = columns}.padded_columns()),
      offsets_(static_cast<int32_t*>(workspace)),
      scales_(reinterpret_cast<float*>(offsets_ + groups * padded_)),
      biases_(scales_ + groups * padded_) {
  if (args.quantization && types.are_integers()) quantization_ = *args.quantization;
}

void ColumnNumbers::fill(int64_t g, const GemmIsa& isa, const WeightShape& s, const void* packed, float alpha) const {
  if (!types_.are_integers()) return;
  int64_t panels = s.padded_columns() / kPanel * panel_words(isa, s) * 4;
  fill(g, reinterpret_cast<const int32_t*>(static_cast<const char*>(packed) + panels), alpha);
}

void ColumnNumbers::fill(int64_t g, const int32_t* sums, float alpha) const {
  const auto* bias = types_.bias == DType::i32 ? static_cast<const int32_t*>(args_.bias) : nullptr;
  // i8 is shifted to u8: every activation is 128 larger.
  int32_t zero = quantization_.in_zero + (types_.in == DType::i8 ? 128 : 0);
  for (int64_t j = 0; j < columns_; ++j) {
    int64_t channel = g * columns_ + j, at = g * padded_ + j;
    uint32_t offset = 0u - static_cast<uint32_t>(zero) * static_cast<uint32_t>(sums[j]);
    if (bias) offset += static_cast<uint32_t>(bias[channel]);
    offsets_[at] = static_cast<int32_t>(offset);
    float scale = quantization_.scale ? quantization_.scale[types_.scale_per_channel ? channel : 0] : 1;
    scales_[at] = scale * alpha;
    biases_[at] = args_.bias && !bias ? static_cast<const float*>(args_.bias)[channel] : 0;
  }
  for (int64_t at = g * padded_ + columns_; at < (g + 1) * padded_; ++at)
    offsets_[at] = 0, scales_[at] = 0, biases_[at] = 0;
}

void ColumnNumbers::set(int64_t g, TileEpilogue& e) const {
  if (!types_.are_integers()) {
    if (e.bias) e.bias += g * columns_;
    return;
  }
  const Quantization& q = quantization_;
  e.offsets = offsets_ + g * padded_;
  e.scales = scales_ + g * padded_;
  e.bias = biases_ + g * padded_;
  e.flip = types_.in == DType::i8 ? 0x80808080u : 0;
  e.out_zero = q.out_zero;
  bool is_signed = types_.out == DType::i8;
  e.out_low = static_cast<float>((is_signed ? -128 : 0) - q.out_zero);
  e.out_high = static_cast<float>((is_signed ? 127 : 255) - q.out_zero);
  e.residual_flip = is_signed ? 0x80 : 0;
  e.residual_zero = q.residual_zero + (is_signed ? 128 : 0);
  e.residual_scale = q.residual_scale;
  e.out_multiplier = q.out_multiplier;
  if (e.is_clamp && q.out_multiplier > 0 && types_.out != DType::f32) multiply_before(g, e);
}

void ColumnNumbers::multiply_before(int64_t g, TileEpilogue& e) const {
  for (int64_t at = g * padded_; at < g * padded_ + columns_; ++at)
    scales_[at] *= e.out_multiplier, biases_[at] *= e.out_multiplier;
  e.low *= e.out_multiplier, e.high *= e.out_multiplier;
  e.residual_scale *= e.out_multiplier;
  e.out_multiplier = 1;
}

}  // namespace trine::cpu
