// Writing a file in one piece.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace trine {

// A reader finds the old file or the new one, never a part. A symbolic link stays, and what it names is written; a
// device or a pipe is written through and stays. Folders, block devices and write-protected files are refused, whoever
// asks. Throws Error{io}.
void replace_file(const std::string& path, std::span<const uint8_t> bytes);

// Throws what replace_file would throw for a path that it refuses, without writing.
void check_replaceable(const std::string& path);

}  // namespace trine
