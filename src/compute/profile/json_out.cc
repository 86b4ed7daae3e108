#include "compute/profile/json_out.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace trine::compute::profile {
namespace {

// Bytes of the UTF-8 sequence that begins here; 0 when it is none.
size_t sequence(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const unsigned char c = byte(0);
  const size_t bytes = c < 0x80                ? 1
                       : c >= 0xc2 && c < 0xe0 ? 2
                       : c >= 0xe0 && c < 0xf0 ? 3
                       : c >= 0xf0 && c < 0xf5 ? 4
                                               : 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (c == 0xe0 && byte(1) < 0xa0) || (c == 0xf0 && byte(1) < 0x90);
  const bool no_character = (c == 0xed && byte(1) > 0x9f) || (c == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : bytes;
}

}  // namespace

bool JsonOut::flush() {
  for (size_t at = 0; at < used_ && !failed_;) {
    const ssize_t n = ::write(file_, buffer_ + at, used_ - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) failed_ = true;
    else at += static_cast<size_t>(n);
  }
  used_ = 0;
  return !failed_;
}

void JsonOut::put(char c) {
  if (used_ == capacity_) flush();
  buffer_[used_++] = c;
}

JsonOut& JsonOut::raw(std::string_view text) {
  if (text.size() > capacity_ - used_) flush();
  if (text.size() > capacity_) {  // longer than the buffer
    for (char c : text) put(c);
    return *this;
  }
  std::memcpy(buffer_ + used_, text.data(), text.size());
  used_ += text.size();
  return *this;
}

void JsonOut::escaped(unsigned char c) {
  constexpr char kHex[] = "0123456789abcdef";
  raw("\\u00");
  put(kHex[c >> 4]);
  put(kHex[c & 15]);
}

JsonOut& JsonOut::string(std::string_view text) {
  put('"');
  const auto plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  const auto first = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), plain) - text.begin());
  raw(text.substr(0, first));
  text.remove_prefix(first);
  while (!text.empty()) {
    const size_t bytes = sequence(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (!bytes) raw("\\ufffd");
    else if (c < 0x20 || c == 0x7f) escaped(c);
    else if (c == '"' || c == '\\') put('\\'), put(text[0]);
    else raw(text.substr(0, bytes));
    text.remove_prefix(bytes ? bytes : 1);
  }
  put('"');
  return *this;
}

JsonOut& JsonOut::number(uint64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + value % 10);
  while (value /= 10);
  return raw({digits + at, sizeof digits - at});
}

JsonOut& JsonOut::real(double value) {
  if (!(value > 0)) return raw("0");
  if (value >= 1.8e19) return raw("1.8e19");
  auto whole = static_cast<uint64_t>(value);
  if (value >= 1e15) return number(whole);
  auto part = static_cast<uint64_t>(std::lround((value - static_cast<double>(whole)) * 1e6));
  if (part == 1'000'000) ++whole, part = 0;
  number(whole);
  if (!part) return *this;
  put('.');
  for (uint64_t unit = 100'000; unit; unit /= 10) put(static_cast<char>('0' + part / unit % 10));
  return *this;
}

JsonOut& JsonOut::microseconds(uint64_t nanoseconds) {
  number(nanoseconds / 1000).put('.');
  for (uint64_t unit = 100; unit; unit /= 10) put(static_cast<char>('0' + nanoseconds / unit % 10));
  return *this;
}

JsonOut& JsonOut::key(std::string_view key, bool first) {
  if (!first) put(',');
  return string(key).raw(":");
}

}  // namespace trine::compute::profile
