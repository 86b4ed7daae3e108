#include "ops/types.h"

#include <fmt/format.h>

namespace trine {

unsigned type_set(DType type) {
  switch (type) {
    case DType::none:
      return 0;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return kFloats;
    case DType::boolean:
      return kBooleans;
    case DType::string:
      return kStrings;
    case DType::i4:
    case DType::u4:
    case DType::i2:
    case DType::u2:
      return kTinyIntegers;
    default:
      break;
  }
  if (is_complex(type)) return kComplex;
  return is_integer(type) ? kIntegers : kTinyFloats;
}

bool is_unsigned(DType type) { return is_integer(type) && !is_signed_integer(type); }

int bit_width(DType type) {
  switch (type) {
    case DType::i4:
    case DType::u4:
    case DType::f4e2m1:
      return 4;
    case DType::i2:
    case DType::u2:
      return 2;
    case DType::f6e2m3:
    case DType::f6e3m2:
      return 6;
    default:
      return static_cast<int>(8 * byte_size(type));
  }
}

static std::string text(unsigned allowed) {
  static constexpr std::pair<unsigned, std::string_view> kNames[] = {
      {kFloats, "f16, bf16, f32, f64"}, {kIntegers, "integers"},           {kBooleans, "bool"},  {kStrings, "string"},
      {kTinyFloats, "f8, f6, f4"},      {kTinyIntegers, "i4, u4, i2, u2"}, {kComplex, "complex"}};
  std::string out;
  for (auto [set, name] : kNames)
    if (allowed & set) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

void need_type(const InferContext& c, int input, unsigned allowed) {
  const DType type = c.dtype(input);
  if (type != DType::none && !(type_set(type) & allowed))
    c.fail(fmt::format("input {} is {}; accepted: {}", input, name(type), text(allowed)));
}

void need_same_type(const InferContext& c, int first, int second) {
  const DType a = c.dtype(first), b = c.dtype(second);
  if (a != b && a != DType::none && b != DType::none)
    c.fail(
        fmt::format("inputs {} and {} are {} and {}; they must have the same type", first, second, name(a), name(b)));
}

}  // namespace trine
