#include "simt/check/findings.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "trine/base/env.h"

namespace trine::simt {
namespace {

std::atomic<uint64_t> reported{0};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", c);
    else out += c;
  }
  return out + '"';
}

void append_json(const std::string& name, const std::string& line) {
  std::FILE* file = std::fopen(name.c_str(), "a");
  if (!file) {
    fmt::print(stderr, "trine check: TRINE_CHECK_JSON: cannot write {}\n", name);
    return;
  }
  fmt::print(file, "{}\n", line);
  std::fclose(file);
}

}  // namespace

std::string text_of(const Finding& f) {
  std::string text = fmt::format("trine check: {}: {}", f.check, f.about);
  if (!f.owner.empty()) text += fmt::format(" at {}", f.owner);
  if (!f.kernel.empty()) text += fmt::format(", kernel '{}'", f.kernel);
  for (const FindingAccess& access : f.accesses)
    text += fmt::format("\n  {}: {} by {}", access.place.empty() ? "?" : access.place, access.what, access.thread);
  if (f.count > 1) text += fmt::format("\n  and {} more between these lines", f.count - 1);
  return text;
}

std::string json_of(const Finding& f) {
  std::string text =
      fmt::format(R"({{"check":{},"kernel":{},"about":{},"owner":{},"address":"{:#x}","count":{})", quoted(f.check),
                  quoted(f.kernel), quoted(f.about), quoted(f.owner), f.address, f.count);
  text += ",\"accesses\":[";
  for (size_t i = 0; i < f.accesses.size(); ++i)
    text += fmt::format(R"({}{{"place":{},"what":{},"thread":{}}})", i ? "," : "", quoted(f.accesses[i].place),
                        quoted(f.accesses[i].what), quoted(f.accesses[i].thread));
  return text + "]}";
}

void report(const Finding& finding) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  reported.fetch_add(1);
  fmt::print(stderr, "{}\n", text_of(finding));
  if (const std::string file = env_text("TRINE_CHECK_JSON"); !file.empty()) append_json(file, json_of(finding));
}

uint64_t findings_reported() { return reported.load(); }

}  // namespace trine::simt
