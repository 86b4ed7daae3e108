// What is kept of a kernel, or of a program's variables, between runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trine::simt {

struct StoredCode {
  std::string symbol;    // of the function
  std::string object;    // a relocatable file; may be empty where nothing is
  std::string why_none;  // lanes cannot run the kernel
  uint32_t shared_bytes = 0, frame_bytes = 0, width = 1, waits = 0;
  std::vector<std::string> variables;
};

std::string encode(const StoredCode& code);
std::optional<StoredCode> decode_code(std::string_view bytes);

// A key of 32 hexadecimal digits, of all parts in their order.
std::string key_of(const std::vector<std::string_view>& parts);

}  // namespace trine::simt
