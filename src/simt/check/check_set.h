// The checks by name, as CompileOptions::checks and `trine cc --check` have them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trine::simt {

enum CheckBit : uint32_t { kCheckMemory = 1, kCheckRace = 2, kCheckInit = 4, kCheckBarrier = 8 };
constexpr uint32_t kCheckAll = kCheckMemory | kCheckRace | kCheckInit | kCheckBarrier;
constexpr const char* kCheckNames = "memory, race, barrier, init, all";

inline uint32_t check_bit(const std::string& name) {  // 0 when there is no such check
  if (name == "memory") return kCheckMemory;
  if (name == "race") return kCheckRace;
  if (name == "barrier") return kCheckBarrier;
  if (name == "init") return kCheckInit;
  return name == "all" ? kCheckAll : 0;
}

inline uint32_t check_bits(const std::vector<std::string>& names) {
  uint32_t bits = 0;
  for (const std::string& name : names) bits |= check_bit(name);
  return bits;
}

}  // namespace trine::simt
