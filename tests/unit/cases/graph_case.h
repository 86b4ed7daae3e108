// Cases of more than one node, tests/cases/graphs/*.txt: control flow, sequences, optionals, random numbers, and
// networks that somebody reported.
//
//   case report A9: unknown rank is no error
//   graph(%x: f32[N]) { ... }                     graph text, over several lines
//   given f32[2]{1,2} i64[]{3}                    the inputs, as in op_case.h; N is 2 in this run
//   gives f32[2]{3,4}                             or `gives within 4 eps f32[2]{3,4}`, or `error: text`
//
// `given`, `gives` may come again: other sizes in the same session.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace trine::test {

struct GraphRun {
  std::vector<std::string> given, gives;
  double eps_count = 0;
  std::string error;
};

struct GraphCase {
  std::string file, why, graph;
  int line = 0;
  std::vector<GraphRun> runs;
};

inline void PrintTo(const GraphCase& c, std::ostream* out) { *out << c.why; }

std::vector<GraphCase> read_graph_cases(const std::string& folder);

}  // namespace trine::test
