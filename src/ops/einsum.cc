// Einsum: output[out labels] = sum over the other labels of the product of the operands. Operands are contracted from
// left to right, each step summing the labels that nobody needs any more, so that the work is that of matrix products
// and not that of the full index space. Ellipsis dimensions get labels of their own and broadcast.
#include <algorithm>
#include <map>
#include <set>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/broadcast.h"
#include "ops/node_error.h"

namespace trine {
namespace {

using Labels = std::vector<int>;  // a letter's code, or kEllipsis + position counted from the right
constexpr int kEllipsis = 256;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

bool is_letter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

// One term; "..." stands for `ellipsis` dimensions.
Labels parse_term(const Node& node, std::string_view term, int ellipsis, bool& has_ellipsis) {
  Labels labels;
  has_ellipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      labels.push_back(term[i]);
    } else if (term.substr(i, 3) == "..." && !has_ellipsis) {
      has_ellipsis = true;
      for (int e = ellipsis; e-- > 0;) labels.push_back(kEllipsis + e);
      i += 2;
    } else {
      fail(node, fmt::format("equation term '{}'; want letters and at most one '...'", term));
    }
  }
  return labels;
}

std::vector<std::string> split_terms(std::string_view text) {
  std::vector<std::string> terms(1);
  for (char ch : text) {
    if (ch == ',') terms.emplace_back();
    else terms.back() += ch;
  }
  return terms;
}

// Without "->": the ellipsis, then the letters that appear exactly once, in ASCII order.
Labels implicit_output(const std::vector<Labels>& inputs, int ellipsis) {
  std::map<int, int> count;
  for (const Labels& term : inputs)
    for (int label : term) ++count[label];
  Labels out;
  for (int e = ellipsis; e-- > 0;) out.push_back(kEllipsis + e);
  for (auto [label, times] : count)
    if (label < kEllipsis && times == 1) out.push_back(label);
  return out;
}

Equation parse_equation(const Node& node, const std::vector<int>& ranks) {
  std::string text = node.attrs.string("equation");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::vector<std::string> terms = split_terms(std::string_view(text).substr(0, arrow));
  require(node, terms.size() == ranks.size(),
          fmt::format("equation '{}' has {} terms for {} inputs", text, terms.size(), ranks.size()));
  Equation eq;
  int ellipsis = 0;
  bool has = false;
  for (size_t i = 0; i < terms.size(); ++i) {
    const int letters = static_cast<int>(parse_term(node, terms[i], 0, has).size());
    require(node, has ? ranks[i] >= letters : ranks[i] == letters,
            fmt::format("equation term '{}' for an input with {} dimensions", terms[i], ranks[i]));
    if (has) ellipsis = std::max(ellipsis, ranks[i] - letters);
    eq.inputs.push_back(parse_term(node, terms[i], ranks[i] - letters, has));
  }
  eq.output = arrow == std::string::npos ? implicit_output(eq.inputs, ellipsis)
                                         : parse_term(node, std::string_view(text).substr(arrow + 2), ellipsis, has);
  const std::set<int> distinct(eq.output.begin(), eq.output.end());
  require(node, distinct.size() == eq.output.size(), fmt::format("equation '{}' repeats an output label", text));
  for (int label : eq.output) {
    const bool known = std::any_of(eq.inputs.begin(), eq.inputs.end(),
                                   [&](const Labels& t) { return std::ranges::count(t, label) > 0; });
    require(node, known, fmt::format("equation '{}' has an output label that no input has", text));
  }
  return eq;
}

// Size of every label. A dimension of 1 broadcasts against any other.
std::map<int, Dim> label_sizes(const Node& node, const Equation& eq, const std::vector<Shape>& shapes) {
  std::map<int, Dim> sizes;
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t d = 0; d < eq.inputs[i].size(); ++d) {
      const Dim& size = shapes[i][static_cast<int>(d)];
      const auto [it, fresh] = sizes.try_emplace(eq.inputs[i][d], size);
      if (fresh || it->second == size || size == Dim(1)) continue;
      if (it->second == Dim(1) || (!it->second.is_constant() && size.is_constant())) it->second = size;
      else if (size.is_constant() && it->second.is_constant())
        fail(node, fmt::format("equation '{}': one label stands for dimensions {} and {}",
                               node.attrs.string("equation"), it->second.text(), size.text()));
    }
  return sizes;
}

void einsum_infer(InferContext& c) {
  std::vector<int> ranks;
  std::vector<Shape> shapes;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.shape(i).has_rank()) return c.set(0, c.dtype(0), Shape());
    shapes.push_back(c.shape(i));
    ranks.push_back(shapes.back().rank());
  }
  const Equation eq = parse_equation(c.node(), ranks);
  const std::map<int, Dim> sizes = label_sizes(c.node(), eq, shapes);
  std::vector<Dim> out;
  for (int label : eq.output) out.push_back(sizes.at(label));
  c.set(0, c.dtype(0), Shape(std::move(out)));
}

template <class T>
struct Operand {
  Labels labels;
  Dims dims;
  std::vector<T> values;
};

// Step in `o` when `label` advances by one: sums over repeated labels (a diagonal); 0 where it broadcasts or is absent.
template <class T>
int64_t label_step(const Operand<T>& o, int label) {
  int64_t step = 0, stride = 1;
  for (size_t d = o.labels.size(); d-- > 0; stride *= o.dims[d])
    if (o.labels[d] == label && o.dims[d] != 1) step += stride;
  return step;
}

Dims sizes_of(const Labels& labels, const std::map<int, Dim>& sizes) {
  Dims dims;
  for (int label : labels) dims.push_back(sizes.at(label).value());
  return dims;
}

double multiply_add(double sum, double a, double b) { return sum + a * b; }
int64_t multiply_add(int64_t sum, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Product of two operands, summed over every label outside `keep`.
template <class T>
Operand<T> contract(const Operand<T>& a, const Operand<T>& b, const Labels& keep, const std::map<int, Dim>& sizes) {
  Labels summed;
  for (const Operand<T>* o : {&a, &b})
    for (int label : o->labels)
      if (!std::ranges::count(keep, label) && !std::ranges::count(summed, label)) summed.push_back(label);
  const auto steps = [](const Operand<T>& o, const Labels& labels) {
    Strides s;
    for (int label : labels) s.push_back(label_step(o, label));
    return s;
  };
  const Dims outer = sizes_of(keep, sizes), inner = sizes_of(summed, sizes);
  Operand<T> y{keep, outer, std::vector<T>(value_count(outer))};
  const Strides a_in = steps(a, summed), b_in = steps(b, summed);
  for (Walk w(outer, {steps(a, keep), steps(b, keep)}); !w.done(); w.next()) {
    T sum = 0;
    for (Walk v(inner, {a_in, b_in}); !v.done(); v.next())
      sum = multiply_add(sum, a.values[static_cast<size_t>(w.offset(0) + v.offset(0))],
                         b.values[static_cast<size_t>(w.offset(1) + v.offset(1))]);
    y.values[static_cast<size_t>(w.position())] = sum;
  }
  return y;
}

// Labels of the first `done` operands that the output or a later operand still reads.
Labels still_needed(const Equation& eq, size_t done) {
  if (done == eq.inputs.size()) return eq.output;
  std::set<int> later(eq.output.begin(), eq.output.end()), seen;
  for (size_t i = done; i < eq.inputs.size(); ++i) later.insert(eq.inputs[i].begin(), eq.inputs[i].end());
  Labels keep;
  for (size_t i = 0; i < done; ++i)
    for (int label : eq.inputs[i])
      if (later.count(label) && seen.insert(label).second) keep.push_back(label);
  return keep;
}

template <class T, class Read>
Operand<T> run(EvalContext& c, const Equation& eq, const std::map<int, Dim>& sizes, Read read) {
  Operand<T> sum{{}, {}, {T(1)}};
  for (size_t i = 0; i < eq.inputs.size(); ++i) {
    const Tensor& t = c.tensor(static_cast<int>(i));
    sum = contract(sum, Operand<T>{eq.inputs[i], t.dims(), read(t)}, still_needed(eq, i + 1), sizes);
  }
  return sum;
}

void einsum_reference(EvalContext& c) {
  std::vector<int> ranks;
  std::vector<Shape> shapes;
  for (int i = 0; i < c.input_count(); ++i) {
    shapes.push_back(Shape::from(c.tensor(i).dims()));
    ranks.push_back(c.tensor(i).rank());
  }
  const Equation eq = parse_equation(c.node(), ranks);
  const std::map<int, Dim> sizes = label_sizes(c.node(), eq, shapes);
  const DType dtype = c.tensor(0).dtype();
  if (is_float(dtype)) {
    const auto y = run<double>(c, eq, sizes, [](const Tensor& t) { return t.f64_values(); });
    c.set(0, Tensor::from_f64(dtype, y.dims, y.values));
  } else {
    const auto y = run<int64_t>(c, eq, sizes, [](const Tensor& t) { return t.i64_values(); });
    c.set(0, Tensor::from_i64(dtype, y.dims, y.values));
  }
}

const OpDef op_einsum = {
    .name = "einsum",
    .onnx = "Einsum",
    .doc = "sum of products over the labels of `equation` that the output does not keep",
    .types = "Tfi ...",
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = einsum_infer,
    .reference = einsum_reference,
};
const RegisterOp register_einsum(op_einsum);

}  // namespace
}  // namespace trine
