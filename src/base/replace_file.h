// Writing a file in one piece.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace trine {

// A reader finds the old file or the new one, never a part. Throws Error{io}.
void replace_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace trine
