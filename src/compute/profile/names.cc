// Names and devices by their numbers.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "compute/profile/recorder.h"

namespace trine::compute::profile {
namespace {

constexpr size_t kMostNames = 65'536;  // names that a program makes up as it goes must not fill the memory

using Key = std::tuple<What, uint8_t, std::string_view>;  // the text is the name's own
struct Names {
  std::mutex mutex;
  std::map<Key, TraceName*> all;
  std::vector<std::pair<std::string, Work>> declared;
};
Names& names() {
  static Names& held = *new Names;
  return held;
}
std::atomic<TraceName*> newest{nullptr};

// "scale" is "scale(float*, int)" and "scale<float>(float*)"; "void f<int>(int)" is "f" too.
bool is_kernel(std::string_view full, std::string_view name) {
  if (full == name) return true;
  if (full.starts_with("void ")) full.remove_prefix(5);
  return full.starts_with(name) && full.size() > name.size() && (full[name.size()] == '(' || full[name.size()] == '<');
}

void set(TraceName& name, const Work& work) {
  name.bytes.store(work.bytes, std::memory_order_relaxed);
  name.flops.store(work.flops, std::memory_order_relaxed);
}

const TraceName* add(Names& held, What what, uint8_t device, std::string_view text) {
  auto* name = new TraceName{.what = what, .device = device, .id = name_count(), .text = std::string(text)};
  if (what == What::launch)
    for (const auto& [kernel, work] : held.declared)
      if (is_kernel(name->text, kernel)) set(*name, work);
  held.all[Key(what, device, name->text)] = name;
  name->next = newest.load(std::memory_order_relaxed);
  newest.store(name, std::memory_order_release);
  return name;
}

// Of this thread, found without a lock.
constexpr size_t kRecent = 64;
thread_local const TraceName* recent[kRecent];

struct Devices {
  std::mutex mutex;
  std::atomic<uint8_t> count{0};
  DeviceRow rows[kMostDevices];
};
Devices& devices() {
  static Devices& held = *new Devices;
  return held;
}

}  // namespace

TraceName* all_names() { return newest.load(std::memory_order_acquire); }
uint32_t name_count() {
  const TraceName* last = all_names();
  return last ? last->id + 1 : 0;
}

const TraceName* intern(What what, uint8_t device, std::string_view text) {
  const size_t slot = (std::hash<std::string_view>()(text) + device * 7 + static_cast<size_t>(what)) % kRecent;
  const TraceName* name = recent[slot];
  if (name && name->what == what && name->device == device && name->text == text) return name;
  Names& held = names();
  const std::lock_guard lock(held.mutex);
  if (const auto found = held.all.find(Key(what, device, text)); found != held.all.end()) name = found->second;
  else if (held.all.size() < kMostNames) name = add(held, what, device, text);
  else if (const auto rest = held.all.find(Key(what, device, "others")); rest != held.all.end()) name = rest->second;
  else name = add(held, what, device, "others");
  return recent[slot] = name;
}

void declare_work(std::string_view kernel, const Work& work) {
  Names& held = names();
  const std::lock_guard lock(held.mutex);
  std::erase_if(held.declared, [&](const auto& row) { return row.first == kernel; });
  held.declared.emplace_back(kernel, work);
  for (TraceName* name = all_names(); name; name = name->next)
    if (name->what == What::launch && is_kernel(name->text, kernel)) set(*name, work);
}

uint8_t device_count() { return devices().count.load(std::memory_order_acquire); }
DeviceRow& device_row(uint8_t number) { return devices().rows[number]; }

uint8_t device_number(std::string_view backend, int index) {
  if (backend.empty()) return kNoDevice;
  Devices& held = devices();
  const auto find = [&]() -> int {
    const uint8_t count = held.count.load(std::memory_order_acquire);
    for (uint8_t i = 0; i < count; ++i)
      if (held.rows[i].index == index && held.rows[i].table->name == backend) return i;
    return -1;
  };
  if (const int known = find(); known >= 0) return static_cast<uint8_t>(known);
  const std::lock_guard lock(held.mutex);
  if (const int known = find(); known >= 0) return static_cast<uint8_t>(known);
  const uint8_t number = held.count.load();
  if (number == kMostDevices) return kMostDevices - 1;
  DeviceRow& row = held.rows[number];
  row.table = find_backend(backend);
  row.index = index;
  const std::string label =
      backend == "cuda" ? fmt::format("{}:{}", backend, index) : std::string(backend.substr(0, sizeof row.label - 1));
  std::memcpy(row.label, label.data(), std::min(label.size(), sizeof row.label - 1));
  held.count.store(static_cast<uint8_t>(number + 1), std::memory_order_release);
  return number;
}

}  // namespace trine::compute::profile
