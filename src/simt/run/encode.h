// Texts and numbers in a row of bytes, and what a DeviceModule holds in them: for files of the cache and programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simt/device_module.h"

namespace trine::simt {

class Writer {
 public:
  void number(uint64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Past the end, or past what was damaged, everything is 0 and empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  uint64_t number();
  uint32_t small() { return static_cast<uint32_t>(number()); }
  std::string text() { return std::string(take(number())); }
  uint64_t count();  // of things that are written in 8 bytes each at least
  bool finished() const { return good_ && left_.empty(); }

 private:
  std::string_view take(uint64_t bytes);

  std::string_view left_;
  bool good_ = true;
};

// Kernels and variables; not the bitcode.
void write_contents(Writer& to, const DeviceModule& module);
void read_contents(Reader& from, DeviceModule& module);

}  // namespace trine::simt
