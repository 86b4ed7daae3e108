// Inside of the driver that pretends.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "control.h"

namespace trine::fake {

struct Failure {
  cuda::Result result;
  int after, times;
};

struct Kernel {
  std::vector<size_t> parameter_bytes;
  std::function<void(const Launch&)> run;
};

struct State {
  std::mutex mutex;  // of calls and failures
  Settings settings;
  std::map<std::string, int> calls;
  std::map<std::string, Failure> failures;
  std::map<std::string, Kernel> kernels;
  std::map<uint64_t, size_t> memory;      // address and bytes
  std::map<uint64_t, size_t> registered;  // of the host: address and bytes
  size_t pooled_bytes = 0;                // freed in order, kept by the pool
  cuda::Result lost = cuda::kSuccess;
  std::atomic<size_t> objects = 0;
  uint64_t captures = 0;
};
State& state();

// Counts the call, and returns what it was told to. Calls that look at no context go on when it is lost.
cuda::Result enter(const char* function, bool of_context = true);

// Of device memory; loses the context when there is none such.
bool inside(uint64_t address, size_t bytes);

struct Node {
  std::function<void()> run;
  std::string symbol;  // of a kernel
  Launch launch{};
  std::vector<std::vector<char>> arguments;
};

struct GraphData {
  uint64_t id = 0;
  bool open = true;
  std::vector<std::shared_ptr<Node>> nodes;
  std::set<void*> apart;  // streams that joined and were not waited for
};

struct StreamData {
  int priority = 0;
  std::shared_ptr<GraphData> capture;
  bool origin = false;
  std::shared_ptr<Node> last;
  cuda::GraphNode last_id = nullptr;
  bool capturing() const { return capture && capture->open; }
};

struct EventData {
  bool recorded = false;
  double seconds = 0;
  std::shared_ptr<GraphData> capture;
  void* stream = nullptr;
};

// Does the work now, or captures it.
void submit(cuda::StreamId stream, std::shared_ptr<Node> node);
void run_kernel(Node& node);

// Where a row of a copy's end begins, which lies in an array.
char* row_of_array(const cuda::CopyEnd& end, size_t y, size_t z);

}  // namespace trine::fake
