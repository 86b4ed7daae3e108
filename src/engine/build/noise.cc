#include "engine/build/noise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "trine/base/error.h"

namespace trine {
namespace {

constexpr uint64_t kSeed = 7;

// One unit in the last place of a number just above a power of two.
double ulp(DType type) {
  switch (type) {
    case DType::f64: return 0x1p-52;
    case DType::f32: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    default: return 0;
  }
}

bool is_real(const Datum& d) { return d.is_tensor() && ulp(d.tensor().dtype()) > 0; }

bool jumps(const Node& node, const std::vector<Datum>& in, const std::vector<Datum>& out) {
  constexpr std::string_view kSteps[] = {"floor", "ceil", "round", "sign", "mod", "trunc", "hardmax", "shrink"};
  if (node.op->impure || std::find(std::begin(kSteps), std::end(kSteps), node.op->name) != std::end(kSteps))
    return true;
  if (node.is("shape") || node.is("size") || !std::any_of(in.begin(), in.end(), is_real)) return false;
  return std::any_of(out.begin(), out.end(), [](const Datum& d) { return !d.is_none() && !is_real(d); });
}

class Noisy {
 public:
  // Nothing when some node jumps.
  std::optional<std::vector<Datum>> run(const Graph& graph, const std::vector<Datum>& inputs) {
    std::vector<Datum> held(graph.values.size());
    for (size_t i = 0; i < inputs.size(); ++i) held[static_cast<size_t>(graph.inputs[i])] = moved(inputs[i]);
    for (size_t i = 0; i < held.size(); ++i)
      if (graph.values[i].constant.defined()) held[i] = graph.values[i].constant;
    for (const Node& node : graph.nodes) {
      if (!node.op) continue;
      std::vector<Datum> in;
      for (ValueId id : node.inputs) in.push_back(id == kNoValue ? Datum() : held[static_cast<size_t>(id)]);
      auto out = run(node, in);
      if (!out) return std::nullopt;
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) held[static_cast<size_t>(node.outputs[i])] = moved((*out)[i]);
    }
    std::vector<Datum> out;
    for (ValueId id : graph.outputs) out.push_back(held[static_cast<size_t>(id)]);
    return out;
  }

  std::optional<std::vector<Datum>> run(const Node& node, const std::vector<Datum>& in) {
    if (node.is("fused")) return run(*node.bodies[0], in);
    std::vector<Datum> out = evaluate_node(node, in);
    if (jumps(node, in, out)) return std::nullopt;
    return out;
  }

  Datum moved(const Datum& datum) {
    if (!is_real(datum)) return datum;
    const Tensor& t = datum.tensor();
    std::vector<double> values = t.f64_values();
    for (double& v : values) v *= 1 + ulp(t.dtype()) * (static_cast<double>(random_() % 3) - 1);
    return Tensor::from_f64(t.dtype(), t.dims(), values);
  }

 private:
  std::mt19937_64 random_{kSeed};
};

std::vector<double> changes(const std::optional<std::vector<Datum>>& got, const std::vector<Datum>& want) {
  std::vector<double> largest(want.size(), 0);
  for (size_t i = 0; got && i < want.size(); ++i) {
    if (!is_real(want[i]) || !is_real((*got)[i]) || (*got)[i].tensor().dims() != want[i].tensor().dims()) continue;
    const std::vector<double> a = (*got)[i].tensor().f64_values(), b = want[i].tensor().f64_values();
    for (size_t k = 0; k < a.size(); ++k)
      if (std::isfinite(a[k] - b[k])) largest[i] = std::max(largest[i], std::fabs(a[k] - b[k]));
  }
  return largest;
}

}  // namespace

std::vector<double> rounding_noise(const Graph& graph, const std::vector<Datum>& inputs,
                                   const std::vector<Datum>& want) {
  try {
    return changes(Noisy().run(graph, inputs), want);
  } catch (const Error&) {  // a size computed from floats no longer fits
    return changes(std::nullopt, want);
  }
}

std::vector<double> rounding_noise(const Node& node, const std::vector<Datum>& inputs, const std::vector<Datum>& want) {
  Noisy noisy;
  std::vector<Datum> moved;
  for (const Datum& d : inputs) moved.push_back(noisy.moved(d));
  try {
    return changes(noisy.run(node, moved), want);
  } catch (const Error&) {
    return changes(std::nullopt, want);
  }
}

}  // namespace trine
