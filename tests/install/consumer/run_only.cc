// Runs the engine at argv[1] with nothing but libtrine_rt.
#include <cstdio>

#include "trine/engine/session.h"

int main(int, char** argv) {
  trine::Session session(trine::Engine::open(argv[1]));
  const auto x = trine::Tensor::from_f64(trine::DType::f32, {3}, {4, -5, 6});
  const trine::Tensor y = session.run({{"x", x}}).at("y").tensor();
  std::printf("%g %g %g\n", y.as<float>()[0], y.as<float>()[1], y.as<float>()[2]);
}
