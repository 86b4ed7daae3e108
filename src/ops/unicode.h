// UTF-8 and simple case mapping for the scripts that have case: Latin, Greek, Cyrillic, Armenian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trine {

// Code points; a byte that is no valid UTF-8 becomes U+FFFD.
std::vector<char32_t> decode_utf8(std::string_view text);
void append_utf8(std::string& text, char32_t c);
char32_t to_lower(char32_t c);
char32_t to_upper(char32_t c);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace trine
