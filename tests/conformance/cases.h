// The list of cases that onnx_backend.py writes: DATA/cases.txt.
#pragma once

#include <string>
#include <vector>

#include "compare.h"

namespace trine::conformance {

struct Case {
  std::string name, op;
  Tolerance tolerance;
  int sets;  // of inputs and outputs
};

struct CaseList {
  std::string onnx_version;
  std::vector<Case> cases;
};

// The cases whose name contains `filter`. Throws Error for a line that is not whole, and when there is no case.
CaseList read_cases(const std::string& data, const std::string& filter);

}  // namespace trine::conformance
