// trine build MODEL -o ENGINE
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "destination.h"
#include "model_file.h"
#include "terminal.h"

namespace trine::cli {
namespace {

struct Options {
  std::string model, output;
  BuildFlags build;
  bool json = false, verbose = false;
};

double file_bytes(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<double>(status.st_size) : 0;
}

int run(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const BuildOptions wanted = build_options(options.build);
  check_destination("--output", options.output, {options.model, options.build.timing_cache});
  refuse_engine(options.model, "build");
  const Model model = load(options.model);
  const Engine engine = build_with_progress(model, wanted, "build", options.json);
  engine.save(options.output);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.json) {
    const nlohmann::ordered_json report = {{"model", options.model},
                                           {"engine", options.output},
                                           {"nodes", model.node_count()},
                                           {"seconds", seconds},
                                           {"file_bytes", file_bytes(options.output)},
                                           {"weight_bytes", engine.weight_bytes()},
                                           {"notes", engine.notes()}};
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  if (options.verbose) fmt::print("{}\n", engine.plan_text({}, wanted.device));
  for (const std::string& note : engine.notes()) fmt::print(stderr, "note: {}\n", note);
  fmt::print("{}: {} nodes of {}, weights {}, file {}, built in {}\n", options.output, model.node_count(),
             options.model, bytes_text(static_cast<double>(engine.weight_bytes())),
             bytes_text(file_bytes(options.output)), seconds_text(seconds));
  return 0;
}

}  // namespace

std::function<int()> setup_build(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "an ONNX file")->required();
  app.add_option("-o,--output", options->output, "the engine file to write")->required();
  add_build_flags(app, options->build);
  app.add_flag("--verbose", options->verbose, "print the plan");
  app.add_flag("--json", options->json, "report as JSON");
  return [options] { return run(*options); };
}

}  // namespace trine::cli
