// Choosing the kernels of a plan within what the options allow: time for measuring, and memory.
#pragma once

#include "plan/plan.h"
#include "trine/engine/build.h"

namespace trine {

class KernelChooser {
 public:
  // Reads the timing cache. Throws Error{invalid_argument} for options that contradict each other, Error{io}.
  explicit KernelChooser(const BuildOptions& options);
  // Called as work on a device goes on.
  void on_progress(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  // What the plan's rows may be.
  dnn::Limits limits() const { return limits_; }

  // Chooses every row anew and packs weights. Returns what could not be prepared with these types. Throws
  // Error{out_of_memory} when the least that the plan takes is more than max_memory_bytes. `target` null: this CPU.
  std::string choose(Plan& plan, const std::vector<Type>& types, const Target* target);

  // The plan as it will run: no measuring any more. Writes the timing cache.
  void settle(Plan& plan);

  std::vector<std::string> notes() const;

 private:
  void shrink(Plan& plan, const std::vector<Type>& types);
  void measure(Plan& plan, const std::vector<Type>& types, const Target& target);

  const BuildOptions& options_;
  dnn::Limits limits_;
  std::function<void(const std::string&)> tell_;
  int ignored_ = 0;    // damaged lines of the timing cache
  size_t wanted_ = 0;  // bytes of the fastest plan, when it was too large
};

}  // namespace trine
