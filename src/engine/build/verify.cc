#include "engine/build/verify.h"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <set>

#include "base/deadline.h"
#include "engine/build/compare.h"
#include "engine/build/noise.h"
#include "graph/eval.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr uint64_t kSeed = 20240229;
constexpr double kFastWork = 2e6;    // elements that a reference may touch in fast mode
constexpr double kFastSeconds = 4;   // for all references together
constexpr double kTrySeconds = 2;    // for a run with guessed sizes
constexpr double kWholeFlops = 2e7;  // of a model that is evaluated as a whole in fast mode
constexpr double kTf32Factor = 64;   // products of factors of 11 bits
constexpr double kWholeFactor = 64;  // errors add up over a network

// Finite everywhere, small integers so that they are valid indices of most tables.
Tensor random_input(const Type& type, std::mt19937_64& random) {
  const Dims dims = type.shape.static_dims();
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  std::normal_distribution<double> normal;
  for (double& v : values) v = is_float(type.dtype) ? normal(random) : static_cast<double>(random() & 1);
  return Tensor::from_f64(type.dtype, dims, values);
}

}  // namespace

bool can_be_random(const Type& t) { return t.is_tensor() && t.shape.is_static() && t.dtype != DType::string; }

std::vector<Datum> random_inputs(const std::vector<Type>& types, uint64_t seed) {
  std::vector<Datum> inputs;
  std::mt19937_64 random(kSeed + seed);
  for (const Type& t : types) inputs.push_back(random_input(t, random));
  return inputs;
}

namespace {

std::shared_ptr<const Plan> unowned(const Plan& plan) { return {std::shared_ptr<void>(), &plan}; }

class Verifier {
 public:
  Verifier(Plan& plan, Verify level, double factor, const MakeRunner& make)
      : plan_(plan), make_(make), level_(level), factor_(factor > 0 ? factor : 1) {
    note_plans(plan);
  }

  VerifyReport run(const std::vector<Type>& types) {
    for (const Type& t : types)
      if (!can_be_random(t)) {
        report_.problem = fmt::format("an input is {}", t.text());
        return report_;
      }
    const std::vector<Datum> inputs = random_inputs(types);
    try {
      const std::unique_ptr<Runner> runner = make_(unowned(plan_));
      runner->observe({[&](const CallEvent& event) { see(event); }, true});
      runner->run(inputs);
    } catch (const Error& e) {
      report_.problem = e.what();
    }
    return report_;
  }

 private:
  void see(const CallEvent& event) {
    if (event.call->kind == Call::Kind::host || !is_last_call(event)) return;
    const bool fresh = seen_.emplace(event.plan, event.call->node).second;
    if (!fresh && level_ == Verify::fast) return;  // a later trip of a loop
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<Difference> d = judge(event);
    spent_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!d) {
      (event.node->op->reference ? report_.skipped : report_.undefined) += fresh;
      return;
    }
    report_.checked += fresh;
    report_.sampled += fresh && d->sampled;
    if (!d->ok) drop(event, *d);
  }

  // A node's outputs are complete after the last of its calls.
  static bool is_last_call(const CallEvent& event) {
    const auto& calls = event.segment->calls;
    const auto next = static_cast<size_t>(event.call - calls.data()) + 1;
    return next == calls.size() || calls[next].node != event.call->node;
  }

  std::optional<Difference> judge(const CallEvent& event) {
    const Datum& first = (*event.outputs)[0];
    if (level_ == Verify::fast) {
      if (first.is_tensor())
        if (auto d = compare_sampled(*event.node, *event.call, *event.inputs, first.tensor(), factor_)) return d;
      if (work(event) > kFastWork || spent_ > kFastSeconds) return std::nullopt;
    }
    if (!event.node->op->reference) return std::nullopt;
    const std::vector<Datum> want = evaluate_node(*event.node, *event.inputs);
    std::vector<double> noise;  // worked out for what looks wrong
    Difference worst;
    const double factor = event.call->device && event.call->device->tf32() ? factor_ * kTf32Factor : factor_;
    for (size_t i = 0; i < want.size(); ++i) {
      if (event.node->outputs[i] == kNoValue || !want[i].is_tensor()) continue;
      const Tensor& got = (*event.outputs)[i].tensor();
      Difference d = compare_all(got, want[i].tensor(), factor);
      if (!d.ok) {
        if (noise.empty()) noise = rounding_noise(*event.node, *event.inputs, want);
        d = compare_all(got, want[i].tensor(), factor, noise[i]);
      }
      if (!d.ok || d.worst > worst.worst) worst = d;
      if (!d.ok) break;
    }
    return worst;
  }

  static double work(const CallEvent& event) {
    double elements = event.call->kind == Call::Kind::kernel ? dnn::flops(event.call->what.problem) : 0;
    for (const auto* data : {event.inputs, event.outputs})
      for (const Datum& d : *data)
        if (d.is_tensor()) elements += static_cast<double>(d.tensor().elements());
    return elements;
  }

  void drop(const CallEvent& event, const Difference& d) {
    PlanStep& step = plans_.at(event.plan)->steps[static_cast<size_t>(event.call->node)];
    const bool kernel = event.call->kind == Call::Kind::kernel;
    const std::string who = !kernel              ? "loop"
                            : event.call->device ? std::string(event.call->device->kernel())
                                                 : std::string(event.call->row->name);
    report_.dropped.push_back(
        fmt::format("{} is not used, its result was wrong: off by {:.3g} in node '{}', allowed are {:.3g}", who,
                    d.worst, event.node->name, d.allowed));
    if (kernel) {
      for (auto& [key, plan] : plans_) plan->limits.drop.push_back(who);
    } else {
      step.kind = StepKind::host;
      step.loops.clear();
      step.note = "its loop failed verification";
    }
  }

  void note_plans(Plan& plan) {
    plans_[&plan] = &plan;
    for (PlanStep& step : plan.steps)
      for (const auto& body : step.bodies) note_plans(*body);
  }

  Plan& plan_;
  const MakeRunner& make_;
  std::map<const Plan*, Plan*> plans_;          // with all bodies
  std::set<std::pair<const Plan*, int>> seen_;  // nodes
  Verify level_;
  double factor_;
  double spent_ = 0;
  VerifyReport report_;
};

}  // namespace

namespace {

double plan_flops(const Plan& plan, const std::vector<Type>& types) {
  const std::unique_ptr<Segment> segment =
      prepare(plan, with_input_types(plan, types), nullptr, /*threads=*/1, nullptr);
  double flops = 0;
  for (const Call& call : segment->calls)
    if (call.kind == Call::Kind::kernel) flops += dnn::flops(call.what.problem);
  return flops;
}

}  // namespace

std::string verify_whole(const Plan& plan, const Graph& original, const std::vector<Type>& types, Verify level,
                         double factor, const MakeRunner& make) {
  for (const Type& t : types)
    if (!can_be_random(t)) return "";
  const std::vector<Datum> inputs = random_inputs(types);
  if (level == Verify::fast && plan_flops(plan, types) > kWholeFlops) return "";
  for (const Node& node : original.nodes)
    if (node.op->impure) return "";
  std::vector<Datum> want;
  try {
    want = evaluate(original, inputs);
  } catch (const Error&) {
    return "";  // random data does not suit every model: shapes and indices that come in as inputs
  }
  std::vector<double> noise;
  const std::vector<Datum> got = make(unowned(plan))->run(inputs);
  for (size_t i = 0; i < want.size(); ++i) {
    if (!want[i].is_tensor() || !got[i].is_tensor()) continue;
    Difference d = compare_all(got[i].tensor(), want[i].tensor(), factor > 0 ? factor : kWholeFactor);
    if (!d.ok) {
      if (noise.empty()) noise = rounding_noise(original, inputs, want);
      d = compare_all(got[i].tensor(), want[i].tensor(), factor > 0 ? factor : kWholeFactor,
                      noise[i] / kWholeFactor);  // which has run through the network already
    }
    if (!d.ok)
      return fmt::format("output '{}' differs from the model's reference by {:.3g}, allowed {:.3g}",
                         original.value(original.outputs[i]).name, d.worst, d.allowed);
  }
  return "";
}

size_t calls_that_run(const Plan& plan, const std::vector<Type>& types, const MakeRunner& make) {
  if (!std::all_of(types.begin(), types.end(), can_be_random)) return 0;
  size_t calls = 0;
  const Deadline deadline(kTrySeconds);
  try {
    const std::unique_ptr<Runner> runner = make(unowned(plan));
    runner->observe({[&](const CallEvent&) { ++calls; }, false});
    runner->run(random_inputs(types));
  } catch (const Error&) {
    return calls;
  }
  return kAllWork;
}

VerifyReport verify_plan(Plan& plan, const std::vector<Type>& input_types, Verify level, double max_error,
                         const MakeRunner& make) {
  return Verifier(plan, level, max_error, make).run(input_types);
}

}  // namespace trine
