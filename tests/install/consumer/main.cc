// A program of somebody else: makes an engine of a model and writes it to argv[1].
#include <cstdio>

#include "trine/engine/build.h"
#include "trine/engine/session.h"

// ONNX: y = relu(x), both 3 floats.
constexpr char kModel[] =
    "\x08\x08\x42\x04\x0a\x00\x10\x0d\x3a\x33\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu\x12\x01g"
    "\x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x03"
    "\x62\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x03";

int main(int, char** argv) {
  const trine::Engine engine = trine::build(trine::load_bytes(kModel, sizeof kModel - 1));
  engine.save(argv[1]);
  trine::Session session(engine);
  const auto x = trine::Tensor::from_f64(trine::DType::f32, {3}, {-1, 0, 2});
  const trine::Tensor y = session.run({{"x", x}}).at("y").tensor();
  std::printf("%g %g %g\n", y.as<float>()[0], y.as<float>()[1], y.as<float>()[2]);
}
