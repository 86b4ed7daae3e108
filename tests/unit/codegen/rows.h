// Graphs as rows of a table: inputs x, y, z, w, and nodes of which the last value made is %r. Tests of every machine
// run the rows that stand here.
#pragma once

#include <functional>

#include "harness.h"

namespace trine::test {

struct Row {
  std::string inputs;  // "f32[3,5], f32[5]"
  std::string nodes;   // separated by ';'
  double tolerance = 1e-5;
};

struct RowGraph {
  std::string text;
  std::vector<Tensor> inputs;  // random
};
RowGraph graph_of(const Row& row);

std::vector<Row> fused_fold_rows();
std::vector<Row> normalisation_rows();
std::vector<Row> view_rows();
std::vector<Row> pad_slice_concat_rows();

}  // namespace trine::test
