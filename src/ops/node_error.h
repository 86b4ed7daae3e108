// Errors found by code that infer and reference share, where only the node is at hand.
#pragma once

#include <fmt/format.h>

#include "graph/graph.h"
#include "trine/base/error.h"

namespace trine {

[[noreturn]] inline void fail(const Node& node, const std::string& message) {
  throw Error(ErrorCode::invalid_model, fmt::format("{}: {}", node.op->name, message));
}

inline void require(const Node& node, bool holds, const std::string& message) {
  if (!holds) fail(node, message);
}

// element_count for the f64 values that a reference is about to make. Throws Error{out_of_memory} when there is no
// memory for them: dimensions of a tensor without elements may claim anything.
size_t value_count(const Dims& dims);

}  // namespace trine
