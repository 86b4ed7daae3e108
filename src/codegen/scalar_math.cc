#include "codegen/scalar_math.h"

#include <array>
#include <cmath>

#include "base/float_formats.h"

namespace trine::codegen {
namespace {

double modulo(double a, double b) {  // takes the divisor's sign
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

using One = double (*)(double);
using Two = double (*)(double, double);
const void* of(One f) { return reinterpret_cast<const void*>(f); }
const void* of(Two f) { return reinterpret_cast<const void*>(f); }

std::array<const void*, kScalarOpCount> make_table() {
  std::array<const void*, kScalarOpCount> t{};
  auto at = [&](ScalarOp op) -> const void*& { return t[static_cast<size_t>(op)]; };
  at(ScalarOp::exp) = of(One(std::exp));
  at(ScalarOp::log) = of(One(std::log));
  at(ScalarOp::sin) = of(One(std::sin));
  at(ScalarOp::cos) = of(One(std::cos));
  at(ScalarOp::tan) = of(One(std::tan));
  at(ScalarOp::asin) = of(One(std::asin));
  at(ScalarOp::acos) = of(One(std::acos));
  at(ScalarOp::atan) = of(One(std::atan));
  at(ScalarOp::sinh) = of(One(std::sinh));
  at(ScalarOp::cosh) = of(One(std::cosh));
  at(ScalarOp::tanh) = of(One(std::tanh));
  at(ScalarOp::asinh) = of(One(std::asinh));
  at(ScalarOp::acosh) = of(One(std::acosh));
  at(ScalarOp::atanh) = of(One(std::atanh));
  at(ScalarOp::erf) = of(One(std::erf));
  at(ScalarOp::mod) = of(modulo);
  at(ScalarOp::fmod) = of(Two(std::fmod));
  at(ScalarOp::pow) = of(Two(std::pow));
  return t;
}

}  // namespace

const void* const* math_table() {
  static const auto table = make_table();
  return table.data();
}

const float* small_float_table(DType type) {
  if (!is_float(type) || byte_size(type) != 1) return nullptr;
  static const auto tables = [] {
    std::array<std::array<float, 256>, kDTypeCount> all{};
    for (int t = 0; t < kDTypeCount; ++t) {
      const auto dtype = static_cast<DType>(t);
      if (!is_float(dtype) || byte_size(dtype) != 1) continue;
      for (int v = 0; v < 256; ++v) {
        all[static_cast<size_t>(t)][static_cast<size_t>(v)] =
            static_cast<float>(small_float_value(dtype, static_cast<uint16_t>(v)));
      }
    }
    return all;
  }();
  return tables[static_cast<size_t>(type)].data();
}

unsigned short small_float_store(DType type, float value, bool saturate) {
  const bool small = byte_size(type) == 1;
  return small_float_bits(type, static_cast<double>(value), small && saturate ? Overflow::saturate : Overflow::ieee);
}

}  // namespace trine::codegen
