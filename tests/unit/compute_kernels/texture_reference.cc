#include "texture_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace trine::compute {
namespace {

double half_of(uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double magnitude = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

template <class T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double channel_of(const uint8_t* at, const TexelFormat& format) {
  if (format.kind == ChannelKind::floating)
    return format.bits == 16 ? half_of(load<uint16_t>(at)) : double{load<float>(at)};
  const bool is_signed = format.kind == ChannelKind::signed_integer;
  if (format.bits == 8) return is_signed ? load<int8_t>(at) : load<uint8_t>(at);
  if (format.bits == 16) return is_signed ? load<int16_t>(at) : load<uint16_t>(at);
  return is_signed ? static_cast<double>(load<int32_t>(at)) : static_cast<double>(load<uint32_t>(at));
}

// sRGB, IEC 61966-2-1.
double light_of(double value) { return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); }
double srgb_code(double light) { return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055; }

double fraction_of(double code, const TexelFormat& format, bool srgb) {
  const bool is_signed = format.kind == ChannelKind::signed_integer;
  const double value = std::max(-1.0, code / (std::ldexp(1, format.bits - is_signed) - 1));
  return srgb ? light_of(value) : value;
}

// Where texel `i` is read along a dimension of n; -1: the border.
int fold(int i, int n, AddressMode mode, bool normalized) {
  if (mode == AddressMode::border) return i < 0 || i >= n ? -1 : i;
  if (normalized && mode == AddressMode::wrap) return ((i % n) + n) % n;
  if (normalized && mode == AddressMode::mirror) {
    const int period = ((i % (2 * n)) + 2 * n) % (2 * n);
    return period < n ? period : 2 * n - 1 - period;
  }
  return std::clamp(i, 0, n - 1);
}

struct Weighed {
  int texel;
  double weight;
};

double in_texels(double x, int n, const Sampler& sampler, int d) {
  const AddressMode mode = sampler.address[d];
  const bool norm = sampler.normalized_coordinates;
  const bool folds = norm && (mode == AddressMode::wrap || mode == AddressMode::mirror);
  if (std::isnan(x) || (folds && (!std::isfinite(x) || std::abs(x) > 1e6))) return 0;
  return std::clamp(norm ? x * n : x, -3.0 * n - 1e6, 3.0 * n + 1e6);
}

std::vector<Weighed> along(double x, int n, const Sampler& sampler, int d) {
  const AddressMode mode = sampler.address[d];
  const bool norm = sampler.normalized_coordinates;
  const double u = in_texels(x, n, sampler, d);
  if (sampler.filter == Filter::point) return {{fold(static_cast<int>(std::floor(u)), n, mode, norm), 1}};
  const double fixed = std::floor((u - 0.5) * 256 + 0.5), low = std::floor(fixed / 256), weight = fixed / 256 - low;
  return {{fold(static_cast<int>(low), n, mode, norm), 1 - weight},
          {fold(static_cast<int>(low) + 1, n, mode, norm), weight}};
}

}  // namespace

std::vector<Texel> decoded(const std::vector<uint8_t>& bytes, const TexelFormat& format, const Sampler& sampler) {
  std::vector<Texel> all(bytes.size() / format.bytes());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = {0, 0, 0, 0};
    for (size_t c = 0; c < format.channels; ++c) {
      const double code = channel_of(bytes.data() + i * format.bytes() + c * (format.bits / 8u), format);
      const bool fraction = sampler.read == ReadMode::normalized_float && format.kind != ChannelKind::floating;
      all[i][c] = fraction ? fraction_of(code, format, sampler.srgb && c < 3) : code;
    }
  }
  return all;
}

Texel border_of(const TexelFormat& format, const Sampler& sampler) {
  Texel border;
  for (size_t c = 0; c < 4; ++c) {
    const double value = border[c] = sampler.border[c];
    if (format.kind == ChannelKind::floating || sampler.read == ReadMode::element) continue;
    double nearest = 10;
    const bool is_signed = format.kind == ChannelKind::signed_integer;
    const int codes = 1 << (format.bits - is_signed);
    for (int code = is_signed ? 1 - codes : 0; code < codes; ++code) {
      const double fraction = fraction_of(code, format, false), of = sampler.srgb && c < 3 ? srgb_code(value) : value;
      const double off = std::abs(fraction - of), before = std::abs(nearest - of);
      if (off < before - 1e-12 || (off < before + 1e-12 && std::abs(fraction) < std::abs(nearest))) nearest = fraction;
    }
    border[c] = sampler.srgb && c < 3 ? light_of(nearest) : nearest;
  }
  return border;
}

Texel reference_sample(const ReferenceImage& image, const Sampler& sampler, const double* at, int dimensions) {
  const int sizes[] = {image.width, image.height, image.depth};
  std::vector<Weighed> axis[3] = {{{0, 1}}, {{0, 1}}, {{0, 1}}};
  for (int d = 0; d < dimensions; ++d) axis[d] = along(at[d], sizes[d], sampler, d);
  Texel sum = {0, 0, 0, 0};
  for (const Weighed& z : axis[2])
    for (const Weighed& y : axis[1])
      for (const Weighed& x : axis[0]) {
        const bool border = x.texel < 0 || y.texel < 0 || z.texel < 0;
        const size_t index = (static_cast<size_t>(std::max(z.texel, 0)) * static_cast<size_t>(image.height) +
                              static_cast<size_t>(std::max(y.texel, 0))) *
                                 static_cast<size_t>(image.width) +
                             static_cast<size_t>(std::max(x.texel, 0));
        for (size_t c = 0; c < 4; ++c)
          sum[c] += x.weight * y.weight * z.weight * (border ? image.border[c] : image.texels[index][c]);
      }
  return sum;
}

bool near_edge(const ReferenceImage& image, const Sampler& sampler, const double* at, int dimensions) {
  if (sampler.filter == Filter::linear || !sampler.normalized_coordinates) return false;
  const int sizes[] = {image.width, image.height, image.depth};
  for (int d = 0; d < dimensions; ++d) {
    const double u = in_texels(at[d], sizes[d], sampler, d);
    if (std::abs(u - std::round(u)) < 1e-5 * sizes[d] * 4) return true;
  }
  return false;
}

std::vector<uint8_t> random_texels(size_t texels, const TexelFormat& format, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(texels * format.bytes());
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  if (format.kind != ChannelKind::floating) return bytes;
  // Finite numbers of one size.
  std::uniform_real_distribution<float> distribution(-100, 100);
  for (size_t i = 0; i + 1 < bytes.size(); i += format.bits / 8u) {
    const float value = distribution(random);
    const auto half = static_cast<uint16_t>((random() & 0x8000) | (random() % 0x4c00));
    if (format.bits == 32) std::memcpy(&bytes[i], &value, 4);
    else std::memcpy(&bytes[i], &half, 2);
  }
  return bytes;
}

}  // namespace trine::compute
