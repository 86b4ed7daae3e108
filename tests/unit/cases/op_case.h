// A row of tests/cases/ops/*.cases: one operator, its operands, and what must come out.
//
//   softmax f32[3,5] {axis=1} within 4 eps                                # the common case
//   softmax f32[3,5] {axis=2} error: softmax: axis 2 outside [-2, 1]      # user mistake
//   cum_sum f32[3]{1,2,3} i64[]{0} exact gives f32[3]{1,3,6}              # results that somebody else computed
//   top_k f32[N=3,7] i64[1]{2} {axis=1} outputs 2 exact                   # N is a symbol that is 3 at run time
//
// Operands: a type is random data (floats normal, integers small and never 0); `>0` after it makes it positive, `<5`
// draws indices from [0, 5); a literal is itself; `_` is absent. `within k eps` allows k * eps(type) * max|y|, max over
// the finite elements of that output; `exact` allows nothing. `gives` names each output (`_`: whatever it is). The same
// rows are held against onnxruntime by tests/conformance/op_cases.py.
#pragma once

#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace trine::test {

struct OpCase {
  std::string file, text;
  int line = 0;
  std::string op, attrs, error;
  std::vector<std::string> operands, gives;
  int outputs = 1;
  double eps_count = 0;  // 0: exact
};

// For failures: the row itself.
inline void PrintTo(const OpCase& c, std::ostream* out) { *out << c.text; }

std::vector<OpCase> read_op_cases(const std::string& folder);
OpCase parse_op_case(const std::string& text);

// The graph of one node, every present operand an input.
Graph graph_of(const OpCase& c);
// A value for each input of graph_of.
std::vector<Tensor> draw_inputs(const OpCase& c, std::mt19937& random);
// The next word of a line; one that holds '{' or '[' runs past blanks to its closing bracket. Empty at the end.
std::string next_word(std::string_view& rest);
// "f32[2]{1,2}".
Tensor literal_of(const std::string& word);

// Output i as the row gives it; nothing when it does not say.
std::optional<Tensor> given_output(const OpCase& c, size_t i);
// The same graph with all inputs but the first turned into constants.
Graph with_constants(Graph graph, const std::vector<Tensor>& inputs);

// Empty when `got` is close enough to `want`, else the worst element.
std::string difference(const Tensor& got, const Tensor& want, double eps_count);

}  // namespace trine::test
