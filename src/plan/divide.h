// Dividing the batch of one call: the problem of a part, and how many bytes of each operand all parts have together.
#pragma once

#include <optional>

#include "plan/prepare.h"

namespace trine {

// An operand of a call that is cut into parts: `bytes` are those between the first part's begin and the last one's end.
struct CutOperand {
  ValueId root = kNoValue;
  int64_t bytes = 0;
};

struct DividedCall {
  dnn::Problem problem;  // of one part; of a loop: none is needed
  std::vector<CutOperand> cut;
  double weight_bytes = 0;  // read anew by every part
};

// How far apart a root's first byte and its end lie where it lives; 0 for constants. Nothing for a value that lies in
// another one so that parts of the one are not parts of the other.
std::optional<int64_t> extent_of(const Segment& segment, ValueId root);

// The call as `parts` equal pieces along the batch; nothing when it cannot be cut, or reads something else than
// constants whole.
std::optional<DividedCall> divide(const Segment& segment, const Call& call, int64_t parts);

// The batch of a call that has one, else 0.
int64_t batch_of(const Call& call);

}  // namespace trine
