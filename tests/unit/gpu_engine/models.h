// Models that sessions on a device are tried on, and what they should give.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "../engine/network.h"
#include "engine/engine_state.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "trine/engine/session.h"

namespace trine::test {

// "cuda:0" on a machine with a GPU.
inline std::string device() {
  const char* wanted = std::getenv("TRINE_TEST_DEVICE");
  return wanted && std::string(wanted) != "cpu" ? wanted : "simt";
}

inline Engine engine_of(const std::string& text, const dnn::Limits& limits = {}) {
  auto state = std::make_shared<Engine::State>();
  auto graph = std::make_shared<Graph>(Graph::parse(text));
  infer_shapes(*graph);
  state->graph = graph;
  state->plan = make_plan(graph, limits);
  set_io(*state);
  return Engine(std::move(state));
}

inline void expect_near(const Datum& got, const Datum& want, double tolerance = 2e-5) {
  ASSERT_TRUE(got.is_tensor() && want.is_tensor());
  ASSERT_EQ(got.tensor().type_text(), want.tensor().type_text());
  const auto x = got.tensor().f64_values(), y = want.tensor().f64_values();
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i]))) << i;
}

// One run beside the references.
inline void expect_run(Session& session, const std::vector<Datum>& inputs) {
  const std::vector<Datum> got = session.run(inputs), want = evaluate(*session.engine().state()->graph, inputs);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], want[i]);
}

}  // namespace trine::test
