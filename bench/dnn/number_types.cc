#include "number_types.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace trine::bench {
namespace {

DType type_named(std::string_view name) {
  return dtype_from_name(name == "s8" ? "i8" : name == "s32" ? "i32" : name).value_or(DType::none);
}

// "u8s8u8" -> u8, s8, u8.
std::vector<std::string> types_of_cfg(std::string_view cfg) {
  std::vector<std::string> types;
  while (!cfg.empty()) {
    const size_t end = std::min(cfg.find_first_not_of("0123456789", cfg.find_first_of("0123456789")), cfg.size());
    types.emplace_back(cfg.substr(0, end));
    cfg.remove_prefix(end);
  }
  return types;
}

// "0.25", "2.25*" (a value given at run time, as all of ours are); `otherwise` when there is none.
bool read_number(const std::vector<std::string>& parts, size_t i, float& value) {
  if (i >= parts.size() || parts[i].empty()) return true;
  std::string_view text = parts[i];
  if (text.ends_with('*')) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool read_zero(const std::vector<std::string>& parts, size_t i, int32_t& zero) {
  float value = 0;
  if (!read_number(parts, i, value) || std::abs(value) > 255) return false;
  zero = static_cast<int32_t>(value);
  return true;
}

// "src:common:0.25": an operand, a policy, a value.
bool read_scale(const std::vector<std::string>& parts, NumberTypes& n) {
  const std::string &operand = parts[0], policy = parts.size() > 1 ? parts[1] : "";
  float value = 1;
  if (!read_number(parts, 2, value) || value <= 0 || parts.size() > 3) return false;
  if (operand == "wei" && policy == "per_oc") n.types.scale_per_channel = true;
  else if (policy != "common" || (operand != "src" && operand != "wei" && operand != "dst")) return false;
  if (operand == "dst") n.quantization.out_multiplier = 1 / value;
  return true;
}

bool read_zero_point(const std::vector<std::string>& parts, NumberTypes& n) {
  if (parts.size() != 3 || parts[1] != "common" || (parts[0] != "src" && parts[0] != "dst")) return false;
  return read_zero(parts, 2, parts[0] == "src" ? n.quantization.in_zero : n.quantization.out_zero);
}

bool read_sum(const std::vector<std::string>& parts, NumberTypes& n) {
  if (parts[0] != "sum") return true;
  return read_number(parts, 1, n.quantization.residual_scale) && read_zero(parts, 2, n.quantization.residual_zero) &&
         parts.size() <= 3;
}

// Reads an option of parts between '+'; the reason when one is not ours.
template <class Read>
std::string read_option(const Entry& entry, const std::string& option, NumberTypes& n, const Read& read) {
  const std::string text = entry.option(option, "");
  if (text.empty()) return "";
  for (const std::string& part : split(text, '+')) {
    if (!read(split(part, ':'), n)) return fmt::format("--{}={}", option, text);
  }
  return "";
}

std::string read_types(const Entry& entry, dnn::ElementTypes& types) {
  const bool old = !entry.options.contains("dt") && entry.options.contains("cfg");
  const std::string text = old ? entry.option("cfg", "") : entry.option("dt", "f32");
  const std::vector<std::string> parts = old ? types_of_cfg(text) : split(text, ':');
  if (parts.size() != 1 && parts.size() != 3) return fmt::format("--dt={}; one type or three", text);
  const auto type = [&](size_t i) { return type_named(parts[parts.size() == 1 ? 0 : i]); };
  types = {type(0), type(1), type(2)};
  if (types.out == DType::i32) types.bias = DType::i32;
  const bool forward = entry.option("dir", "FWD_B").starts_with("FWD");
  if (!types.are_f32() && !(has_number_types(entry.driver) && forward)) return fmt::format("--dt={}; only f32", text);
  for (DType t : {types.in, types.weights, types.out})
    if (t == DType::none) return fmt::format("--dt={}", text);
  return "";
}

// What has no scale cannot be given one.
std::string check_scales(const NumberTypes& n) {
  const dnn::Quantization& q = n.quantization;
  const bool bytes = n.types.out == DType::u8 || n.types.out == DType::i8;
  if (n.types.are_integers() && n.types.out == DType::i32 && (n.types.scale_per_channel || q.in_zero != 0))
    return "scales of i32 sums";
  if (!bytes && (q.out_multiplier != 1 || q.out_zero != 0)) return "a scale of outputs that are no 8-bit integers";
  if (!bytes && (q.residual_scale != 1 || q.residual_zero != 0)) return "a scale of a sum that is no 8-bit integer";
  return "";
}

}  // namespace

bool has_number_types(Driver driver) {
  return driver == Driver::conv || driver == Driver::ip || driver == Driver::matmul;
}

NumberTypes number_types_of(const Entry& entry) {
  NumberTypes n;
  n.unsupported = read_types(entry, n.types);
  const bool integers = n.types.are_integers();
  const auto read = [&](const char* option, auto function) {
    if (!n.unsupported.empty()) return;
    n.unsupported = read_option(entry, option, n, function);
    if (n.unsupported.empty() && !integers && !entry.option(option, "").empty() &&
        option != std::string("attr-post-ops"))
      n.unsupported = fmt::format("--{}; only 8-bit integers have scales", option);
  };
  read("attr-scales", read_scale);
  read("attr-oscale", [](auto parts, NumberTypes& to) {
    parts.insert(parts.begin(), "wei");
    return read_scale(parts, to);
  });
  read("attr-zero-points", read_zero_point);
  read("attr-post-ops", read_sum);
  if (n.unsupported.empty()) n.unsupported = check_scales(n);
  return n;
}

}  // namespace trine::bench
