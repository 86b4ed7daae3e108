#include "isolate.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace trine::conformance {
namespace {

// Child: one line a finished job.
[[noreturn]] void run_jobs(size_t from, size_t count, unsigned seconds_each, const std::function<std::string(size_t)>& job,
                           FILE* out) {
  for (size_t i = from; i < count; ++i) {
    ::alarm(seconds_each);
    std::string result = job(i);
    std::replace(result.begin(), result.end(), '\n', ' ');
    std::fprintf(out, "%s\n", result.c_str());
    std::fflush(out);
  }
  ::_exit(0);
}

std::string describe_end(int status, unsigned seconds_each) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("took more than {} s", seconds_each);
  if (WIFSIGNALED(status)) return fmt::format("crashed: {}", ::strsignal(WTERMSIG(status)));
  return fmt::format("crashed: exit status {}", WEXITSTATUS(status));
}

// Appends the results of jobs from `from` on, until the child ends.
void run_child(size_t from, size_t count, unsigned seconds_each, const std::function<std::string(size_t)>& job,
               std::vector<std::string>& results) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    ::close(ends[0]);
    run_jobs(from, count, seconds_each, job, ::fdopen(ends[1], "w"));
  }
  ::close(ends[1]);
  FILE* in = ::fdopen(ends[0], "r");
  std::string line;
  for (int c; (c = std::fgetc(in)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    results.push_back(std::exchange(line, ""));
  }
  std::fclose(in);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (results.size() < count) results.push_back(describe_end(status, seconds_each));
}

}  // namespace

std::vector<std::string> run_isolated(size_t count, unsigned seconds_each, const std::function<std::string(size_t)>& job) {
  std::vector<std::string> results;
  while (results.size() < count) run_child(results.size(), count, seconds_each, job, results);
  return results;
}

}  // namespace trine::conformance
