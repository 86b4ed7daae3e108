// A graph as an engine, for tests that hold engines to references.
#pragma once

#include <cstdio>

#include "engine/build/model_state.h"
#include "graph/graph.h"
#include "trine/engine/session.h"

namespace trine::test {

inline Model model_of(const Graph& graph) {
  auto state = std::make_shared<Model::State>();
  for (ValueId id : graph.inputs) state->inputs.push_back({graph.value(id).name, graph.type(id)});
  for (ValueId id : graph.outputs) state->outputs.push_back({graph.value(id).name, graph.type(id)});
  state->graph = std::make_shared<const Graph>(graph);
  return Model(std::move(state));
}

inline Engine engine_of(const Graph& graph, bool code) {
  return build(model_of(graph), {.threads = 2, .verify = Verify::off, .code = code});
}

// Where libtrine_llvm is not built, there is no machine code to test.
inline bool has_machine_code() {
  static const bool has = [] {
    const Engine engine = engine_of(Graph::parse("graph(%x: f32[3]) {\n %y: f32[3] = tanh %x\n return %y\n}"), true);
    for (const std::string& note : engine.notes())
      if (note.starts_with("machine code")) return std::printf("%s\n", note.c_str()), false;
    return true;
  }();
  return has;
}

}  // namespace trine::test
