// Where the time of kernels goes: a record of launches, copies, allocations and ranges of the program, on all devices
// and threads, as a table and as a trace for ui.perfetto.dev or chrome://tracing. See docs/profiling.md.
//
//   Profiler::start();
//   {
//     trine::compute::Range range("step");
//     kernel.launch(stream, shape, x, n);
//   }
//   Profiler::stop();
//   Profiler::write("trace.json");
//   std::fputs(Profiler::profile().table().c_str(), stdout);
//
// Programs need no change for it: with TRINE_PROFILE=trace.json a program is recorded from its first to its last line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trine::compute {

struct TraceEvent;

// What one launch moves and computes, for achieved rates.
struct Work {
  double bytes = 0, flops = 0;
};

struct ProfileOptions {
  size_t most_events = 262'144;  // kept for the trace, 128 bytes each; those that follow count in the table only
};

struct ProfileRow {
  std::string what;  // "kernel", "graph", "copy", "fill", "allocate", "free", "synchronize", "compile", "range", "mark"
  std::string device;  // "cpu", "cuda:0"; empty: none
  std::string name;    // of the kernel; "upload", "download", "copy"; of the range
  uint64_t calls = 0;
  uint64_t failed = 0;                          // of those
  uint64_t timed = 0;                           // of those; less than calls when a device failed
  double total_s = 0, least_s = 0, most_s = 0;  // of those that were timed; kernels: on the device
  double bytes = 0, flops = 0;                  // moved, or declared
  double work_s = 0;                            // of the calls that have bytes or flops
  double mean_s() const { return timed ? total_s / static_cast<double>(timed) : 0; }
  double bytes_per_second() const { return work_s > 0 ? bytes / work_s : 0; }
  double flops_per_second() const { return work_s > 0 ? flops / work_s : 0; }
};

struct ProfileMemory {
  std::string device;
  uint64_t bytes = 0, peak_bytes = 0;  // in use, of allocations made since the start
};

struct Profile {
  std::vector<ProfileRow> rows;  // by kind, then by time
  std::vector<ProfileMemory> memory;
  double seconds = 0;           // from start to stop
  uint64_t events = 0;          // in the trace
  uint64_t dropped_events = 0;  // for which it had no room; rows count them

  std::string table() const;
};

// One for the process. Functions may be called from any thread.
class Profiler {
 public:
  // Forgets what was recorded before. Throws Error{invalid_argument} when it is running, Error{unsupported} in a
  // process that was forked from a recorded one.
  static void start(const ProfileOptions& options = {});
  static void stop();  // nothing when it is not running
  static bool running();
  // Between these nothing is recorded, and nothing forgotten. Nothing when it is not running.
  static void pause();
  static void resume();

  // What is recorded up to now. On devices that work by themselves it waits for what they were given.
  static Profile profile();
  // Chrome's trace format; docs/profiling.md lists its tracks. Throws Error{io}.
  static void write(const std::string& path);

  // Each launch of this kernel ("scale", or as properties().name has it) does so much; from now on.
  static void declare(std::string_view kernel, const Work& launch);
};

// What this thread does while the object lives, as a slice that holds those within.
class Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  TraceEvent* event_;
};

// Launches of this thread do so much each while the object lives, whatever was declared.
class LaunchWork {
 public:
  explicit LaunchWork(const Work& launch);
  ~LaunchWork();
  LaunchWork(const LaunchWork&) = delete;
  LaunchWork& operator=(const LaunchWork&) = delete;

 private:
  Work before_;
};

void set_launch_work(const Work& launch);  // of this thread, until the next call

// For ranges whose begin and end are in different functions or threads.
void push_range(std::string_view name);
void pop_range();                             // the latest of this thread; nothing when there is none
uint64_t start_range(std::string_view name);  // may end on another thread; 0 when nothing is recorded
void end_range(uint64_t range);
void mark(std::string_view name);
void name_thread(std::string_view name);  // of its tracks

}  // namespace trine::compute
