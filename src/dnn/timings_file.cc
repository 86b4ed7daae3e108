// The timing cache as a file that processes share.
#include "dnn/timings_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/file_lock.h"
#include "trine/base/error.h"
#include "trine/base/replace_file.h"

namespace trine::dnn {

std::optional<std::string> read_timings(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file && errno == ENOENT) return std::nullopt;
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw Error(ErrorCode::io, fmt::format("timing cache: {}: cannot read ({}); give a file or a new name", path,
                                           std::strerror(errno)));
  return std::move(text).str();
}

int load_timings(Timings& timings, const std::string& path) {
  const std::optional<std::string> text = read_timings(path);
  if (!text) return 0;
  int ignored = 1;
  std::string what = "is no timing cache and is ignored";
  try {
    ignored = timings.merge(*text);
    what = fmt::format("{} damaged lines are ignored", ignored);
  } catch (const Error&) {
    // Something else altogether: save_timings will not replace it.
  }
  if (ignored) std::fputs(fmt::format("trine: timing cache: {}: {}\n", path, what).c_str(), stderr);
  return ignored;
}

void save_timings(const Timings& timings, const std::string& path) {
  const FileLock lock(path);
  Timings all = timings;
  if (const auto theirs = read_timings(path)) all.merge(*theirs);
  const std::string text = all.text();
  replace_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace trine::dnn
