// Loop: for (i = 0; i < M && condition; ++i) (condition, state..., scanned...) = body(i, condition, state...,
// captures...) Outputs: the last state, then each scanned value stacked over the trips. The condition that the body
// yields always counts, also where the first one is absent (= true): so do the other runtimes.
#include <limits>

#include "ops/loop_state.h"
#include "ops/shape_rules.h"
#include "ops/type_rules.h"

namespace trine {
namespace {

// A loop of more trips is taken for one that never ends.
constexpr int64_t kMaxTrips = int64_t{1} << 24;

int state_count(const Node& node) { return static_cast<int>(node.inputs.size()) - node.captures - 2; }

// Whether body value `id` is true in every trip, given that `condition_in` is.
bool always_true(const Graph& body, ValueId id, ValueId condition_in) {
  const std::vector<int> producer = body.producers();
  for (size_t steps = 0; steps <= body.nodes.size(); ++steps) {
    if (id == condition_in) return true;
    const Tensor& constant = body.value(id).constant;
    if (constant.defined()) return constant.elements() == 1 && constant.i64_values()[0] != 0;
    const int at = producer[static_cast<size_t>(id)];
    if (at < 0 || !body.nodes[static_cast<size_t>(at)].is("identity")) return false;
    id = body.nodes[static_cast<size_t>(at)].inputs[0];
  }
  return false;
}

// The number of trips, where M alone decides it.
Dim trip_count(InferContext& c) {
  const Graph& body = *c.node().bodies[0];
  const Tensor first = c.constant(1);
  const bool starts = !c.has(1) || (first.defined() && first.elements() == 1 && first.i64_values()[0] != 0);
  const auto m = c.content(0);
  if (starts && m && m->size() == 1 && always_true(body, body.outputs[0], body.inputs[1])) {
    const Dim& count = (*m)[0];
    return count.constant() ? Dim(std::max<int64_t>(count.value(), 0)) : count;
  }
  return c.fresh("trips");
}

void infer_loop(InferContext& c) {
  const int states = state_count(c.node());
  if (c.node().bodies.size() != 1 || states < 0)
    c.fail("needs inputs M and condition (either may be absent) and a body");
  std::vector<Type> carried;
  for (int i = 0; i < states; ++i) carried.push_back(c.input(2 + i));
  const auto out = stable_body_types(c, carried, 1, [&](const std::vector<Type>& state) {
    std::vector<Type> in{Type::tensor(DType::i64, Shape(std::vector<Dim>{})),
                         Type::tensor(DType::boolean, Shape(std::vector<Dim>{}))};
    in.insert(in.end(), state.begin(), state.end());
    for (int i = 2 + states; i < c.input_count(); ++i) in.push_back(c.input(i));
    return c.infer_body(0, std::move(in));
  });
  for (int i = 0; i < states; ++i) c.set(i, carried[static_cast<size_t>(i)]);
  const Dim trips = trip_count(c);
  for (size_t i = static_cast<size_t>(states) + 1; i < out.size(); ++i)
    c.set(static_cast<int>(i) - 1, out[i].dtype, with_axis(out[i].shape, 0, trips));
}

bool truth(const EvalContext& c, const Tensor& t) {
  if (t.elements() != 1) c.fail("the condition is " + t.type_text() + "; it must hold one element");
  return t.i64_values()[0] != 0;
}

void loop_reference(EvalContext& c) {
  const auto states = static_cast<size_t>(state_count(c.node()));
  const Graph& body = *c.node().bodies[0];
  const int64_t most = c.has(0) ? scalar_integer(c, 0, "M") : std::numeric_limits<int64_t>::max();
  bool condition = c.has(1) ? truth(c, c.tensor(1)) : true;
  std::vector<Datum> in{Datum(Tensor::scalar_i64(0)), Datum(Tensor::from_i64(DType::boolean, {}, {condition}))};
  for (int i = 2; i < c.input_count(); ++i) in.push_back(c.datum(i));
  std::vector<std::vector<Tensor>> scanned(body.outputs.size() - 1 - states);
  for (int64_t trip = 0; trip < most && condition; ++trip) {
    if (trip == kMaxTrips) c.fail("no end after 2^24 trips; the condition must become false or M smaller");
    in[0] = Tensor::scalar_i64(trip);
    in[1] = Tensor::from_i64(DType::boolean, {}, {1});
    auto out = c.run_body(0, in);
    if (!out[0].is_tensor()) c.fail("the body's condition is no tensor");
    condition = truth(c, out[0].tensor());
    for (size_t i = 0; i < states; ++i) in[2 + i] = std::move(out[1 + i]);
    for (size_t i = 0; i < scanned.size(); ++i) {
      if (!out[1 + states + i].is_tensor()) c.fail("a scan output is no tensor");
      scanned[i].push_back(out[1 + states + i].tensor());
    }
  }
  for (size_t i = 0; i < states; ++i) c.set(static_cast<int>(i), in[2 + i]);
  for (size_t i = 0; i < scanned.size(); ++i) {
    const auto output = static_cast<int>(states + i);
    if (c.wants(output))
      c.set(output, scanned[i].empty() ? empty_stack(c, body, 1 + states + i, in, 0) : stack_trips(c, scanned[i], 0));
  }
}

const OpDef kLoop = {.name = "loop",
                     .onnx = "Loop",
                     .doc = "runs a body up to M times while a condition holds, carrying state",
                     .types = "x b ? ...",
                     .min_inputs = 2,
                     .max_inputs = -1,
                     .max_outputs = -1,
                     .infer = infer_loop,
                     .reference = loop_reference};
const RegisterOp kRegisterLoop(kLoop);

}  // namespace
}  // namespace trine
