// RowTimes: rows of a device by what they took there, measured now or remembered in a timing cache.
#pragma once

#include "dnn/measure_device.h"
#include "trine/dnn/timings.h"

namespace trine {

class DeviceTarget;

class RowTimes {
 public:
  RowTimes(const DeviceTarget& target, dnn::Timings& timings) : target_(target), timings_(timings) {}

  // Of those with a known time the fastest comes first, if the model's favourite has one: times and estimates are not
  // compared with each other. Rows that failed go.
  void order(const dnn::Problem& problem, dnn::DeviceChoice& choice) const;

  // Times some of the candidates while there are seconds left: the best of each family, as the model may be off by far
  // between families, then the best of all. Kernels are compiled on all threads before the first is timed. One that
  // fails is noted.
  void measure(const dnn::Problem& problem, const dnn::DeviceChoice& choice) const;

  // What is asked for in the timing cache: the device, and the library of a row that calls one.
  std::string machine(const dnn::DeviceRow& row) const;

 private:
  struct Tried;
  std::vector<Tried> compiled(const dnn::Problem& problem, const std::vector<dnn::DeviceCandidate>& candidates) const;
  void compile(const dnn::Problem& problem, Tried& tried) const;
  void provide(const dnn::Problem& problem, Tried& tried) const;
  void time(const Tried& tried, const dnn::DeviceOperands& operands) const;
  std::optional<double> known(const dnn::Problem& problem, const dnn::DeviceRow& row) const;

  const DeviceTarget& target_;
  dnn::Timings& timings_;
};

}  // namespace trine
