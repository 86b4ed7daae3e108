#include "model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "terminal.h"
#include "trine/base/error.h"
#include "trine/engine/ranges.h"
#include "usage.h"

namespace trine::cli {
namespace {

// At least a byte: 0 stands for no limit.
size_t bytes_of(double mebibytes) {
  return mebibytes > 0 ? static_cast<size_t>(std::clamp(mebibytes * (1 << 20), 1.0, 0x1p62)) : 0;
}

std::array<float, 3> three(const std::vector<float>& values, float otherwise, const char* flag) {
  if (values.empty()) return {otherwise, otherwise, otherwise};
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() == 3) return {values[0], values[1], values[2]};
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: {} numbers; one, or three for red, green and blue", flag, values.size()));
}

bool names_device(std::string_view text) {
  if (text == "cpu" || text == "simt") return true;
  if (!text.starts_with("cuda:")) return false;
  const std::string_view number = text.substr(5);
  return !number.empty() && number.size() < 4 && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void add_build_flags(CLI::App& app, BuildFlags& flags) {
  app.add_option("--device", flags.device, "where it runs: cpu, cuda:0, or simt: the kernels of a GPU on this CPU")
      ->capture_default_str();
  app.add_option("--precision", flags.precision, "what is computed with: fp32, bf16; on devices also tf32, fp16, best")
      ->capture_default_str();
  app.add_option("--shapes", flags.shapes, "sizes of an input: NAME=1x3x224x224 or NAME=1..8..32x3x224x224")
      ->allow_extra_args(false);
  app.add_option("--threads", flags.threads, "threads to choose kernels for and run with; 0: all")
      ->check(CLI::Range(0, 1024));
  const size_t before = app.get_options().size();
  app.add_option("--budget", flags.budget_seconds, "seconds to spend timing kernels; 0: a cost model chooses")
      ->check(at_least_zero);
  app.add_option("--timing-cache", flags.timing_cache,
                 "file of measured times: read, and what --budget measures is added");
  app.add_option("--workspace", flags.workspace_mib, "MiB of scratch memory that one kernel may use; 0: any")
      ->check(at_least_zero);
  app.add_option("--max-mem", flags.max_mem_mib, "MiB for tensors while building, the engine's own included; 0: any")
      ->check(at_least_zero);
  app.add_flag("--deterministic", flags.deterministic, "the same bits for any number of threads");
  app.add_option("--verify", flags.verify, "compare every step with its reference")
      ->check(CLI::IsMember({"off", "fast", "full"}))
      ->capture_default_str();
  app.add_option("--max-error", flags.max_error, "tolerance of verification and comparison")->check(at_least_zero);
  app.add_option("--providers", flags.providers, "vendors' libraries that may compete on devices")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  app.add_flag("--strict-fp32", flags.strict_fp32, "no Winograd convolutions");
  app.add_flag("--fast", flags.fast,
               "Strassen's products of large matrices: small results beside large ones lose digits");
  app.add_flag("--no-code", flags.no_code, "no machine code generation: loops are interpreted");
  app.add_option("--drop", flags.drop, "kernel rows that must not be used")->delimiter(',');
  app.add_option("--skip", flags.skip, "optimisation passes to leave out")->delimiter(',');
  const auto options = std::as_const(app).get_options();
  flags.for_building.assign(options.begin() + static_cast<std::ptrdiff_t>(before), options.end());
}

void refuse_build_flags(const BuildFlags& flags, const std::string& why, const std::string& advice) {
  std::string given, verb = "says";
  for (const CLI::Option* option : flags.for_building) {
    if (option->count() == 0) continue;
    if (!given.empty()) verb = "say";
    given += (given.empty() ? "" : ", ") + option->get_name();
  }
  if (given.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: {} how to build, and {}; {}", given, verb, why,
                          !advice.empty()
                              ? advice
                              : "give the ONNX file, or make an engine with trine build MODEL -o ENGINE and " + given));
}

BuildOptions build_options(const BuildFlags& flags) {
  if (!names_device(flags.device))
    throw Error(ErrorCode::device,
                fmt::format("--device {}: no such device; accepted: cpu, simt, cuda:N", flags.device));
  const auto precision = precision_from_name(flags.precision);
  if (!precision) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("--precision {}: not in this version; accepted: fp32, bf16, and on devices tf32, fp16, best",
                    flags.precision));
  }
  BuildOptions options;
  options.device = flags.device;
  options.precision = *precision;
  for (const auto& [name, dims] : parse_shapes(flags.shapes)) {
    for (const DimRange& d : dims) {
      options.shapes[name].push_back(d.min == d.max ? fmt::format("{}", d.opt)
                                                    : fmt::format("{}..{}..{}", d.min, d.opt, d.max));
    }
  }
  options.threads = flags.threads;
  options.budget_seconds = flags.budget_seconds;
  options.timing_cache = flags.timing_cache;
  options.workspace_bytes = bytes_of(flags.workspace_mib);
  options.max_memory_bytes = bytes_of(flags.max_mem_mib);
  options.deterministic = flags.deterministic;
  options.verify = verify_from_name(flags.verify).value();  // the option takes no other
  options.max_error = flags.max_error;
  options.strict_fp32 = flags.strict_fp32;
  options.fast = flags.fast;
  options.providers = flags.providers == "all";
  options.code = !flags.no_code;
  options.drop = flags.drop;
  options.skip_passes = flags.skip;
  return options;
}

bool is_engine_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // opening a pipe would wait for its writer
  std::ifstream file(path, std::ios::binary);
  char magic[8] = {};
  file.read(magic, sizeof magic);
  return file.gcount() == sizeof magic && std::memcmp(magic, "TRINE\r\n\x1a", sizeof magic) == 0;
}

void refuse_engine(const std::string& path, const std::string& command) {
  if (!is_engine_file(path)) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: {} is an engine file already, which run, bench, inspect and compare take; give the ONNX file "
                  "that it was built from",
                  command, path));
}

Engine build_with_progress(const Model& model, const BuildOptions& wanted, const std::string& title, bool quiet) {
  Progress progress(title, quiet);
  BuildOptions options = wanted;
  options.progress = [&](const std::string& phase, int done, int total) {
    progress.update(total > 0 ? static_cast<double>(done) / total : 0, phase);
  };
  return build(model, options);
}

std::optional<EngineMemory> memory_of(const Engine& engine, const std::map<std::string, int64_t>& sizes,
                                      const std::string& device) {
  try {
    return engine.memory(sizes, device);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Engine open_or_build(const std::string& path, const BuildFlags& flags, bool quiet) {
  const bool ready = is_engine_file(path);
  if (ready) refuse_build_flags(flags, path + " is an engine, built already");
  const Engine engine =
      ready ? Engine::open(path) : build_with_progress(load(path), build_options(flags), "build", quiet);
  if (ready) build_options(flags);  // refuses a device or precision that is not there
  print_notes(engine.notes(), quiet);
  return engine;
}

void print_notes(const std::vector<std::string>& notes, bool quiet) {
  for (const std::string& note : notes)
    if (!quiet) fmt::print(stderr, "note: {}\n", note);
}

void add_input_flags(CLI::App& app, InputFlags& flags) {
  app.add_option("-i,--input", flags.specs, "NAME=file.npy, a .jpg or .png, rand, rand:SEED, a number or [1,2,3]")
      ->allow_extra_args(false);  // else CLI11 takes brackets for a list of its own, and what follows for more values
  app.add_option("--mean", flags.mean, "of pictures, in [0, 1]: one number or r,g,b")->delimiter(',');
  app.add_option("--std", flags.std, "of pictures, in [0, 1]: one number or r,g,b")->delimiter(',');
  app.add_option("--scale", flags.scale, "from pixel to value")->capture_default_str();
  auto* letterbox = app.add_flag("--letterbox", flags.letterbox, "fit the whole picture, padded with grey");
  app.add_flag("--crop", flags.crop, "fill with the middle of the picture")->excludes(letterbox);
  app.add_flag("--bgr", flags.bgr, "the network takes blue, green, red");
  app.add_option("--seed", flags.seed, "of random inputs")->capture_default_str();
}

void check_input_flags(const InputFlags& flags) {
  for (const float v : three(flags.std, 1, "--std")) {
    if (v == 0 || !std::isfinite(v)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--std: {}; pictures are divided by it: numbers but 0 are accepted", v));
    }
  }
  three(flags.mean, 0, "--mean");
}

Inputs inputs_for(const std::vector<IoInfo>& declared, const InputFlags& flags, const std::vector<std::string>& shapes,
                  const std::map<std::string, std::string>& metadata) {
  InputOptions options;
  options.likely = with_likely(stored_ranges(metadata));
  options.specs = flags.specs;
  options.shapes = shapes;
  check_input_flags(flags);
  options.normalise = {.mean = three(flags.mean, 0, "--mean"),
                       .std = three(flags.std, 1, "--std"),
                       .scale = static_cast<float>(flags.scale),
                       .bgr = flags.bgr};
  options.fit = flags.letterbox ? media::FitMode::letterbox
                : flags.crop    ? media::FitMode::crop
                                : media::FitMode::stretch;
  options.seed = flags.seed;
  return make_inputs(declared, options);
}

std::map<std::string, Datum> as_data(const std::map<std::string, Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

std::vector<Datum> in_order(const std::vector<IoInfo>& declared, const std::map<std::string, Tensor>& tensors) {
  std::vector<Datum> data;
  for (const IoInfo& info : declared) data.emplace_back(tensors.at(info.name));
  return data;
}

}  // namespace trine::cli
