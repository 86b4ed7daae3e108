// Where the time of a run goes: the steps of an engine with what each took, beside the run as a whole.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trine/engine/session.h"

namespace trine::cli {

struct StepTimes {
  std::vector<StepTime> steps;  // in the order in which they first ran; trips of loops are added up
  double steps_seconds = 0;     // of all of them
  double run_seconds = 0;       // of a whole run; on a device by its clock, launched as graphs;
                                // with the copies of inputs and outputs when the host has steps in between
  double queued_seconds = 0;    // of a run whose kernels are right behind those of another; 0: not known
  std::string device;
};

// Medians over a few runs, after some that do not count.
StepTimes step_times(Session& session, const std::vector<Datum>& inputs);
void sort_slowest_first(StepTimes& times);

std::string step_table(const StepTimes& times);
nlohmann::ordered_json steps_json(const StepTimes& times);  // [{"node": "", "op": "", ..., "ms": 0}]
nlohmann::ordered_json totals_json(const StepTimes& times);

}  // namespace trine::cli
