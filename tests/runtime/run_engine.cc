// run_engine FOLDER matching|replanned: links libtrine_rt and nothing else of Trine. Loads what make_engine wrote, runs
// it and compares with the references' result.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "trine/engine/session.h"

namespace {

trine::Tensor read(const std::string& path, trine::Dims dims) {
  trine::Tensor t(trine::DType::f32, std::move(dims));
  std::ifstream file(path, std::ios::binary);
  file.read(t.mutable_as<char>(), static_cast<std::streamsize>(t.bytes()));
  if (static_cast<size_t>(file.gcount()) != t.bytes()) std::printf("%s: too short\n", path.c_str());
  return t;
}

bool maps_library(const char* name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[1];
  const trine::Engine engine = trine::Engine::open(folder + "/engine.trn");
  const bool replanned = std::strcmp(argv[2], "replanned") == 0;
  if (engine.replanned() != replanned) {
    std::printf("replanned: %d, wanted %d\n", engine.replanned(), replanned);
    return 1;
  }
  const trine::Tensor x = read(folder + "/input.bin", {3, 3, 16, 16}), want = read(folder + "/output.bin", {3, 10});
  const trine::Datum got = trine::Session(engine, {.threads = 1}).run({trine::Datum(x)})[0];
  for (int i = 0; i < 30; ++i) {
    const float a = got.tensor().as<float>()[i], b = want.as<float>()[i];
    if (!(std::fabs(a - b) <= 1e-5f)) {
      std::printf("element %d: %g instead of %g\n", i, a, b);
      return 1;
    }
  }
  for (const char* name : {"LLVM", "libtrine.so", "protobuf"})
    if (maps_library(name)) {
      std::printf("%s is loaded\n", name);
      return 1;
    }
  std::printf("30 elements agree%s\n", replanned ? ", planned anew" : "");
  return 0;
}
