// Sizes behind letters: "g32mb1ic32ih112oc32oh112kh3sh1ph1n"mobilenet:conv2_1/dw"", of convolutions, pools and the
// like.
#pragma once

#include "entry.h"

namespace trine::bench {

// Fills text, name, count and sizes of an entry whose driver is set. Throws Error for a wrong token.
void parse_descriptor(std::string_view token, Entry& entry);

// The same for tensors: "16x40x64:16x64x40_n"name"".
void parse_tensors(std::string_view token, Entry& entry);

// `name*4`, with or without quotes.
void parse_name(std::string_view token, std::string_view name, Entry& entry);

// A decimal number at `position`, which moves past it.
int64_t parse_number(std::string_view token, size_t& position, const Entry& where);

}  // namespace trine::bench
