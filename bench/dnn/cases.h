// What a call of bench_dnn measures: the problems of several lists, each in every number type asked for.
#pragma once

#include "entry.h"

namespace trine::bench {

struct Wanted {
  std::vector<std::string> lists;  // names in bench/dnn/lists (resnet50 is resnet_50), all of them ("all"), or files
  Driver driver = Driver::none;    // of files that do not say
  std::vector<std::string> types;  // as --dt has them; empty: the lists' own
  int64_t mb = 0;                  // samples; 0: the lists' own
  std::string filter;              // only problems whose text or name holds it
};

// One problem, in one number type after the other.
using Case = std::vector<Entry>;
// Throws Error for lists that are not there or not read.
std::vector<Case> read_cases(const Wanted& wanted);

}  // namespace trine::bench
