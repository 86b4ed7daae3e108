// MODEL|ENGINE arguments: what a path holds, and the flags that say how a model becomes an engine.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "inputs.h"
#include "trine/engine/build.h"

namespace trine::cli {

struct BuildFlags {
  std::string device = "cpu";
  std::string precision = "fp32";
  std::vector<std::string> shapes;
  int threads = 0;
  double budget_seconds = 0;
  std::string timing_cache;
  double workspace_mib = 0, max_mem_mib = 0;
  bool deterministic = false;
  double max_error = 0;
  std::string verify = "fast";
  std::string providers = "all";
  bool strict_fp32 = false;
  bool fast = false;
  bool no_code = false;
  std::vector<std::string> drop, skip;
  std::vector<const CLI::Option*> for_building;  // those that an engine, being built, cannot follow
};
void add_build_flags(CLI::App& app, BuildFlags& flags);
// Throws Error for a device or precision that is not there.
BuildOptions build_options(const BuildFlags& flags);

// Throws Error{invalid_argument} when flags that only a build follows are given, and `why` nothing is built.
void refuse_build_flags(const BuildFlags& flags, const std::string& why, const std::string& advice = "");

// By the file's first bytes, not its name.
bool is_engine_file(const std::string& path);
// Throws Error{invalid_argument} for an engine where `command` needs a model.
void refuse_engine(const std::string& path, const std::string& command);
// Opens an engine, or builds one from a model, showing progress on stderr; prints the engine's notes there too.
Engine open_or_build(const std::string& path, const BuildFlags& flags, bool quiet = false);
// What running it takes; nothing where these sizes of its symbols do not fit together.
std::optional<EngineMemory> memory_of(const Engine& engine, const std::map<std::string, int64_t>& sizes,
                                      const std::string& device = "cpu");
// On stderr.
void print_notes(const std::vector<std::string>& notes, bool quiet);
Engine build_with_progress(const Model& model, const BuildOptions& options, const std::string& title,
                           bool quiet = false);

// --input, --shapes, --mean, --std, --letterbox, --crop, --scale, --bgr, --seed.
struct InputFlags {
  std::vector<std::string> specs;
  std::vector<float> mean, std;
  double scale = 1.0 / 255;
  bool letterbox = false, crop = false, bgr = false;
  uint64_t seed = 1;
};
void add_input_flags(CLI::App& app, InputFlags& flags);
void check_input_flags(const InputFlags& flags);  // what can be known before the model is read
// `metadata`: an engine's, with the ranges it was built for.
Inputs inputs_for(const std::vector<IoInfo>& declared, const InputFlags& flags, const std::vector<std::string>& shapes,
                  const std::map<std::string, std::string>& metadata = {});

std::map<std::string, Datum> as_data(const std::map<std::string, Tensor>& tensors);
std::vector<Datum> in_order(const std::vector<IoInfo>& declared, const std::map<std::string, Tensor>& tensors);

}  // namespace trine::cli
