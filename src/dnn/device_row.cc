#include "dnn/device_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "trine/base/error.h"

namespace trine::dnn {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<const DeviceRow*> rows;
};

Registry& registry() {
  static Registry* instance = new Registry;  // never destroyed: tables of other files may outlive a static
  return *instance;
}

std::string refusal_of(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits,
                       const DeviceLimits& limits) {
  if (row.specific ? !traits.specific || traits.architecture != row.architecture
                   : traits.architecture < row.architecture)
    return fmt::format("needs sm_{}{}; this device takes sm_{}", row.architecture, row.specific ? "a" : "",
                       traits.architecture);
  if (std::find(limits.drop.begin(), limits.drop.end(), row.name) != limits.drop.end()) return "dropped";
  if (row.tf32 && !limits.tf32) return "tf32 is not allowed";
  if (row.provide && !limits.providers) return "providers are switched off";
  if (const char* reason = row.fits(row, problem, traits)) return reason;
  return {};
}

}  // namespace

RegisterDeviceRows::RegisterDeviceRows(std::span<const DeviceRow> rows) {
  const std::lock_guard lock(registry().mutex);
  for (const DeviceRow& row : rows) registry().rows.push_back(&row);
}

compute::DeviceCall device_call(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits,
                                const Quantization& quantization) {
  if (row.call_integers && types_of(problem).are_integers())
    return row.call_integers(row, problem, traits, quantization);
  return row.call(row, problem, traits);
}

std::vector<const DeviceRow*> device_rows_of(OpKind op) {
  const std::lock_guard lock(registry().mutex);
  std::vector<const DeviceRow*> found;
  for (const DeviceRow* row : registry().rows)
    if (row->op == op) found.push_back(row);
  return found;
}

const DeviceRow* find_device_row(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  for (const DeviceRow* row : registry().rows)
    if (row->name == name) return row;
  return nullptr;
}

DeviceChoice find_on_device(const Problem& problem, const DeviceTraits& traits, const DeviceLimits& limits) {
  DeviceChoice choice;
  for (const DeviceRow* row : device_rows_of(op_kind(problem))) {
    std::string reason = refusal_of(*row, problem, traits, limits);
    if (reason.empty()) choice.candidates.push_back({row, row->cost(*row, problem, traits)});
    else choice.refusals.emplace_back(row, std::move(reason));
  }
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const DeviceCandidate& a, const DeviceCandidate& b) { return a.seconds < b.seconds; });
  return choice;
}

DeviceTraits traits_of(const compute::Device& device) {
  const compute::DeviceInfo info = device.info();
  const compute::DeviceLimits limits = device.limits();
  DeviceTraits traits;
  traits.multiprocessors = info.compute_units;
  traits.shared_bytes_per_block = limits.shared_bytes_per_block;
  traits.is_cpu = !info.architecture.starts_with("sm_");
  if (traits.is_cpu) return traits;
  traits.architecture = std::stoi(info.architecture.substr(3));
  traits.specific = traits.architecture >= 90;  // kernels are compiled for this device alone
  traits.l2_bytes = size_t{32} << 20;
  traits.flops_per_second = 128.0 * 2 * traits.multiprocessors * 1.5e9;
  traits.bytes_per_second = traits.architecture >= 90 ? 4e12 : 1e12;
  return traits;
}

}  // namespace trine::dnn
