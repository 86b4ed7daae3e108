// Session: runs an engine. Each session has its own scratch memory and threads; one thread may use it at a time.
#pragma once

#include <functional>

#include "trine/engine/engine.h"

namespace trine {

struct SessionOptions {
  int threads = 0;  // 0: as many as this process may run on
  // Where it runs: "cpu"; "cuda:0", a GPU; "simt", the plan and the kernels of a GPU on this CPU. What a device has no
  // kernel for runs on the CPU in between. Others than "cpu" need libtrine_gpu. Throws Error{device}.
  std::string device = "cpu";
  bool graphs = true;  // devices: calls that repeat are launched as one graph
  double max_seconds =
      0;  // > 0: a run that takes longer ends with Error{timeout}, between two steps or trips of a loop
};

// Seconds that a device was at work for a run, by its own clock.
struct DeviceTimes {
  double compute = 0;      // kernels, and what lies between them
  double with_copies = 0;  // from the first copy to the device to the last from it, host steps included
  double queued = 0;       // compute of one of several runs right behind each other; 0: not measured
};

// One step of a run, as a profile sees it.
struct StepTime {
  std::string name;    // of the node
  std::string op;      // operator
  std::string kernel;  // kernel row, "loop", "host"
  double seconds = 0;
  double flops = 0, bytes = 0;  // that the definition needs; 0 when not known
  std::string provider;         // whose kernel it is: "own", "cublaslt"; "host" for none
};

// Outputs of a step, as compare and verification see them.
using StepData =
    std::function<void(const std::string& node, const std::string& op, const std::string& output, const Datum& value)>;

class Session {
 public:
  explicit Session(const Engine& engine, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // By name; every input must be given. Input bytes are only read during the call; outputs belong to the caller.
  // Throws Error{invalid_argument} for an unknown name, wrong dtype or shape.
  std::map<std::string, Datum> run(const std::map<std::string, Datum>& inputs);
  // In the engine's order of inputs and outputs.
  std::vector<Datum> run(const std::vector<Datum>& inputs);

  // As run, with what the device took; zeros on the CPU. `queued` > 0: the kernels run so often again, each time right
  // behind the last and on the same inputs, which is what times.queued tells of; not where host steps come between.
  std::vector<Datum> run_timed(const std::vector<Datum>& inputs, DeviceTimes& times, int queued = 0);
  // As run, timing every step: on a device by its own clock, without what launching takes. There the first run with
  // some sizes counts the loading of kernels too.
  std::vector<Datum> profile(const std::vector<Datum>& inputs, std::vector<StepTime>& steps);
  // As run, handing every step's outputs to `see`.
  std::vector<Datum> trace(const std::vector<Datum>& inputs, const StepData& see);

  const Engine& engine() const;
  int threads() const;
  const std::string& device() const;
  const std::vector<std::string>& notes() const;  // what is worth saying: kernels that are chosen anew
  size_t arena_bytes() const;                     // scratch memory held now, on the device

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine
