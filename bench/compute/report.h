// The table and its JSON.
#pragma once

#include "measure.h"

namespace trine::bench_compute {

struct Machine {
  std::string text;                 // for people
  std::string device;               // "cpu", "cuda:0"
  double flops = 0, bandwidth = 0;  // of all threads, measured: multiply-adds in f32, bytes from memory; 0: unknown
};
Machine describe_machine(const std::string& device, int threads);

// Seconds below which this machine cannot go; 0: not known.
double floor_of(const Measurement& m, const Machine& machine);

std::string header(const Peers& peers);
std::string line(const Measurement& m, const Machine& machine, const Peers& peers);
std::string summary(const std::vector<Measurement>& all, const Peers& peers);
std::string json(const std::vector<Measurement>& all, const Machine& machine);

}  // namespace trine::bench_compute
