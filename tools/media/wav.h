// Sound files: RIFF WAVE with 16-bit samples, as one channel of numbers in [-1, 1).
#pragma once

#include <string>
#include <vector>

namespace trine::media {

struct Sound {
  int rate = 0;  // samples per second
  std::vector<float> samples;
};

// Channels are averaged. Throws Error: io, or invalid_argument when it is no such file or ends too early.
Sound load_wav(const std::string& path);

// Linear between neighbours, averaging over one output step first when that is longer: enough for speech.
Sound resample(const Sound& sound, int rate);

}  // namespace trine::media
