// trine profile: runs a program with TRINE_PROFILE, and shows the table of what it recorded.
#include "trine/compute/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "command.h"
#include "destination.h"
#include "profile_report.h"
#include "trine/base/error.h"
#include "trine/base/replace_file.h"

extern char** environ;

namespace trine::cli {
namespace {

namespace fs = std::filesystem;

struct ProfileFlags {
  std::string trace, report = "-", format = "table";
  int64_t events = 262'144;
  bool paused = false;
};

// Each process of the program writes a file here.
class TraceFolder {
 public:
  TraceFolder() {
    std::string name = (fs::temp_directory_path() / "trine-profile-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(ErrorCode::io, "profile: cannot make a folder in " + name);
    path_ = name;
  }
  ~TraceFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  std::string pattern() const { return (path_ / "%p.json").string(); }

  std::vector<std::string> traces() const {
    std::vector<std::string> texts;
    std::vector<fs::path> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) {
      std::ifstream file(name, std::ios::binary);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
  }

 private:
  fs::path path_;
};

// The keys at the terminal are the program's: it ends, and what it recorded is shown.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts() : before_(signal(SIGINT, SIG_IGN)) {}
  ~IgnoreInterrupts() { signal(SIGINT, before_); }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

 private:
  void (*before_)(int);
};

std::vector<std::string> environment(const ProfileFlags& flags, const TraceFolder& folder) {
  std::vector<std::string> variables;
  for (char** v = environ; *v; ++v)
    if (!std::string_view(*v).starts_with("TRINE_PROFILE")) variables.emplace_back(*v);
  variables.push_back("TRINE_PROFILE=" + folder.pattern());
  variables.push_back(fmt::format("TRINE_PROFILE_EVENTS={}", flags.events));
  if (flags.paused) variables.emplace_back("TRINE_PROFILE_PAUSED=1");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// The program's exit status; 128 and the signal when one ended it.
int run_program(std::vector<std::string> words, std::vector<std::string> variables) {
  const std::vector<char*> arguments = pointers(words), named = pointers(variables);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const IgnoreInterrupts ignore;
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), named.data());
  posix_spawnattr_destroy(&attributes);
  if (error)
    throw Error(ErrorCode::io,
                fmt::format("profile: cannot run {} ({}); give a program", words[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  replace_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

int run_profile(const ProfileFlags& flags, const std::vector<std::string>& words) {
  if (words.empty()) throw Error(ErrorCode::invalid_argument, "profile: no program; give one, and its arguments");
  if (words[0].starts_with('-'))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("profile: flag '{}'; accepted before the program are -o, --report, --format, --events, "
                            "--paused",
                            words[0]));
  if (!flags.trace.empty()) check_destination("-o", flags.trace, {});
  if (flags.report != "-") check_destination("--report", flags.report, {});
  const TraceFolder folder;
  const int status = run_program(words, environment(flags, folder));
  const std::vector<std::string> traces = folder.traces();
  if (traces.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("profile: {} recorded nothing (its status: {}); accepted are programs of `trine cc`, and "
                            "those linked with libtrine_compute",
                            words[0], status));
  if (!flags.trace.empty()) write_text(flags.trace, merged_traces(traces));
  std::fflush(stdout);
  write_text(flags.report, profile_report(traces, flags.format));
  return status;
}

}  // namespace

std::function<int()> setup_profile(CLI::App& app) {
  const auto flags = std::make_shared<ProfileFlags>();
  app.add_option("-o,--trace", flags->trace, "write a trace for ui.perfetto.dev or chrome://tracing");
  app.add_option("--report", flags->report, "file that receives the table (-: stdout, after the program's output)");
  app.add_option("--format", flags->format, "of the report: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  app.add_option("--events", flags->events, "events that the trace keeps, 128 bytes each")
      ->check(CLI::Range(int64_t{0}, int64_t{100'000'000}));
  app.add_flag("--paused", flags->paused, "record from cudaProfilerStart() to cudaProfilerStop() only");
  app.prefix_command();
  app.footer(fmt::format("trine profile [flags] PROGRAM [arguments]\n\nThe exit status is the program's.\n\n{}",
                         app.get_footer()));
  return [flags, &app] { return run_profile(*flags, app.remaining()); };
}

}  // namespace trine::cli
