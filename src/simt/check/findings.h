// What the checks have found: as text on stderr, and as lines of JSON in the file that TRINE_CHECK_JSON names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trine::simt {

struct FindingAccess {
  std::string place;   // "kernel.cu:12", "" when not known
  std::string what;    // "write of 4 bytes"
  std::string thread;  // "block (0,0,0), thread (1,0,0)"
};

struct Finding {
  std::string check;   // "race"
  std::string kernel;  // "" of no kernel
  std::string about;   // "value-changing"; what is wrong
  std::string owner;   // of the memory: "'tile' + 12"
  uint64_t address = 0;
  std::vector<FindingAccess> accesses;
  uint64_t count = 1;  // of its kind at the same lines
};

std::string text_of(const Finding& finding);
std::string json_of(const Finding& finding);

void report(const Finding& finding);
uint64_t findings_reported();  // by this process

}  // namespace trine::simt
