// JSON into a file, through a buffer of its own: without memory or locks, so that a signal handler may write too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trine::compute::profile {

class JsonOut {
 public:
  JsonOut(int file, char* buffer, size_t bytes) : file_(file), buffer_(buffer), capacity_(bytes) {}

  JsonOut& raw(std::string_view text);
  JsonOut& string(std::string_view text);  // in quotes; escaped; what is no UTF-8 becomes U+FFFD
  JsonOut& number(uint64_t value);
  JsonOut& real(double value);                  // of at least 0; 6 decimals below 1e15, else an integer
  JsonOut& microseconds(uint64_t nanoseconds);  // "12.345"
  // ,"key":
  JsonOut& key(std::string_view key, bool first = false);
  bool flush();  // false when anything could not be written

 private:
  void put(char c);
  void escaped(unsigned char c);
  int file_;
  char* buffer_;
  size_t capacity_, used_ = 0;
  bool failed_ = false;
};

}  // namespace trine::compute::profile
