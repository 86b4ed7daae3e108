// Graphs as rows of a table: inputs x, y, z, w, and nodes of which the last value made is %r.
#pragma once

#include "device.h"

namespace trine::test {

struct Row {
  std::string inputs;  // "f32[3,5], f32[5]"
  std::string nodes;   // separated by ';'
  double tolerance = 1e-5;
};

inline void run(const Row& row, const DeviceOptions& options = {}) {
  SCOPED_TRACE(row.inputs + " | " + row.nodes);
  std::mt19937 rng(seed());
  std::string text = "graph(", rest = row.inputs;
  std::vector<Tensor> inputs;
  for (const char* name = "xyzw"; !rest.empty(); ++name) {
    const size_t end = rest.find("], ");
    const std::string type = rest.substr(0, end == std::string::npos ? end : end + 1);
    rest = end == std::string::npos ? "" : rest.substr(end + 3);
    if (!inputs.empty()) text += ", ";
    text += std::string("%") + *name + ": " + type;
    const Type parsed = Type::parse(type);
    inputs.push_back(random_tensor(parsed.dtype, parsed.shape.static_dims(), rng));
  }
  text += ") {\n";
  for (char c : row.nodes + ";") c == ';' ? text += "\n" : text += c;
  expect_device_matches(text + "return %r\n}\n", inputs, row.tolerance, no_symbols(), options);
}

}  // namespace trine::test
