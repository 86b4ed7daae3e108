// Who is measured: prepared for one case, its arrays in its own memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "case.h"

namespace trine::bench_compute {

using Contents = std::vector<std::vector<std::byte>>;  // of outputs, in the order of the case's arrays

struct Party {
  std::string name;
  std::string note;             // how it runs: mode, block
  std::function<void()> reset;  // arrays as the case has them
  std::function<void()> run;    // done when it returns
  std::function<Contents()> outputs;
};

// Compiles the example of a case into FOLDER/NAME.program, with PTX for an architecture ("sm_90").
void pack(const Case& problem, const std::string& folder, const std::string& architecture);

// Our kernels on a device of trine::compute.
class Ours {
 public:
  Ours(const std::string& device, const Case& problem, compute::CpuMode mode, const std::string& programs = "");
  ~Ours();
  Party party(const std::string& name) const;
  // Kernels that lanes refuse, and why; empty when all run in lanes.
  std::string refusals() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Empty `run` when there is no OpenCL here, or none of the CPU: `note` says why.
class OpenCl;
std::shared_ptr<OpenCl> open_pocl(int threads, std::string& why_not);
std::string describe(const OpenCl& cl);
// The fastest of the case's blocks. Throws Error with the build log.
Party pocl_party(const std::shared_ptr<OpenCl>& cl, const Case& problem);

// Loops in C++, from a module that is made for this processor; see loops/loops.h.
class Loops;
std::shared_ptr<Loops> open_loops(int threads, std::string& why_not);
std::string describe(const Loops& loops);
Party loops_party(const std::shared_ptr<Loops>& loops, const Case& problem);

// Texts that the program holds: an example ("nbody.cu", "support.h") or its kernels in OpenCL C ("nbody.cl").
std::string held_text(const std::string& name);

}  // namespace trine::bench_compute
