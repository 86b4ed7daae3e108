#include "report.h"

#include <fmt/format.h>

#include <cmath>

#include "peak.h"
#include "rounds.h"
#include "trine/base/cpu.h"
#include "trine/base/thread_pool.h"

namespace trine::bench_compute {
namespace {

// Bytes a second that all threads read: sums of 128 MiB.
double measured_bandwidth() {
  const size_t count = size_t{1} << 24;
  std::vector<uint64_t> values(count, 1);
  ThreadPool pool;
  std::vector<uint64_t> sums(static_cast<size_t>(pool.threads()) * 8);
  double least = 1;
  for (int i = 0; i < 9; ++i) {
    least = std::min(least, bench::timed([&] {
                       pool.run(pool.threads(), [&](int part, int) {
                         const size_t each = count / static_cast<size_t>(pool.threads()),
                                      first = static_cast<size_t>(part) * each;
                         uint64_t sum = 0;
                         for (size_t k = first; k < first + each; ++k) sum += values[k];
                         sums[static_cast<size_t>(part) * 8] = sum;
                       });
                     }));
  }
  return static_cast<double>(count) * sizeof(uint64_t) / least + static_cast<double>(sums[0] & 0);
}

std::string number(double value, int digits = 3) {
  return value > 0 ? fmt::format("{:.{}f}", value, digits) : std::string("-");
}

std::string ratio_text(double theirs, double ours) { return theirs > 0 ? fmt::format("{:.2f}", theirs / ours) : "-"; }

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double theirs, double ours) {
    if (theirs > 0) sum += std::log(theirs / ours), ++count;
  }
  double value() const { return count ? std::exp(sum / count) : 0; }
};

}  // namespace

Machine describe_machine(const std::string& device, int threads) {
  Machine machine{.text = "", .device = device};
  if (device != "cpu") {
    const compute::DeviceInfo info = compute::Device::open(device).info();
    machine.text =
        fmt::format("{}: {}, {}, {} multiprocessors", device, info.name, info.architecture, info.compute_units);
    return machine;
  }
  machine.flops = bench::measure_peaks().f32 * threads;
  machine.bandwidth = measured_bandwidth();
  machine.text = fmt::format("{}, {} threads: {:.0f} GFLOP/s of multiply-adds in f32, {:.1f} GB/s read, measured",
                             cpu_info().fingerprint(), threads, machine.flops * 1e-9, machine.bandwidth * 1e-9);
  return machine;
}

double floor_of(const Measurement& m, const Machine& machine) {
  if (machine.flops == 0) return 0;
  return std::max(m.flops / machine.flops, m.bytes / machine.bandwidth);
}

std::string header(const Peers& peers) {
  std::string text = fmt::format("{:<14} {:<24} {:>10}", "kernel", "size", "ours ms");
  if (peers.pocl) text += fmt::format(" {:>10} {:>6}", "pocl ms", "ratio");
  if (peers.loops) text += fmt::format(" {:>10} {:>6}", "cxx ms", "ratio");
  return text + fmt::format(" {:>10} {:>6} {:>9} {:>8} {:>7} {:>6}\n", "scalar ms", "ratio", "GFLOP/s", "GB/s", "floor",
                            "mode");
}

std::string line(const Measurement& m, const Machine& machine, const Peers& peers) {
  std::string text = fmt::format("{:<14} {:<24} {:>10.3f}", m.name, m.size, m.ours * 1e3);
  if (peers.pocl) text += fmt::format(" {:>10} {:>6}", number(m.pocl * 1e3), ratio_text(m.pocl, m.ours));
  if (peers.loops) text += fmt::format(" {:>10} {:>6}", number(m.cxx * 1e3), ratio_text(m.cxx, m.ours));
  const double floor = floor_of(m, machine);
  text += fmt::format(" {:>10} {:>6} {:>9} {:>8} {:>7} {:>6}\n", number(m.scalar * 1e3), ratio_text(m.scalar, m.ours),
                      number(m.flops / m.ours * 1e-9, 1), number(m.bytes / m.ours * 1e-9, 1),
                      floor > 0 ? fmt::format("{:.0f} %", 100 * floor / m.ours) : "-",
                      machine.device != "cpu" ? "gpu"
                      : m.refusals.empty()    ? "lanes"
                                              : "threads");
  if (!m.refusals.empty()) text += fmt::format("    in threads: {}\n", m.refusals);
  if (!m.differs.empty()) text += fmt::format("    RESULTS DIFFER: {}\n", m.differs);
  return text;
}

std::string summary(const std::vector<Measurement>& all, const Peers& peers) {
  Mean pocl, cxx, scalar, divergent_cxx;
  for (const Measurement& m : all) {
    pocl.add(m.pocl, m.ours);
    cxx.add(m.cxx, m.ours);
    scalar.add(m.scalar, m.ours);
    if (m.divergent) divergent_cxx.add(m.cxx, m.ours);
  }
  std::string text;
  if (peers.pocl) text += fmt::format("pocl over ours, geometric mean of {}: {:.2f}\n", pocl.count, pocl.value());
  if (peers.loops) text += fmt::format("cxx over ours, geometric mean of {}: {:.2f}\n", cxx.count, cxx.value());
  if (scalar.count)
    text += fmt::format("scalar over ours, divergent kernels, geometric mean of {}: {:.2f}\n", scalar.count,
                        scalar.value());
  if (divergent_cxx.count) text += fmt::format("cxx over ours, the same kernels: {:.2f}\n", divergent_cxx.value());
  return text;
}

std::string json(const std::vector<Measurement>& all, const Machine& machine) {
  std::string rows;
  for (const Measurement& m : all)
    rows += fmt::format(
        "{}    {{\"kernel\": \"{}\", \"size\": \"{}\", \"ours_ms\": {:.6f}, \"pocl_ms\": {:.6f}, \"cxx_ms\": {:.6f}, "
        "\"scalar_ms\": {:.6f}, \"flops\": {:.0f}, \"bytes\": {:.0f}, \"floor_ms\": {:.6f}, \"pocl_block\": \"{}\", "
        "\"lanes\": {}, \"same_results\": {}}}",
        rows.empty() ? "" : ",\n", m.name, m.size, m.ours * 1e3, m.pocl * 1e3, m.cxx * 1e3, m.scalar * 1e3, m.flops,
        m.bytes, floor_of(m, machine) * 1e3, m.pocl_block, m.refusals.empty(), m.differs.empty());
  return fmt::format(
      "{{\"device\": \"{}\", \"machine\": \"{}\", \"flops\": {:.0f}, \"bandwidth\": {:.0f}, \"rows\": [\n{}\n]}}\n",
      machine.device, machine.text, machine.flops, machine.bandwidth, rows);
}

}  // namespace trine::bench_compute
