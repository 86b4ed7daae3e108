#include "media/wav.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "media/file.h"
#include "trine/base/error.h"

namespace trine::media {
namespace {

constexpr size_t kChunkHeader = 8;

struct Format {
  int coding = 0, channels = 0, rate = 0, bits = 0;
};

uint32_t little(const uint8_t* at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint32_t{at[i]} << (8 * i);
  return value;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: {}; a RIFF WAVE file of 16-bit samples is needed", path, what));
}

std::vector<float> mixed(const uint8_t* data, size_t bytes, int channels) {
  const size_t frame = 2 * static_cast<size_t>(channels);
  std::vector<float> samples(bytes / frame);
  for (size_t i = 0; i < samples.size(); ++i) {
    int sum = 0;
    for (int c = 0; c < channels; ++c)
      sum += static_cast<int16_t>(little(data + i * frame + 2 * static_cast<size_t>(c), 2));
    samples[i] = static_cast<float>(sum) / (32768.0f * static_cast<float>(channels));
  }
  return samples;
}

}  // namespace

Sound load_wav(const std::string& path) {
  const auto bytes = read_file(path);
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "RIFF", 4) != 0 || std::memcmp(&bytes[8], "WAVE", 4) != 0) {
    fail(path, "no RIFF header");
  }
  Format format;
  for (size_t at = 12; at + kChunkHeader <= bytes.size();) {
    const uint8_t* chunk = &bytes[at];
    const size_t left = bytes.size() - at - kChunkHeader;
    const size_t size = std::min<size_t>(little(chunk + 4, 4), left);  // a stream's header gives no true size
    if (std::memcmp(chunk, "fmt ", 4) == 0 && size >= 16) {
      format = {static_cast<int>(little(chunk + 8, 2)), static_cast<int>(little(chunk + 10, 2)),
                static_cast<int>(little(chunk + 12, 4)), static_cast<int>(little(chunk + 22, 2))};
    } else if (std::memcmp(chunk, "data", 4) == 0) {
      if (format.coding != 1 || format.bits != 16 || format.channels < 1 || format.channels > 64 || format.rate < 1) {
        fail(path, fmt::format("coding {}, {} bits, {} channels", format.coding, format.bits, format.channels));
      }
      return {format.rate, mixed(chunk + kChunkHeader, size, format.channels)};
    }
    at += kChunkHeader + size + size % 2;
  }
  fail(path, "no data");
}

Sound resample(const Sound& sound, int rate) {
  if (sound.rate == rate || sound.samples.empty()) return {rate, sound.samples};
  const double step = static_cast<double>(sound.rate) / rate;
  Sound out{rate, std::vector<float>(static_cast<size_t>(static_cast<double>(sound.samples.size()) / step))};
  const auto last = static_cast<double>(sound.samples.size() - 1);
  const auto value_at = [&](double at) {
    at = std::clamp(at, 0.0, last);
    const auto below = static_cast<size_t>(at);
    const size_t above = std::min(below + 1, sound.samples.size() - 1);
    const double part = at - static_cast<double>(below);
    return sound.samples[below] * (1 - part) + sound.samples[above] * part;
  };
  const int taps = std::max(1, static_cast<int>(std::ceil(step)));
  for (size_t i = 0; i < out.samples.size(); ++i) {
    double sum = 0;
    for (int t = 0; t < taps; ++t) sum += value_at((static_cast<double>(i) + (t + 0.5) / taps) * step - 0.5);
    out.samples[i] = static_cast<float>(sum / taps);
  }
  return out;
}

}  // namespace trine::media
