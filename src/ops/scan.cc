// Scan: runs a body over the slices of M inputs along their scan axes, carrying N state values, and stacks the body's
// further outputs. Inputs: state..., scanned..., captures...; body: (state..., slices..., captures...) -> (state...,
// out...).
#include <algorithm>

#include "ops/loop_state.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"
#include "ops/type_rules.h"

namespace trine {
namespace {

struct ScanLayout {
  int states, scanned;  // counts

  template <class C>
  explicit ScanLayout(const C& c) {
    const int formal = static_cast<int>(c.node().inputs.size()) - c.node().captures;
    const int64_t given = c.attrs().integer("num_scan_inputs");
    if (given < 1 || given > formal)
      c.fail("num_scan_inputs is " + std::to_string(given) + " of " + std::to_string(formal) + " inputs; 1 or more");
    scanned = static_cast<int>(given);
    states = formal - scanned;
  }
};

// Entry k of an optional attribute list, 0 when the list is absent.
template <class C>
int64_t entry(const C& c, const char* name, int k) {
  const auto list = c.attrs().integers(name);
  if (list.empty()) return 0;
  if (k >= static_cast<int>(list.size()))
    c.fail(std::string(name) + " has " + std::to_string(list.size()) + " entries; too few");
  return list[static_cast<size_t>(k)];
}

void infer_scan(InferContext& c) {
  const ScanLayout layout(c);
  std::vector<Type> carried, slices;
  for (int i = 0; i < layout.states; ++i) carried.push_back(c.input(i));
  std::optional<Dim> trips;
  for (int k = 0; k < layout.scanned; ++k) {
    const Type& x = c.input(layout.states + k);
    Shape slice;
    if (x.shape.has_rank()) {
      const int axis = c.axis(entry(c, "scan_input_axes", k), x.shape.rank(), "scan_input_axes");
      trips = trips ? same_dim(c, *trips, x.shape[axis], "lengths of scanned inputs") : x.shape[axis];
      slice = without_axis(x.shape, axis);
    }
    slices.push_back(Type::tensor(x.dtype, slice));
  }
  const auto out = stable_body_types(c, carried, 0, [&](std::vector<Type> in) {
    in.insert(in.end(), slices.begin(), slices.end());
    for (int i = layout.states + layout.scanned; i < c.input_count(); ++i) in.push_back(c.input(i));
    return c.infer_body(0, std::move(in));
  });
  for (int i = 0; i < layout.states; ++i) c.set(i, carried[static_cast<size_t>(i)]);
  const Dim count = trips ? *trips : c.fresh("trips");
  for (int i = layout.states; i < static_cast<int>(out.size()); ++i) {
    const Type& t = out[static_cast<size_t>(i)];
    const int64_t axis = entry(c, "scan_output_axes", i - layout.states);
    c.set(
        i, t.dtype,
        t.shape.has_rank() ? with_axis(t.shape, c.axis(axis, t.shape.rank() + 1, "scan_output_axes"), count) : t.shape);
  }
}

Tensor slice_at(const EvalContext& c, const Tensor& x, int axis, int64_t at) {
  Dims dims = x.dims();
  dims.erase(dims.begin() + axis);
  return copy_view(x, View::whole(x.dims()).range(axis, at, 1)).reshaped(dims);
}

void scan_reference(EvalContext& c) {
  const ScanLayout layout(c);
  const Graph& body = *c.node().bodies[0];
  const auto states = static_cast<size_t>(layout.states);
  std::vector<int> axes;
  int64_t trips = 0;
  for (int k = 0; k < layout.scanned; ++k) {
    const Tensor& x = c.tensor(layout.states + k);
    axes.push_back(c.axis(entry(c, "scan_input_axes", k), x.rank(), "scan_input_axes"));
    if (k > 0 && x.dim(axes.back()) != trips) c.fail("scanned inputs have unequal lengths");
    trips = x.dim(axes.back());
  }
  std::vector<Datum> in;
  for (int i = 0; i < c.input_count(); ++i) in.push_back(c.datum(i));
  std::vector<std::vector<Tensor>> scanned(body.outputs.size() - states);
  for (int64_t t = 0; t < trips; ++t) {
    for (int k = 0; k < layout.scanned; ++k) {
      const bool reverse = entry(c, "scan_input_directions", k) != 0;
      in[states + static_cast<size_t>(k)] =
          slice_at(c, c.tensor(layout.states + k), axes[static_cast<size_t>(k)], reverse ? trips - 1 - t : t);
    }
    auto out = c.run_body(0, in);
    for (size_t i = 0; i < states; ++i) in[i] = std::move(out[i]);
    for (size_t i = 0; i < scanned.size(); ++i) {
      if (!out[states + i].is_tensor()) c.fail("a scan output is no tensor");
      scanned[i].push_back(out[states + i].tensor());
    }
  }
  for (size_t i = 0; i < states; ++i) c.set(static_cast<int>(i), in[i]);
  for (size_t i = 0; i < scanned.size(); ++i) {
    const auto output = static_cast<int>(states + i);
    const int64_t axis = entry(c, "scan_output_axes", static_cast<int>(i));
    if (!c.wants(output)) continue;
    if (scanned[i].empty()) {
      c.set(output, empty_stack(c, body, states + i, in, axis));
      continue;
    }
    if (entry(c, "scan_output_directions", static_cast<int>(i))) std::reverse(scanned[i].begin(), scanned[i].end());
    c.set(output, stack_trips(c, scanned[i], c.axis(axis, scanned[i][0].rank() + 1, "scan_output_axes")));
  }
}

const OpDef kScan = {.name = "scan",
                     .onnx = "Scan",
                     .doc = "runs a body over slices of its inputs, carrying state and stacking outputs",
                     .types = "? ...",
                     .min_inputs = 1,
                     .max_inputs = -1,
                     .max_outputs = -1,
                     .infer = infer_scan,
                     .reference = scan_reference};
const RegisterOp kRegisterScan(kScan);

}  // namespace
}  // namespace trine
