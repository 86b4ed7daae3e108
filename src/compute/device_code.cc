// Compiled kernels as bytes: a count; for each source its key, the names of its kernels and a program
// (simt/run/program.h). Numbers have 8 bytes; texts are their length and their bytes.
#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

#include "compute/device_launch.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

void add(std::string& to, uint64_t number) { to.append(reinterpret_cast<const char*>(&number), sizeof number); }
void add(std::string& to, std::string_view text) {
  add(to, text.size());
  to += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number())); }
  uint64_t count() {  // of what takes 8 bytes each at least
    const uint64_t value = number();
    return value <= left_.size() / 8 ? value : damaged();
  }
  void finish() const {
    if (!left_.empty()) damaged();
  }

 private:
  [[noreturn]] static uint64_t damaged() {
    throw Error(ErrorCode::invalid_engine,
                "engine: damaged kernels for a device; build the engine again from its model");
  }
  std::string_view take(uint64_t bytes) {
    if (bytes > left_.size()) damaged();
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }

  std::string_view left_;
};

}  // namespace

CompileOptions DevicePrograms::options_for(const DeviceSource& source, const std::set<std::string>& kernels) const {
  CompileOptions options{.name = source.name, .headers = headers_};
  for (const std::string& kernel : kernels)
    if (kernel.ends_with('>')) options.instances.push_back(kernel);
  return options;
}

// Whoever passes arguments must mean the same source.
std::string DevicePrograms::key_of(const DeviceSource& source) const {
  std::string all;
  add(all, device_.info().architecture);
  add(all, source.text);
  for (const auto& [name, text] : headers_) {
    add(all, name);
    add(all, text);
  }
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string DevicePrograms::code(const std::vector<const DeviceCall*>& calls) const {
  if (!table_ || !table_->program) return "";
  Wanted wanted;
  for (const DeviceCall* call : calls)
    for (const DeviceLaunch& launch : call->launches) {
      auto& [source, kernels] = wanted[launch.source->text];
      source = launch.source;
      kernels.insert(launch.kernel);
    }
  std::string code;
  if (wanted.empty()) return code;
  add(code, wanted.size());
  for (const auto& [text, what] : wanted) {
    const auto& [source, kernels] = what;
    add(code, key_of(*source));
    add(code, kernels.size());
    for (const std::string& kernel : kernels) add(code, kernel);
    add(code, table_->program(index_, text, options_for(*source, kernels)));
  }
  return code;
}

std::shared_ptr<const void> DevicePrograms::adopt(std::string_view bytes) {
  if (!table_ || !table_->program) return nullptr;
  Reader from(bytes);
  const auto code = std::make_shared<Code>();
  for (uint64_t left = from.count(); left > 0; --left) {
    const std::string key = from.text();
    std::vector<std::string> kernels(from.count());
    for (std::string& kernel : kernels) kernel = from.text();
    const auto program = std::make_shared<const std::string>(from.text());
    for (const std::string& kernel : kernels) (*code)[{key, kernel}] = program;
  }
  from.finish();
  const std::lock_guard lock(mutex_);
  std::erase_if(adopted_, [](const auto& held) { return held.expired(); });
  adopted_.push_back(code);
  return code;
}

// Takes those kernels out of the set that it loads. `problem`: why the driver did not take others.
void DevicePrograms::load_adopted(const DeviceSource& source, std::set<std::string>& kernels, std::string& problem) {
  std::vector<std::shared_ptr<const Code>> codes;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& held : adopted_)
      if (auto code = held.lock()) codes.push_back(std::move(code));
  }
  if (codes.empty()) return;
  const std::string key = key_of(source);
  std::map<std::shared_ptr<const std::string>, std::set<std::string>> programs;
  for (const std::string& kernel : kernels)
    for (const auto& code : codes)
      if (const auto it = code->find({key, kernel}); it != code->end()) {
        programs[it->second].insert(kernel);
        break;
      }
  for (const auto& [program, names] : programs) try {
      const Module module = Module::load(device_, *program);
      std::map<std::string, Kernel> loaded;
      for (const std::string& name : names) loaded.emplace(name, module.kernel(name));
      const std::lock_guard lock(mutex_);
      for (const auto& [name, kernel] : loaded) {
        kernels_.emplace(std::pair(name, source.text), kernel);
        kernels.erase(name);
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::invalid_argument && e.code() != ErrorCode::unsupported) throw;
      problem = e.what();
    }
}

}  // namespace trine::compute
