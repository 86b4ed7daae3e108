// Verification: every kernel and loop beside its node's reference, on random data. A candidate past its tolerance is
// dropped and reported, so that a wrong kernel cannot reach a user.
#pragma once

#include "plan/likely_sizes.h"
#include "plan/plan.h"
#include "plan/runner.h"
#include "trine/engine/build.h"

namespace trine {

// Whether random data can be made of this type, and such data, the same for the same seed.
bool can_be_random(const Type& type);
std::vector<Datum> random_inputs(const std::vector<Type>& types, uint64_t seed = 0);

struct VerifyReport {
  int checked = 0;                   // steps compared
  int sampled = 0;                   // of those, compared on a sample of the output elements
  int skipped = 0;                   // too large for the time allowed
  int undefined = 0;                 // without a reference
  std::vector<std::string> dropped;  // "kernel conv_... is not used: ..."
  std::string problem;               // why the plan could not run on random data; empty: it did
};

// Makes what runs a plan, here or on a device.
using MakeRunner = std::function<std::unique_ptr<Runner>(std::shared_ptr<const Plan>)>;

// How many calls of the plan end without an error on random inputs of these types; kAllWork: the whole run does.
size_t calls_that_run(const Plan& plan, const std::vector<Type>& input_types, const MakeRunner& make);

// Runs the plan, bodies included, on random inputs of these types. Rows past their tolerance are added to limits.drop
// (the caller chooses rows again); loops past it lose their machine code, then become host steps.
VerifyReport verify_plan(Plan& plan, const std::vector<Type>& input_types, Verify level, double max_error,
                         const MakeRunner& make);

// The whole plan beside the model as it was read, by reference, on random data: what passes broke shows here. Returns
// what differs, empty for nothing. In fast mode only models that a reference runs in well under a second are compared.
std::string verify_whole(const Plan& plan, const Graph& original, const std::vector<Type>& input_types, Verify level,
                         double max_error, const MakeRunner& make);

}  // namespace trine
