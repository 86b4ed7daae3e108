// Whole files in and out, with errors that name the path.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trine::media {

// Throws Error{io}; a file over `largest` bytes is refused before it is read.
std::vector<uint8_t> read_file(const std::string& path, size_t largest = size_t{1} << 32);
// In one piece, so that a reader never sees half of it; refuses what base/replace_file.h refuses.
void write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace trine::media
