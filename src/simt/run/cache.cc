#include "simt/run/cache.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "trine/base/env.h"
#include "trine/base/error.h"
#include "trine/base/replace_file.h"

namespace trine::simt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTitle = "trine kernel 1\n";

// The title, this, the bytes.
struct Seal {
  uint64_t bytes, low, high;
  bool operator==(const Seal&) const = default;
};

Seal seal_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {bytes.size(), hash.low64, hash.high64};
}

// The size is asked of the open file: another may take its name meanwhile.
std::optional<std::string> read_all(const fs::path& path, uint64_t most) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || static_cast<uint64_t>(file.tellg()) > most) return std::nullopt;
  std::string bytes(static_cast<size_t>(file.tellg()), '\0');
  if (!file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return std::nullopt;
  return bytes;
}

struct Entry {
  fs::file_time_type used;
  uint64_t bytes;
  fs::path path;
};

std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // by another program
    if (!it->is_regular_file(gone)) continue;
    const Entry entry{it->last_write_time(gone), it->file_size(gone), it->path()};
    if (!gone) entries.push_back(entry);
  }
  return entries;
}

// Down to three quarters, so that not every entry that is stored looks through all of them to remove one. Returns the
// bytes that are left.
uint64_t prune(const fs::path& folder, uint64_t most_bytes) {
  std::vector<Entry> entries = entries_of(folder);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= most_bytes) return total;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= most_bytes / 4 * 3) break;
    std::error_code error;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
  return total;
}

// A folder of thousands of entries is not looked through for each that is stored: what this process adds is added to
// what it counted first. What others add is seen when it is counted again.
void keep_below(const std::string& folder, uint64_t most_bytes, uint64_t added) {
  static std::map<std::string, uint64_t> counted;
  const auto [total, is_first] = counted.try_emplace(folder, 0);
  total->second += added;
  if (is_first || total->second > most_bytes) total->second = prune(folder, most_bytes);
}

}  // namespace

std::optional<std::string> Cache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = fs::path(folder_) / key;
  const std::optional<std::string> file = read_all(path, most_bytes_ + kTitle.size() + sizeof(Seal));
  Seal seal;
  if (!file || !file->starts_with(kTitle) || file->size() < kTitle.size() + sizeof seal) return std::nullopt;
  std::memcpy(&seal, file->data() + kTitle.size(), sizeof seal);
  std::string bytes = file->substr(kTitle.size() + sizeof seal);
  if (seal != seal_of(bytes)) return std::nullopt;
  std::error_code read_only;
  fs::last_write_time(path, fs::file_time_type::clock::now(), read_only);
  return bytes;
}

void Cache::store(const std::string& key, std::string_view bytes) const {
  if (folder_.empty() || bytes.size() > most_bytes_) return;
  static std::mutex mutex;  // temporary names are those of processes
  const std::lock_guard lock(mutex);
  const Seal seal = seal_of(bytes);
  std::string file(kTitle);
  file.append(reinterpret_cast<const char*>(&seal), sizeof seal).append(bytes);
  std::error_code error;
  fs::create_directories(folder_, error);
  try {
    replace_file((fs::path(folder_) / key).string(), {reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  } catch (const Error&) {
    return;  // full, or not ours to write
  }
  keep_below(folder_, most_bytes_, file.size());
}

std::string cache_folder() {
  std::string base = env_text("TRINE_CACHE");
  if (base == "off") return "";
  if (base.empty()) {
    base = env_text("XDG_CACHE_HOME");
    const std::string home = env_text("HOME");
    if (base.empty() && !home.empty()) base = home + "/.cache";
    if (!base.starts_with('/')) return "";  // relative ones are to be ignored, says the XDG specification
    base += "/trine";
  }
  return base + "/kernels";
}

void KeyHash::add(std::string_view text) { all_ += fmt::format("{}:{}", text.size(), text); }

std::string KeyHash::text() const {
  const XXH128_hash_t hash = XXH3_128bits(all_.data(), all_.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace trine::simt
