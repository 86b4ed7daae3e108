// The options of a problem list: "--name=a,b" sets a list of values, and every descriptor after it runs once for each
// combination of all the lists in force.
#pragma once

#include "entry.h"

namespace trine::bench {

class OptionState {
 public:
  // `token` is "--name=value"; `where` has the driver and the place. Throws Error for what benchdnn would not take.
  void set(std::string_view token, const Entry& where);

  // --reset: options of the driver go back to their defaults; those of the measurement (--mode, --perf-template) stay.
  void reset();

  // Every combination, in the order in which nested loops over the options would run them.
  std::vector<std::map<std::string, std::string>> combinations(const Entry& where) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

}  // namespace trine::bench
