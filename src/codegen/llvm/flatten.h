// Turns a relocatable ELF object into one flat, position-independent blob: its text and constants laid out behind one
// another, references between them resolved.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace trine::codegen {

struct FlatCode {
  std::vector<uint8_t> bytes;
  std::map<std::string, uint32_t> functions;  // offset of each global function
};

// Throws Error{unsupported} for a reference that leaves the object or is not relative.
FlatCode flatten(std::span<const uint8_t> elf);

}  // namespace trine::codegen
