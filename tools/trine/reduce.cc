// trine reduce MODEL --while "CMD": the smallest part of a model on which a command still fails as it does on the
// whole.
//
// Three steps, each keeping what still fails: cut after the earliest node, cut before the latest one, then leave out
// single nodes until none can go. What a kept node reads and no kept node makes becomes an input. Inputs get the sizes
// of --shapes, so that the command need not name them, unless the failure goes away with that.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "command.h"
#include "destination.h"
#include "media/file.h"
#include "model_file.h"
#include "onnx_edit.h"
#include "terminal.h"
#include "trine/base/error.h"

namespace trine::cli {
namespace {

struct Options {
  std::string model, command, output = "reduced.onnx";
  InputFlags inputs;
  std::vector<std::string> shapes;
};

constexpr int kCannotRun = 126, kNotFound = 127;  // of a shell
constexpr size_t kMostNamed = 8;                  // nodes in the summary

// Every {} of the command is the file; without one it comes last.
std::string with_path(std::string command, const std::string& path) {
  size_t at = command.find("{}");
  if (at == std::string::npos) return command + " " + path;
  for (; at != std::string::npos; at = command.find("{}", at + path.size())) command.replace(at, 2, path);
  return command;
}

// Exit status, or 128 + signal. In brackets: what a command prints goes nowhere in each of its parts.
int status_of(const std::string& command) {
  const int status = std::system(
      fmt::format("( {}\n) >/dev/null 2>&1", command).c_str());  // NOLINT(concurrency-mt-unsafe, cert-env33-c)
  const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (result == 128 + SIGINT) throw Error(ErrorCode::invalid_argument, "reduce: interrupted; nothing was written");
  return result;
}

// Gone when reduce ends, whichever way.
struct TemporaryFile {
  explicit TemporaryFile(std::string at) : path(std::move(at)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string path;
};

std::string value_lines(const Options& options) {
  std::string lines;
  const Model model = load(options.model);
  const auto inputs = in_order(model.inputs(), inputs_for(model.inputs(), options.inputs, options.shapes).tensors);
  for (size_t i = 0; i < inputs.size(); ++i) {
    lines += fmt::format("{}\t{}\n", model.inputs()[i].name, inputs[i].tensor().type_text());
  }
  model.evaluate(inputs, [&](const std::string& name, const Datum& value) {
    if (value.is_tensor()) lines += fmt::format("{}\t{}\n", name, value.tensor().type_text());
  });
  return lines;
}

// The types that inner values have when the model runs. In a process of its own: the model may be the kind that brings
// us down. Empty when that happens: then inputs of cut models have no types.
std::map<std::string, Type> types_seen(const Options& options) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const std::string lines = value_lines(options);
      for (size_t at = 0; at < lines.size();) {
        const ssize_t wrote = ::write(ends[1], lines.data() + at, lines.size() - at);
        if (wrote <= 0) break;
        at += static_cast<size_t>(wrote);
      }
    } catch (const Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; child > 0 && (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  std::map<std::string, Type> types;
  for (size_t at = 0; at < text.size();) {
    const size_t tab = text.find('\t', at), end = text.find('\n', at);
    if (tab == std::string::npos || end == std::string::npos || tab > end) break;
    types[text.substr(at, tab - at)] = Type::parse(text.substr(tab + 1, end - tab - 1));
    at = end + 1;
  }
  return types;
}

class Reduction {
 public:
  Reduction(const Options& options, OnnxFile file)
      : options_(options), file_(std::move(file)), candidate_(options.output + ".candidate.onnx") {
    for (size_t i = 0; i < file_.nodes().size(); ++i) kept_.insert(i);
    outputs_ = file_.output_names();
    const int whole = status_of(with_path(options.command, options.model));
    check_runs(whole);
    types_ = types_seen(options);
    write(kept_, outputs_, candidate_.path);
    wanted_ = status_of(with_path(options.command, candidate_.path));
    if (wanted_ != 0) return;
    types_.clear();
    wanted_ = whole;
    if (wanted_ != 0) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--while '{}': succeeds on {}; a command that fails there is needed", options.command,
                            options.model));
  }

  void run() {
    cut_after();
    cut_before();
    leave_out();
    write(kept_, outputs_, options_.output);
  }
  // "1 of 7 nodes left (MatMul 'third'), ..."
  std::string summary() const {
    std::string left;
    for (const size_t i : kept_) {
      if (kept_.size() > kMostNamed) break;
      const OnnxNode& node = file_.nodes()[i];
      left += fmt::format("{}{} '{}'", left.empty() ? "" : ", ", node.op, node.name);
    }
    return fmt::format("{} of {} nodes left{}, still exit status {}, {} tries", kept_.size(), file_.nodes().size(),
                       left.empty() ? "" : fmt::format(" ({})", left), wanted_, tries_);
  }

 private:
  void check_runs(int status) const {
    if (status != kNotFound && status != kCannotRun) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--while '{}': exit status {}, the shell {}; give a command that runs, with {{}} for the model",
                    options_.command, status, status == kNotFound ? "does not find it" : "cannot run it"));
  }

  void write(const std::set<size_t>& keep, const std::set<std::string>& outputs, const std::string& path) {
    const std::string bytes = file_.cut(keep, outputs, types_);
    media::write_file(path, std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  }

  bool still_fails(const std::set<size_t>& keep, const std::set<std::string>& outputs) {
    if (keep.empty() || outputs.empty()) return false;
    write(keep, outputs, candidate_.path);
    ++tries_;
    progress_.update(1 - static_cast<double>(kept_.size()) / static_cast<double>(file_.nodes().size()),
                     fmt::format("{} nodes, {} tries", kept_.size(), tries_));
    return status_of(with_path(options_.command, candidate_.path)) == wanted_;
  }

  bool take(const std::set<size_t>& keep, const std::set<std::string>& outputs) {
    if (!still_fails(keep, outputs)) return false;
    kept_ = keep;
    outputs_ = outputs;
    return true;
  }

  // What makes `outputs`, among the kept nodes.
  std::set<size_t> ancestors(const std::set<std::string>& outputs) const {
    std::set<std::string> wanted(outputs);
    std::set<size_t> keep;
    for (auto i = kept_.rbegin(); i != kept_.rend(); ++i) {
      const OnnxNode& node = file_.nodes()[*i];
      const bool needed =
          std::any_of(node.outputs.begin(), node.outputs.end(), [&](const auto& o) { return wanted.contains(o); });
      if (!needed) continue;
      keep.insert(*i);
      wanted.insert(node.inputs.begin(), node.inputs.end());
    }
    return keep;
  }

  // Halving: the earliest node whose outputs, as the model's, still fail; what halving misses, leave_out finds.
  void cut_after() {
    const std::vector<size_t> order(kept_.begin(), kept_.end());
    size_t lo = 0, hi = order.size();
    while (lo < hi) {
      const size_t middle = (lo + hi) / 2;
      const auto& made = file_.nodes()[order[middle]].outputs;
      const std::set<std::string> outputs(made.begin(), made.end());
      if (take(ancestors(outputs), outputs)) hi = middle;
      else lo = middle + 1;
    }
  }

  // The latest node from which on the rest still fails.
  void cut_before() {
    const std::vector<size_t> order(kept_.begin(), kept_.end());
    size_t lo = 0, hi = order.size();
    while (lo + 1 < hi) {
      const size_t middle = (lo + hi) / 2;
      const std::set<size_t> keep(order.begin() + static_cast<std::ptrdiff_t>(middle), order.end());
      if (take(keep, outputs_)) lo = middle;
      else hi = middle;
    }
  }

  void leave_out() {
    for (bool smaller = true; smaller;) {
      smaller = false;
      const std::vector<size_t> order(kept_.rbegin(), kept_.rend());
      for (const size_t i : order) {
        std::set<size_t> keep(kept_);
        keep.erase(i);
        std::set<std::string> outputs(outputs_);
        for (const std::string& o : file_.nodes()[i].outputs) outputs.erase(o);
        smaller = take(keep, outputs) || smaller;
      }
    }
  }

  const Options& options_;
  OnnxFile file_;
  TemporaryFile candidate_;
  std::map<std::string, Type> types_;
  int wanted_ = 0;  // the exit status to keep
  std::set<size_t> kept_;
  std::set<std::string> outputs_;
  Progress progress_{"reduce"};
  int tries_ = 0;
};

int run(const Options& options) {
  check_destination("--output", options.output, {options.model});
  refuse_engine(options.model, "reduce");
  OnnxFile file = OnnxFile::parse(media::read_file(options.model), options.model);
  const auto folder = [](const std::string& path) { return std::filesystem::absolute(path).parent_path(); };
  if (file.has_external_data() && folder(options.model) != folder(options.output)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("-o {}: {} keeps weights in other files; write beside it", options.output, options.model));
  }
  Reduction reduction(options, std::move(file));
  reduction.run();
  fmt::print("{}: {}\n", options.output, reduction.summary());
  return 0;
}

}  // namespace

std::function<int()> setup_reduce(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "an ONNX file")->required();
  app.add_option("--while", o->command,
                 "shell command that fails on the model; each {} is replaced by the file, without one it comes last")
      ->required();
  app.add_option("-o,--output", o->output, "the smallest model that fails with the same exit status")
      ->capture_default_str();
  app.add_option("--shapes", o->shapes, "sizes of an input: NAME=1x3x224x224");
  add_input_flags(app, o->inputs);
  return [o] { return run(*o); };
}

}  // namespace trine::cli
