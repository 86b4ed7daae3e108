// Cast, CastLike, BitCast.
#include "ops/cast.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "ops/elementwise.h"
#include "trine/base/error.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;

bool is_f8(DType type) { return is_float(type) && byte_size(type) == 1 && bit_width(type) == 8; }

Tensor to_f8(const std::vector<double>& values, const Dims& dims, DType to, const CastRules& rules) {
  const Rounding rounding = to == DType::f8e8m0 ? rules.rounding : Rounding::nearest_even;
  Tensor y(to, dims);
  for (size_t i = 0; i < values.size(); ++i)
    y.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(small_float_bits(to, values[i], rules.overflow, rounding));
  return y;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& ch : out) ch = static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
  return out;
}

[[noreturn]] void not_a_number(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, fmt::format("cast: \"{}\" is no number", text.substr(0, 40)));
}

std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

// from_chars knows inf and nan in any case, and no locale.
double parse_real(const std::string& text) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) not_a_number(text);
  if (error == std::errc::result_out_of_range) {  // huge or tiny: the exponent's sign tells
    const bool tiny = lower_case(digits).find("e-") != std::string::npos;
    value = tiny ? 0 : std::numeric_limits<double>::infinity();
    if (digits.starts_with('-')) value = -value;
  }
  return value;
}

int64_t parse_integer(const std::string& text, DType to) {
  const std::string_view digits = without_plus(text);
  const char* const end = digits.data() + digits.size();
  if (int64_t value = 0; std::from_chars(digits.data(), end, value) == std::from_chars_result{end, {}}) return value;
  if (uint64_t value = 0; std::from_chars(digits.data(), end, value) == std::from_chars_result{end, {}})
    return static_cast<int64_t>(value);
  return Tensor::from_f64(to, {}, {parse_real(text)}).i64_values()[0];
}

Tensor parse(const Tensor& x, DType to, const CastRules& rules) {
  if (is_float(to)) {
    std::vector<double> values;
    for (const std::string& s : x.strings()) values.push_back(parse_real(s));
    return is_f8(to) ? to_f8(values, x.dims(), to, rules) : Tensor::from_f64(to, x.dims(), values);
  }
  std::vector<int64_t> values;
  for (const std::string& s : x.strings())
    values.push_back(to == DType::boolean ? parse_real(s) != 0 : parse_integer(s, to));
  return Tensor::from_i64(to, x.dims(), values);
}

std::string print_real(double v, DType type) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-INF" : "INF";
  return type == DType::f64 ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
}

Tensor print(const Tensor& x) {
  std::vector<std::string> out;
  if (is_float(x.dtype()))
    for (double v : x.f64_values()) out.push_back(print_real(v, x.dtype()));
  else
    for (int64_t v : x.i64_values())
      out.push_back(x.dtype() == DType::u64 ? fmt::format("{}", static_cast<uint64_t>(v)) : fmt::format("{}", v));
  return Tensor::of_strings(x.dims(), std::move(out));
}

Tensor between_complex(const Tensor& x, DType to) {
  if (!is_complex(x.dtype()) || !is_complex(to))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("cast: from {} to {}; complex numbers convert to each other only", x.type_text(), name(to)));
  Tensor y(to, x.dims());
  for (int64_t i = 0; i < 2 * x.elements(); ++i) {
    const double v = x.dtype() == DType::c64 ? x.as<float>()[i] : x.as<double>()[i];
    if (to == DType::c64) y.mutable_as<float>()[i] = static_cast<float>(v);
    else y.mutable_as<double>()[i] = v;
  }
  return y;
}

// To sub-byte integers, out of range is undefined in ONNX; its backend tests expect 0.
std::vector<double> in_range_or_zero(std::vector<double> values, DType to) {
  const double low = static_cast<double>(integer_min(to)), high = static_cast<double>(integer_max(to));
  for (double& v : values)
    if (!(std::trunc(v) >= low && std::trunc(v) <= high)) v = 0;
  return values;
}

Tensor from_real(const Tensor& x, DType to, const CastRules& rules) {
  const std::vector<double> values = x.f64_values();
  if (is_f8(to)) return to_f8(values, x.dims(), to, rules);
  return Tensor::from_f64(to, x.dims(), type_set(to) == kTinyIntegers ? in_range_or_zero(values, to) : values);
}

}  // namespace

Tensor cast(const Tensor& x, DType to, const CastRules& rules) {
  if (x.dtype() == to) return x;
  if (is_complex(x.dtype()) || is_complex(to)) return between_complex(x, to);
  if (x.dtype() == DType::string) return parse(x, to, rules);
  if (to == DType::string) return print(x);
  if (is_float(x.dtype()) || (is_float(to) && x.dtype() == DType::u64) || is_f8(to)) return from_real(x, to, rules);
  return Tensor::from_i64(to, x.dims(), x.i64_values());
}

namespace {

CastRules rules_of(const Attrs& attrs) {
  const std::string mode = attrs.string("round_mode", "up");
  return {.overflow = attrs.integer("saturate", 1) ? Overflow::saturate : Overflow::ieee,
          .rounding = mode == "down"      ? Rounding::down
                      : mode == "nearest" ? Rounding::nearest_even
                                          : Rounding::up};
}

void check_round_mode(InferContext& c) {
  const std::string mode = c.attrs().string("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    c.fail("round_mode is \"" + mode + "\"; accepted: up, down, nearest");
}

DType target(const Attrs& attrs) { return attrs.dtype("to", DType::none); }

void infer_target(InferContext& c, DType to) {
  check_round_mode(c);
  c.set(0, to, c.shape(0));
  if (auto content = c.content(0); content && is_integer(c.dtype(0))) set_checked_content(c, to, std::move(*content));
}

void infer_cast(InferContext& c) {
  if (target(c.attrs()) == DType::none) c.fail("attribute `to` is missing; it names the type to convert to");
  infer_target(c, target(c.attrs()));
}

void infer_cast_like(InferContext& c) { infer_target(c, c.dtype(1)); }

void reference_cast(EvalContext& c) { c.set(0, cast(c.tensor(0), target(c.attrs()), rules_of(c.attrs()))); }
void reference_cast_like(EvalContext& c) { c.set(0, cast(c.tensor(0), c.tensor(1).dtype(), rules_of(c.attrs()))); }

Scalar lower_cast(LowerContext& c) {
  const DType to = c.output_type().dtype;
  if (!has_loop_form(c.input_type(0).dtype) || !has_loop_form(to)) return {};
  return c.cast(c.load(0), to);
}

// The same bits under another type of equal width. Sub-byte types take a byte each, so theirs move as they are.
void infer_bit_cast(InferContext& c) {
  const DType from = c.dtype(0), to = target(c.attrs());
  if (to == DType::none || to == DType::string || from == DType::string)
    c.fail("bit_cast needs two types that are no strings");
  if (from != DType::none && bit_width(from) != bit_width(to))
    c.fail(fmt::format("from {} to {}; the types must have the same number of bits", name(from), name(to)));
  c.set(0, to, c.shape(0));
}

void reference_bit_cast(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const DType to = target(c.attrs());
  if (x.dtype() == DType::string || byte_size(x.dtype()) != byte_size(to))
    c.fail("x is " + x.type_text() + "; its elements must be as wide as the target's");
  Tensor y = Tensor(to, x.dims(), x.data(), std::make_shared<Tensor>(x)).clone();
  if (bit_width(to) == 8 * static_cast<int>(byte_size(to))) return c.set(0, std::move(y));
  const int mask = (1 << bit_width(to)) - 1;  // signed ones are held sign-extended
  for (int64_t i = 0; i < y.elements(); ++i) y.mutable_as<uint8_t>()[i] &= static_cast<uint8_t>(mask);
  c.set(0, type_set(to) == kTinyIntegers ? Tensor::from_i64(to, y.dims(), y.i64_values()) : y);
}

const OpDef kCast = {.name = "cast",
                     .onnx = "Cast",
                     .doc = "x in another element type",
                     .types = "fibseq",
                     .infer = infer_cast,
                     .reference = reference_cast,
                     .lower = lower_cast,
                     .elementwise = true};
const OpDef kCastLike = {.name = "cast_like",
                         .onnx = "CastLike",
                         .doc = "x in the element type of another tensor",
                         .types = "fibseq fibseq",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .infer = infer_cast_like,
                         .reference = reference_cast_like,
                         .lower = lower_cast};
const OpDef kBitCast = {.name = "bit_cast",
                        .onnx = "BitCast",
                        .doc = "the bits of x as another type",
                        .types = "fibeqc",
                        .infer = infer_bit_cast,
                        .reference = reference_bit_cast};
const RegisterOp kRegistered[] = {RegisterOp(kCast), RegisterOp(kCastLike), RegisterOp(kBitCast)};

}  // namespace
}  // namespace trine
