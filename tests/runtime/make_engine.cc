// make_engine FOLDER: builds a small network with machine code and writes engine.trn, input.bin and output.bin (what
// the references say), for a program that links libtrine_rt alone.
#include <cstdio>
#include <fstream>
#include <random>

#include "engine/build/model_state.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "trine/engine/build.h"

namespace {

constexpr const char* kNetwork = R"(graph(%x: f32[N,3,16,16]) {
  %w: f32[16,3,3,3] = const f32[16,3,3,3] random(1)
  %b: f32[16] = const f32[16] random(2)
  %d: f32[16,1,3,3] = const f32[16,1,3,3] random(3)
  %m: f32[16,10] = const f32[16,10] random(4)
  %axes: i64[2] = const i64[2]{2,3}
  %c: f32[N,16,16,16] = conv %x %w %b {pads=[1,1,1,1]}
  %s: f32[N,16,16,16] = sigmoid %c
  %a: f32[N,16,16,16] = mul %c %s
  %e: f32[N,16,16,16] = conv %a %d {pads=[1,1,1,1], group=16}
  %t: f32[N,16,16,16] = tanh %e
  %r: f32[N,16,16,16] = add %t %a
  %p: f32[N,16,1,1] = global_average_pool %r
  %q: f32[N,16] = squeeze %p %axes
  %l: f32[N,10] = matmul %q %m
  %y: f32[N,10] = softmax %l {axis=-1}
  return %y
})";

void write(const std::string& path, const trine::Tensor& t) {
  std::ofstream(path, std::ios::binary).write(t.as<char>(), static_cast<std::streamsize>(t.bytes()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  auto state = std::make_shared<trine::Model::State>();
  auto graph = std::make_shared<trine::Graph>(trine::Graph::parse(kNetwork));
  trine::infer_shapes(*graph);
  state->graph = graph;
  state->inputs = {{"x", graph->type(graph->inputs[0])}};
  state->outputs = {{"y", graph->type(graph->outputs[0])}};
  const trine::Model model(state);
  trine::build(model, {.threads = 1}).save(folder + "/engine.trn");
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::vector<double> values(3 * 3 * 16 * 16);
  for (double& v : values) v = normal(random);
  const trine::Tensor x = trine::Tensor::from_f64(trine::DType::f32, {3, 3, 16, 16}, values);
  write(folder + "/input.bin", x);
  write(folder + "/output.bin", model.evaluate({x})[0].tensor());
  return 0;
}
