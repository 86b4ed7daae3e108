// Finds speech in a sound file with a small recurrent network that carries its state from window to window.
//
//   build/bin/hear_speech silero_vad.onnx speech.wav
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "media/wav.h"
#include "shared/program.h"
#include "trine/engine/session.h"

namespace {

using namespace trine;

constexpr int kRate = 16000;
constexpr size_t kWindow = 512;    // 32 ms
constexpr size_t kContext = 64;    // samples of the window before that the network sees again
constexpr float kSpeech = 0.5f;    // begins speech
constexpr float kSilence = 0.35f;  // ends it
constexpr size_t kPause = 4;       // windows of silence that end a stretch of speech

// The probability of speech in each window.
std::vector<float> hear(Session& session, const media::Sound& sound) {
  Tensor state(DType::f32, {2, 1, 128});
  std::fill_n(state.mutable_as<float>(), state.elements(), 0.0f);
  std::vector<float> padded(kContext);
  padded.insert(padded.end(), sound.samples.begin(), sound.samples.end());
  std::vector<float> probabilities;
  for (size_t at = 0; at + kContext + kWindow <= padded.size(); at += kWindow) {
    Tensor window(DType::f32, {1, kContext + kWindow});
    std::memcpy(window.mutable_data(), &padded[at], window.bytes());
    const auto out = session.run({{"input", window}, {"state", state}, {"sr", Tensor::scalar_i64(kRate)}});
    probabilities.push_back(out.at("output").tensor().as<float>()[0]);
    state = out.at("stateN").tensor();
  }
  return probabilities;
}

int run(int, char** argv) {
  Session session(examples::open(argv[1]), {.threads = 1});
  const auto probabilities = hear(session, media::resample(media::load_wav(argv[2]), kRate));
  const auto seconds = [](size_t window) { return static_cast<double>(window * kWindow) / kRate; };
  size_t begin = 0, last = 0;
  bool speaking = false;
  int stretches = 0;
  for (size_t i = 0; i <= probabilities.size(); ++i) {
    const float p = i < probabilities.size() ? probabilities[i] : 0;
    if (p >= kSpeech && !speaking) speaking = true, begin = i;
    if (p >= kSilence) last = i;
    if (speaking && (i - last > kPause || i == probabilities.size())) {
      fmt::print("speech from {:.2f} s to {:.2f} s\n", seconds(begin), seconds(last + 1));
      speaking = false;
      ++stretches;
    }
  }
  fmt::print("{} stretches of speech in {:.2f} s\n", stretches, seconds(probabilities.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return examples::program(argc, argv, 2, 2, "hear_speech MODEL SOUND.wav", run); }
