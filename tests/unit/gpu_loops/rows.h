// Rows of a table of graphs on a device.
#pragma once

#include "../codegen/rows.h"
#include "device.h"

namespace trine::test {

inline void run(const Row& row, const DeviceOptions& options = {}) {
  SCOPED_TRACE(row.inputs + " | " + row.nodes);
  const RowGraph graph = graph_of(row);
  expect_device_matches(graph.text, graph.inputs, row.tolerance, no_symbols(), options);
}

inline void run_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) run(row);
}

}  // namespace trine::test
