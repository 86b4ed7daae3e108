#include "engine/build/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "plan/device_runtime.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr std::string_view kOption = "trine.build.", kAssumed = "trine.assumed.", kInFp32 = "trine.fp32.",
                           kHalf = "trine.half", kError = "trine.error";
constexpr std::string_view kVerify[] = {"off", "fast", "full"};
constexpr std::string_view kPrecision[] = {"fp32", "bf16", "tf32", "fp16", "best"};

using Entries = std::map<std::string, std::string>;

[[noreturn]] void damaged(const std::string& key, const std::string& text) {
  throw Error(ErrorCode::invalid_engine,
              fmt::format("engine: {} is '{}'; build the engine again from its model", key, text));
}

template <class T>
T number(const std::string& key, const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) damaged(key, text);
  return value;
}

std::vector<std::string> items(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The place of `text` among the names of an enum.
template <class Enum, size_t n>
std::optional<Enum> named(const std::string_view (&names)[n], std::string_view text) {
  for (size_t i = 0; i < n; ++i)
    if (text == names[i]) return static_cast<Enum>(i);
  return std::nullopt;
}

template <class T>
T known(const std::string& key, const std::string& text, std::optional<T> value) {
  if (!value) damaged(key, text);
  return *value;
}

void read(BuildRecord& record, const std::string& key, const std::string& text) {
  const std::string_view option = std::string_view(key).substr(kOption.size());
  BuildOptions& o = record.options;
  const auto flag = [&] { return number<int>(key, text) != 0; };
  if (option == "threads") o.threads = number<int>(key, text);
  else if (option == "device") o.device = text;
  else if (option == "timed") record.timed = flag();
  else if (option == "verify") o.verify = known(key, text, verify_from_name(text));
  else if (option == "precision") o.precision = known(key, text, precision_from_name(text));
  else if (option == "max_error") o.max_error = number<double>(key, text);
  else if (option == "deterministic") o.deterministic = flag();
  else if (option == "workspace_bytes") o.workspace_bytes = number<size_t>(key, text);
  else if (option == "max_memory_bytes") o.max_memory_bytes = number<size_t>(key, text);
  else if (option == "strict_fp32") o.strict_fp32 = flag();
  else if (option == "fast") o.fast = flag();
  else if (option == "providers") o.providers = flag();
  else if (option == "code") o.code = flag();
  else if (option == "drop") o.drop = items(text);
  else if (option == "skip_passes") o.skip_passes = items(text);
}

}  // namespace

std::string_view name(Verify verify) { return kVerify[static_cast<size_t>(verify)]; }
std::string_view name(Precision precision) { return kPrecision[static_cast<size_t>(precision)]; }
std::optional<Verify> verify_from_name(std::string_view text) { return named<Verify>(kVerify, text); }
std::optional<Precision> precision_from_name(std::string_view text) { return named<Precision>(kPrecision, text); }

void store_record(Entries& metadata, const BuildOptions& o, const std::vector<Type>& inputs,
                  const std::vector<Type>& types) {
  std::erase_if(metadata, [](const auto& e) { return e.first.starts_with(kOption) || e.first.starts_with(kAssumed); });
  const auto put = [&](const char* name, std::string value) {
    metadata[std::string(kOption) + name] = std::move(value);
  };
  const auto flag = [](bool on) { return std::string(on ? "1" : "0"); };
  const auto list = [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); };
  put("threads", fmt::to_string(o.threads));
  if (!is_this_cpu(o.device)) put("device", o.device);
  put("timed", flag(o.budget_seconds > 0 || !o.timing_cache.empty()));
  put("verify", std::string(name(o.verify)));
  put("precision", std::string(name(o.precision)));
  put("max_error", fmt::to_string(o.max_error));
  put("deterministic", flag(o.deterministic));
  put("workspace_bytes", fmt::to_string(o.workspace_bytes));
  put("max_memory_bytes", fmt::to_string(o.max_memory_bytes));
  put("strict_fp32", flag(o.strict_fp32));
  put("fast", flag(o.fast));
  put("providers", flag(o.providers));
  put("code", flag(o.code));
  put("drop", list(o.drop));
  put("skip_passes", list(o.skip_passes));
  for (size_t i = 0; i < inputs.size() && i < types.size(); ++i) {
    const Shape &open = inputs[i].shape, &fixed = types[i].shape;
    for (int d = 0; inputs[i].is_tensor() && open.has_rank() && d < open.rank() && d < fixed.rank(); ++d)
      if (open[d].is_symbol() && fixed[d].is_constant())
        metadata[std::string(kAssumed) + open[d].text()] = fmt::format("{}", fixed[d].value());
  }
}

void store_precision(Entries& metadata, const PrecisionReport& report) {
  std::erase_if(metadata,
                [](const auto& e) { return e.first.starts_with(kInFp32) || e.first == kHalf || e.first == kError; });
  if (report.half != DType::none) metadata[std::string(kHalf)] = name(report.half);
  if (report.error && std::isfinite(*report.error))
    metadata[std::string(kError)] = fmt::format("{:.3g}", *report.error);
  for (const auto& [node, reason] : report.kept) metadata[std::string(kInFp32) + node] = reason;
}

std::optional<BuildRecord> build_record(const Engine& engine) {
  BuildRecord record;
  bool found = false;
  for (const auto& [key, text] : engine.metadata()) {
    if (key.starts_with(kAssumed)) record.assumed[key.substr(kAssumed.size())] = number<int64_t>(key, text);
    if (key.starts_with(kInFp32)) record.in_fp32[key.substr(kInFp32.size())] = text;
    if (key == kHalf) record.half = text;
    if (key == kError) record.error = number<double>(key, text);
    if (!key.starts_with(kOption)) continue;
    read(record, key, text);
    found = true;
  }
  return found ? std::optional(record) : std::nullopt;
}

}  // namespace trine
