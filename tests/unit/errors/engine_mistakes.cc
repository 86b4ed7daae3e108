// Build options that do not fit the model, engine files that are damaged, and runs given what the engine does not take.
#include <cstring>
#include <fstream>

#include "engine/build/model_state.h"
#include "provoke.h"
#include "trine/base/cpu.h"
#include "trine/engine/session.h"

namespace trine::test {
namespace {

constexpr const char* kText = R"(graph(%x: f32[N,4], %s: i64[N]) {
  %w: f32[4,3] = const f32[4,3] random(1)
  %m = matmul %x %w
  %y = gather %m %s
  return %y
})";

// Names of kernels are in the file, whose size is in a message.
struct BaselineCpu {
  BaselineCpu() { limit_cpu_level(CpuLevel::baseline); }
  ~BaselineCpu() { limit_cpu_level(std::nullopt); }
};

Engine engine_with(const BuildOptions& options) {
  auto state = std::make_shared<Model::State>();
  const auto graph = std::make_shared<const Graph>(Graph::parse(kText));
  for (ValueId id : graph->inputs) state->inputs.push_back({graph->value(id).name, graph->type(id)});
  state->graph = graph;
  return build(Model(std::move(state)), options);
}

Engine engine(const std::map<std::string, std::vector<std::string>>& shapes = {}) {
  const BaselineCpu same_everywhere;
  return engine_with({.shapes = shapes, .threads = 1, .code = false});
}

std::function<void()> built(const std::map<std::string, std::vector<std::string>>& shapes) {
  return [=] { engine(shapes); };
}

Tensor ones(DType type, const Dims& dims) {
  return Tensor::from_f64(type, dims, std::vector<double>(static_cast<size_t>(element_count(dims)), 1));
}

std::function<void()> run(const std::map<std::string, Datum>& inputs) {
  return [=] { Session(engine(), {.threads = 1}).run(inputs); };
}

// The engine's bytes after `damage`.
std::function<void()> opened(const std::function<void(std::vector<uint8_t>&)>& damage) {
  return [=] {
    std::vector<uint8_t> bytes = engine().to_bytes();
    damage(bytes);
    Engine::from_bytes(bytes.data(), bytes.size());
  };
}

void flip_metadata(std::vector<uint8_t>& bytes) {
  uint64_t offset;
  std::memcpy(&offset, &bytes[16], 8);
  bytes[offset + 20] ^= 1;
}

}  // namespace

std::vector<Mistake> engine_mistakes() {
  const Datum x = ones(DType::f32, {2, 4}), s = Tensor::vector_i64({0, 1});
  return {
      {"build.shapes_unknown_input", built({{"z", {"1", "4"}}})},
      {"build.shapes_rank", built({{"x", {"1", "4", "4"}}})},
      {"build.shapes_fixed", built({{"x", {"1", "5"}}})},
      {"build.shapes_fixed_range", built({{"x", {"1", "1..5"}}})},
      {"build.shapes_no_range", built({{"x", {"8..1", "4"}}})},
      {"build.shapes_no_size", built({{"x", {"1..many", "4"}}})},
      {"build.shapes_no_name", built({{"x", {"1x3", "4"}}})},
      {"build.shapes_symbol_twice", built({{"s", {"3"}}, {"x", {"2", "4"}}})},
      {"build.threads", [] { engine_with({.threads = -1}); }},
      {"build.drop", [] { engine_with({.drop = {"nosuch"}}); }},
      {"run.range",
       [] {
         const Engine bounded = engine({{"x", {"1..2..4", "4"}}});
         Session(bounded, {.threads = 1}).run({{"x", ones(DType::f32, {5, 4})}, {"s", Tensor::vector_i64({0})}});
       }},
      {"build.deterministic", [] { engine_with({.budget_seconds = 1, .deterministic = true}); }},
      {"build.timing_cache_foreign",
       [] {
         std::ofstream("timings.txt") << "my thesis\n";
         engine_with({.timing_cache = "timings.txt"});
       }},
      {"build.timing_cache_folder", [] { engine_with({.timing_cache = "."}); }},
      {"engine.no_file", [] { Engine::open("missing.trn"); }},
      {"engine.folder", [] { Engine::open("."); }},
      {"engine.empty_file",
       [] {
         std::ofstream("empty.trn").flush();
         Engine::open("empty.trn");
       }},
      {"engine.no_bytes", [] { Engine::from_bytes("", 0); }},
      {"engine.foreign", [] { Engine::from_bytes("ftrtabcdefghijkl", 16); }},
      {"engine.truncated", opened([](std::vector<uint8_t>& b) { b.resize(1000); })},
      {"engine.version", opened([](std::vector<uint8_t>& b) { b[8] = 77; })},
      {"engine.header", opened([](std::vector<uint8_t>& b) { b[24] ^= 1; })},
      {"engine.metadata", opened(flip_metadata)},
      {"engine.weights", opened([](std::vector<uint8_t>& b) { b[64] ^= 1; })},
      {"engine.save_nowhere", [] { engine().save("no/such/folder/m.trn"); }},
      {"session.threads", [] { Session(engine(), {.threads = -1}); }},
      {"run.missing_input", run({{"x", x}})},
      {"run.unknown_input", run({{"x", x}, {"s", s}, {"image", x}})},
      {"run.dtype", run({{"x", ones(DType::f64, {2, 4})}, {"s", s}})},
      {"run.rank", run({{"x", ones(DType::f32, {4})}, {"s", s}})},
      {"run.size", run({{"x", ones(DType::f32, {2, 5})}, {"s", s}})},
      {"run.symbol_twice", run({{"x", ones(DType::f32, {3, 4})}, {"s", s}})},
      {"run.no_tensor", run({{"x", Datum()}, {"s", s}})},
      {"run.input_count", [=] { Session(engine(), {.threads = 1}).run(std::vector<Datum>{x}); }},
      {"run.index", run({{"x", x}, {"s", Tensor::vector_i64({0, 2})}})},
  };
}

}  // namespace trine::test
