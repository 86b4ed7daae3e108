// Tiny valid models of every operator (the ONNX backend node tests), in which numbers are replaced by edge values, are
// imported, built and run. Each must succeed or throw Error, within a second of processor time.
//
//   fuzz_models DATA [--count N] [--seed S] [--first I] [--jobs P] [--only I] [--filter TEXT] [--messages FILE] [--keep
//   FILE]
//
// DATA is what onnx_backend.py wrote. Model I of a seed is the same in every run, so that the numbers [first, first +
// count) can be shared between machines; P processes share those of one. Prints each death and each slow model with the
// command that replays it, then `models: N, errors E, deaths D, over 1 s: T`. The exit status is 1 when D + T > 0.
// `--only` runs in this process, so that a debugger sees it; `--keep` writes its model; `--messages` counts the error
// messages, numbers left out.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "conformance/cases.h"
#include "conformance/data.h"
#include "conformance/isolate.h"
#include "conformance/options.h"
#include "mutate.h"
#include "trine/base/error.h"
#include "trine/engine/build.h"
#include "trine/engine/session.h"

namespace trine::fuzz {
namespace {

constexpr double kSlowSeconds = 1, kRunSeconds = 0.5;
constexpr unsigned kHangSeconds = 10;
constexpr size_t kAddressSpace = size_t{6} << 30;
constexpr const char* kMaxMemMiB = "64";

constexpr uint64_t kNone = UINT64_MAX;

struct Arguments {
  std::string program, data, filter, messages, keep;
  uint64_t count = 20000, first = 0, only = kNone, seed = std::random_device{}(), jobs = 1;
};

struct Original {
  std::string folder, bytes;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  a.program = argv[0];
  a.data = conformance::read_options(argc, argv,
                                     {{"--count", &a.count},
                                      {"--seed", &a.seed},
                                      {"--first", &a.first},
                                      {"--jobs", &a.jobs},
                                      {"--only", &a.only},
                                      {"--filter", &a.filter},
                                      {"--messages", &a.messages},
                                      {"--keep", &a.keep}});
  return a;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::vector<Original> read_originals(const Arguments& arguments) {
  std::vector<Original> originals;
  for (const conformance::Case& c : conformance::read_cases(arguments.data, arguments.filter).cases) {
    const std::string folder = arguments.data + "/" + c.name;
    originals.push_back({folder, read_file(folder + "/model.onnx")});
  }
  return originals;
}

// A tensor of these dimensions that holds the tensor's own over and over.
Tensor resized(const Tensor& t, const Dims& dims) {
  Tensor out(t.dtype(), dims);
  const size_t width = byte_size(t.dtype());
  for (int64_t i = 0; i < out.elements() && t.elements() > 0; ++i)
    std::copy_n(t.as<char>() + static_cast<size_t>(i % t.elements()) * width, width,
                out.mutable_as<char>() + static_cast<size_t>(i) * width);
  return out;
}

// One model, from file to answer.
class Trial {
 public:
  Trial(const Original& m, uint64_t seed, size_t index) : base_(m), random_(seed, index), rates_(draw_rates(random_)) {
    model_ = mutated_model(base_.bytes, rates_, random_);
    std::vector<std::string> constants;
    const std::vector<ModelInput> declared = inputs_of(base_.bytes);
    const double part = random_.chance(0.5) ? 0.5 : 0;
    for (size_t i = 0; i < declared.size(); ++i) {
      const auto& [name, is_tensor] = declared[i];
      input_paths_[name] = fmt::format("{}/0_input_{}.pb", base_.folder, i);
      if (is_tensor && random_.chance(part))
        constants.push_back(mutated_tensor(read_file(input_paths_[name]), name, rates_, random_));
    }
    model_ = with_initializers(model_, constants);
  }

  const std::string& model() const { return model_; }

  void run() {
    const Model model = load_bytes(model_.data(), model_.size());
    const bool code = random_.chance(1.0 / 64), whole = random_.chance(1.0 / 8);
    const int threads = random_.chance(1.0 / 16) ? 2 : 1;
    Engine engine = build(model, {.threads = threads, .verify = Verify::off, .code = code});
    if (whole) {
      const std::vector<uint8_t> bytes = engine.to_bytes();
      engine = Engine::from_bytes(bytes.data(), bytes.size());
    }
    Session session(engine, {.threads = threads, .max_seconds = kRunSeconds});
    std::vector<Datum> inputs;
    for (const IoInfo& io : engine.inputs()) inputs.push_back(input(io));
    session.run(inputs);
  }

 private:
  Datum input(const IoInfo& io) {
    const auto path = input_paths_.find(io.name);
    if (path == input_paths_.end()) throw Error(ErrorCode::invalid_argument, "no data for an input");
    Datum datum = conformance::read_datum(path->second, io.type);
    if (!datum.is_tensor() || datum.tensor().dtype() == DType::string) return datum;
    Tensor t = datum.tensor().clone();
    if (t.dtype() == DType::i64 || t.dtype() == DType::i32) {
      std::vector<int64_t> values = t.i64_values();
      for (int64_t& v : values)
        if (random_.chance(rates_.integers)) v = edge_integer(random_);
      t = Tensor::from_i64(t.dtype(), t.dims(), values);
    }
    const Dims dims = wanted_dims(io.type, t.dims());
    return dims == t.dims() ? t : resized(t, dims);
  }

  // Mostly what the model declares, where it is small; a symbol gets any small size.
  Dims wanted_dims(const Type& type, const Dims& have) {
    if (!type.is_tensor() || !type.shape.has_rank() || random_.chance(0.2)) return have;
    Dims dims;
    for (int i = 0; i < type.shape.rank(); ++i) {
      const Dim& d = type.shape[i];
      const bool known = static_cast<size_t>(i) < have.size();
      if (d.is_constant()) dims.push_back(d.value());
      else if (known && random_.chance(0.7)) dims.push_back(have[static_cast<size_t>(i)]);
      else dims.push_back(std::initializer_list<int64_t>{0, 1, 2, 3, 7, 17}.begin()[random_.below(6)]);
    }
    return element_count(dims) <= 65536 ? dims : have;
  }

  const Original& base_;
  Random random_;
  Rates rates_;
  std::string model_;
  std::map<std::string, std::string> input_paths_;
};

double processor_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// "ok", "error: MESSAGE"; "escaped: ..." for an exception that is no Error; "slow: ..." past the limit.
std::string outcome_of(const Original& m, const Arguments& arguments, size_t index) {
  std::string outcome = "ok";
  double begin = 0;
  try {
    Trial trial(m, arguments.seed, index);
    if (!arguments.keep.empty()) std::ofstream(arguments.keep, std::ios::binary) << trial.model();
    begin = processor_seconds();
    trial.run();
  } catch (const Error& e) {
    outcome = std::string("error: ") + e.what();
  } catch (const std::exception& e) {
    outcome = std::string("escaped: ") + e.what();
  }
  const double seconds = processor_seconds() - begin;
  return seconds > kSlowSeconds ? fmt::format("slow: {:.1f} s; {}", seconds, outcome) : outcome;
}

void limit_memory() {
  ::setenv("TRINE_MAX_MEM", kMaxMemMiB, 0);
  const rlimit limit{kAddressSpace, kAddressSpace};
  ::setrlimit(RLIMIT_AS, &limit);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void write_messages(const std::vector<std::string>& outcomes, const std::string& path) {
  std::map<std::string, size_t> counts;
  for (std::string text : outcomes) {
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '-'; }),
               text.end());
    ++counts[text];
  }
  std::ofstream out(path);
  for (const auto& [text, n] : counts) out << n << "\t" << text << "\n";
}

struct Counts {
  size_t errors = 0, deaths = 0, slow = 0;
};

// Adds what happened to the models from `first` on, and tells what is wrong.
void count_outcomes(const std::vector<std::string>& outcomes, size_t first, const std::vector<Original>& originals,
                    const Arguments& a, Counts& counts) {
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const std::string& text = outcomes[i];
    const bool slow = text.starts_with("slow") || text.starts_with("took more");
    const bool dead = text.starts_with("crashed") || text.starts_with("escaped");
    counts.errors += text.starts_with("error");
    counts.slow += slow;
    counts.deaths += dead;
    if (!slow && !dead) continue;
    const size_t index = first + i;
    const std::string filter = a.filter.empty() ? "" : fmt::format(" --filter {}", a.filter);
    fmt::print("{}: {}\n  {} {} --seed {} --only {}{}\n", originals[index % originals.size()].folder, text, a.program,
               a.data, a.seed, index, filter);
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  const std::vector<Original> originals = read_originals(arguments);
  const auto job = [&](size_t index) { return outcome_of(originals[index % originals.size()], arguments, index); };
  limit_memory();
  if (arguments.only != kNone) {
    fmt::print("{}\n", job(arguments.only));
    return 0;
  }
  fmt::print("fuzz_models: seed {}\n", arguments.seed);
  constexpr size_t kBatch = 10000;
  Counts counts;
  std::vector<std::string> kept;
  for (size_t done = 0; done < arguments.count; done += kBatch) {
    const size_t first = arguments.first + done;
    const auto outcomes = conformance::run_isolated(std::min<size_t>(kBatch, arguments.count - done), kHangSeconds,
                                                    arguments.jobs, [&](size_t i) { return job(first + i); });
    count_outcomes(outcomes, first, originals, arguments, counts);
    if (!arguments.messages.empty()) kept.insert(kept.end(), outcomes.begin(), outcomes.end());
  }
  if (!arguments.messages.empty()) write_messages(kept, arguments.messages);
  fmt::print("models: {}, errors {}, deaths {}, over 1 s: {}\n", arguments.count, counts.errors, counts.deaths,
             counts.slow);
  return counts.deaths + counts.slow > 0;
}

}  // namespace
}  // namespace trine::fuzz

int main(int argc, char** argv) {
  try {
    return trine::fuzz::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 2;
  }
}
