// From a trained model to an engine. In libtrine.
//
//   trine::Engine engine = trine::build(trine::load("model.onnx"), {.threads = 2});
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "trine/engine/engine.h"

namespace trine {

// A model as it was read, before any optimisation. Cheap handle; immutable.
class Model {
 public:
  const std::vector<IoInfo>& inputs() const;
  const std::vector<IoInfo>& outputs() const;
  const std::map<std::string, std::string>& metadata() const;
  int64_t opset() const;       // of the standard operators
  int64_t ir_version() const;  // of the file
  std::string graph_text() const;
  size_t node_count() const;

  // Runs the model by the operators' references: slow and exact, the oracle. `see` (may be empty) gets every value.
  std::vector<Datum> evaluate(const std::vector<Datum>& inputs,
                              const std::function<void(const std::string& value, const Datum&)>& see = {}) const;

  struct State;
  explicit Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const std::shared_ptr<const State>& state() const { return state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Reads an ONNX file. Throws Error{io, invalid_model, unsupported}; the message lists every node that is wrong or
// unsupported. External data is looked for beside the file.
Model load(const std::string& path);
Model load_bytes(const void* data, size_t size);

enum class Verify : uint8_t { off, fast, full };

// On the CPU fp32 and bf16: what convolutions and matrix products read; bf16 rounds inputs and weights to 8 significant
// bits. On devices what flows between kernels too: fp16 and bf16 store every value in 16 bits where its range allows.
// tf32: f32 products read 11 significant bits. best: fp16 or bf16, with the layers in fp32 that it takes for the
// outputs to be off by at most max_error (0: 0.01) of the largest value of each, measured on random inputs. Sums are
// f32 always.
enum class Precision : uint8_t { fp32, bf16, tf32, fp16, best };

std::string_view name(Verify verify);
std::string_view name(Precision precision);
// Nothing for a name that is none's.
std::optional<Verify> verify_from_name(std::string_view name);
std::optional<Precision> precision_from_name(std::string_view name);

struct BuildOptions {
  // Fixes or bounds input sizes: name -> dimensions ("N", "8", "1..4..32": min, likely, max).
  std::map<std::string, std::vector<std::string>> shapes;
  std::string device = "cpu";  // what kernels are chosen for and verified on: as SessionOptions::device
  int threads = 0;             // what kernels are chosen for; 0: all
  double budget_seconds = 0;  // > 0: time candidate kernels on `device` within this budget; else the cost model chooses
  std::string timing_cache;   // file of times measured earlier: they are used, and new ones are added to it
  bool deterministic = false;    // outputs have the same bits for any number of threads of build and session
  size_t workspace_bytes = 0;    // > 0: scratch memory that one kernel may ask for
  size_t max_memory_bytes = 0;   // > 0: for tensors while building, the engine's among them; smaller kernels if need be
  Verify verify = Verify::fast;  // compare each step with its reference: fast on a bounded sample, full on all
  double max_error = 0;          // tolerance factor of verification; 0: the default of each operator class. With
                                 // Precision::best: how far outputs may be off
  Precision precision = Precision::fp32;
  bool strict_fp32 = false;       // no Winograd
  bool fast = false;              // Strassen's products of large matrices: fewer digits of small results
  bool providers = true;          // on devices: vendors' libraries may compete with our kernels, where they are there
  bool code = true;               // generate machine code (needs libtrine_llvm); else loops are interpreted
  std::vector<std::string> drop;  // kernel rows that must not be used
  std::vector<std::string> skip_passes;
  // Called as work goes on: phase, done, total.
  std::function<void(const std::string& phase, int done, int total)> progress;
};

Engine build(const Model& model, const BuildOptions& options = {});

// How an engine was made, as its file remembers.
struct BuildRecord {
  BuildOptions options;  // without sizes, files and seconds: the same engine is made with and without them
  bool timed = false;    // times of kernels were measured, then or earlier; else the cost model chose
  std::map<std::string, int64_t> assumed;      // sizes of open dimensions that kernels were chosen and verified for
  std::string half;                            // what best chose: "f16", "bf16"; empty: nothing to choose
  std::optional<double> error;                 // of the outputs, as Precision::best measured it
  std::map<std::string, std::string> in_fp32;  // layers that stay so though halves were asked for, and why
};
// Nothing for an engine that `build` did not make. Throws Error{invalid_engine} for a record that cannot be read.
std::optional<BuildRecord> build_record(const Engine& engine);

// Names of the optimisation passes, in order, for bisecting.
std::vector<std::string> pass_names();

}  // namespace trine
