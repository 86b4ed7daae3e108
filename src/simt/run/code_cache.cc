#include "simt/run/code_cache.h"

#include "simt/run/cache.h"
#include "simt/run/cache_key.h"
#include "simt/run/encode.h"
#include "trine/base/env.h"

namespace trine::simt {
namespace {

class CachedCode final : public CodeStore {
 public:
  explicit CachedCode(std::string folder) : cache_(std::move(folder)) {}
  std::optional<std::string> find(const std::string& key) override { return cache_.find(file(key)); }
  void store(const std::string& key, std::string_view bytes) override { cache_.store(file(key), bytes); }

 private:
  static std::string file(const std::string& key) {
    KeyHash hash;
    hash.add("machine code");
    hash.add(compiler_stamp());
    hash.add(key);
    return hash.text();
  }
  const Cache cache_;
};

std::string encode_module(const DeviceModule& module) {
  Writer to;
  to.text(module.bitcode);
  to.text(module.warnings);
  write_contents(to, module);
  return to.take();
}

std::optional<DeviceModule> decode_module(std::string_view bytes) {
  Reader from(bytes);
  DeviceModule module;
  module.bitcode = from.text();
  module.warnings = from.text();
  read_contents(from, module);
  return from.finished() ? std::optional(std::move(module)) : std::nullopt;
}

}  // namespace

std::shared_ptr<CodeStore> code_store(const compute::CompileOptions& options) {
  std::string folder = cache_folder();
  const bool shows_code = debug_shows(DebugLevel::graphs);  // while it is made
  if (folder.empty() || shows_code || options.debug || !options.checks.empty()) return nullptr;
  return std::make_shared<CachedCode>(std::move(folder));
}

DeviceModule parse_or_find(std::string_view source, const compute::CompileOptions& options) {
  const bool kept = !options.debug && options.checks.empty();
  const std::optional<std::string> key = kept ? cache_key(source, options, "parsed") : std::nullopt;
  if (!key) return compiler().parse(source, options);
  const Cache cache(cache_folder());
  if (const std::optional<std::string> bytes = cache.find(*key))
    if (std::optional<DeviceModule> module = decode_module(*bytes)) return std::move(*module);
  DeviceModule module = compiler().parse(source, options);
  cache.store(*key, encode_module(module));
  return module;
}

}  // namespace trine::simt
