// ProblemCollector: a target that lets another one do its work and notes the problems that it is asked to choose for.
#pragma once

#include <vector>

#include "plan/prepare.h"

namespace trine {

class ProblemCollector final : public Target {
 public:
  explicit ProblemCollector(const Target& target) : target_(target) {}

  // Each once. The heaviest first, all its calls together: by operations and bytes, a byte for a hundred operations.
  std::vector<dnn::Problem> heaviest_first() const;

  const std::string& fingerprint() const override { return target_.fingerprint(); }
  bool has_row(std::string_view name) const override { return target_.has_row(name); }
  std::string choose(const Plan& plan, std::string_view chosen, Call& call) const override;
  std::string render(std::span<const codegen::LoopKernel> loops, const Bindings& bindings, Call& call) const override {
    return target_.render(loops, bindings, call);
  }
  void measure(const Plan& plan, const dnn::Problem& problem) const override { target_.measure(plan, problem); }
  void settle(Call& call) const override { target_.settle(call); }

 private:
  const Target& target_;
  mutable std::vector<std::pair<dnn::Problem, double>> problems_;  // with their weight
};

}  // namespace trine
