#include "isolate.h"

#include <fmt/format.h>
#include <poll.h>
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

using Job = std::function<std::string(size_t)>;

// Child: one line a finished job.
[[noreturn]] void run_jobs(size_t from, size_t end, unsigned seconds_each, const Job& job, FILE* out) {
  for (size_t i = from; i < end; ++i) {
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

// Jobs [next, end), by one child after the other: a new one takes up after the job that ended the last.
struct Slice {
  size_t next, end;
  pid_t child = 0;
  int pipe = -1;
  std::string text = "";  // read, not yet a whole line
};

void start(Slice& slice, unsigned seconds_each, const Job& job) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  std::fflush(nullptr);
  slice.child = ::fork();
  if (slice.child < 0) throw std::runtime_error("fork failed");
  if (slice.child == 0) {
    ::close(ends[0]);
    run_jobs(slice.next, slice.end, seconds_each, job, ::fdopen(ends[1], "w"));
  }
  ::close(ends[1]);  // at once: the next child must not hold it open
  slice.pipe = ends[0];
}

// Takes what the child wrote; false at its end.
bool take(Slice& slice, std::vector<std::string>& results) {
  char bytes[4096];
  const ssize_t got = ::read(slice.pipe, bytes, sizeof bytes);
  if (got <= 0) return false;
  for (const char* c = bytes; c < bytes + got; ++c) {
    if (*c != '\n') slice.text += *c;
    else if (slice.next < slice.end) results[slice.next++] = std::exchange(slice.text, "");
  }
  return true;
}

void finish(Slice& slice, unsigned seconds_each, std::vector<std::string>& results) {
  ::close(slice.pipe);
  int status = 0;
  ::waitpid(slice.child, &status, 0);
  slice.child = 0;
  slice.text.clear();
  if (slice.next < slice.end) results[slice.next++] = describe_end(status, seconds_each);
}

}  // namespace

std::vector<std::string> run_isolated(size_t count, unsigned seconds_each, size_t processes, const Job& job) {
  std::vector<std::string> results(count);
  std::vector<Slice> slices;
  for (size_t p = 0; p < processes; ++p) slices.push_back({count * p / processes, count * (p + 1) / processes});
  for (Slice& s : slices)
    if (s.next < s.end) start(s, seconds_each, job);
  for (;;) {
    std::erase_if(slices, [](const Slice& s) { return s.child == 0; });
    if (slices.empty()) return results;
    std::vector<pollfd> polled;
    for (const Slice& s : slices) polled.push_back({s.pipe, POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) throw std::runtime_error("poll failed");
    for (size_t i = 0; i < slices.size(); ++i) {
      if (polled[i].revents == 0 || take(slices[i], results)) continue;
      finish(slices[i], seconds_each, results);
      if (slices[i].next < slices[i].end) start(slices[i], seconds_each, job);
    }
  }
}

}  // namespace trine::conformance
