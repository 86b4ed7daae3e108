// Engine: an optimised model, ready to run. In libtrine_rt: needs neither importer nor code generator.
//
//   trine::Engine engine = trine::Engine::open("resnet50.trn");
//   trine::Session session(engine, {.threads = 2});
//   auto outputs = session.run({{"input", image}});
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trine/base/tensor.h"

namespace trine {

// An input or output of a model: sizes are numbers or named symbols.
struct IoInfo {
  std::string name;
  Type type;
};

// What a session needs in memory beside the program itself.
struct EngineMemory {
  size_t weights = 0;      // as the kernels read them: packed, where they want that
  size_t activations = 0;  // values between steps, and the largest scratch memory of a step
};

// Cheap handle to an immutable engine; copies share it. All members may be called from any thread.
class Engine {
 public:
  // Maps the file (it must stay unchanged while the engine is in use). Checksums and structure are verified before
  // anything is believed. A plan for another CPU or version is made anew from the portable graph; notes() says so. One
  // for a device is left for sessions on it; elsewhere they choose kernels when these first run.
  // Throws Error{io} or Error{invalid_engine}.
  static Engine open(const std::string& path);
  // As open, for a file held in memory; `data` is copied.
  static Engine from_bytes(const void* data, size_t size);

  // Writes the file in one piece: a reader finds the old one or the new one. The same engine gives the same bytes.
  void save(const std::string& path) const;
  std::vector<uint8_t> to_bytes() const;

  const std::vector<IoInfo>& inputs() const;
  const std::vector<IoInfo>& outputs() const;
  const std::map<std::string, std::string>& metadata()
      const;                                      // of the model: producer, author's key-value pairs; ours: trine.*
  const std::vector<std::string>& notes() const;  // what opening or building found worth saying
  bool replanned() const;                         // the file held no plan for this machine

  // Runs the graph by the operators' references: slow and exact, what a session's results are held to. `see` (may be
  // empty) gets every value. Inputs and outputs in the engine's order.
  std::vector<Datum> evaluate(const std::vector<Datum>& inputs,
                              const std::function<void(const std::string& value, const Datum&)>& see = {}) const;

  // Text for people: the optimised graph, and a table of the steps for `sizes` of the inputs' symbols ("N" = 8) on a
  // device, as SessionOptions names it.
  std::string graph_text() const;
  std::string plan_text(const std::map<std::string, int64_t>& sizes = {}, const std::string& device = "cpu") const;
  std::string memory_text(const std::map<std::string, int64_t>& sizes = {}, const std::string& device = "cpu") const;
  size_t weight_bytes() const;  // as the model has them
  EngineMemory memory(const std::map<std::string, int64_t>& sizes = {}, const std::string& device = "cpu") const;

  struct State;  // engine/engine_state.h
  explicit Engine(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const std::shared_ptr<const State>& state() const { return state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace trine
