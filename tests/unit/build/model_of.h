// A model from the text of its graph.
#pragma once

#include <map>
#include <string>

#include "engine/build/model_state.h"
#include "graph/infer.h"
#include "trine/engine/build.h"

namespace trine {

inline Model model_of(const std::string& text, const std::map<std::string, std::string>& metadata = {}) {
  auto state = std::make_shared<Model::State>();
  auto graph = std::make_shared<Graph>(Graph::parse(text));
  infer_shapes(*graph);
  for (ValueId id : graph->inputs) state->inputs.push_back({graph->value(id).name, graph->type(id)});
  for (ValueId id : graph->outputs) state->outputs.push_back({graph->value(id).name, graph->type(id)});
  state->graph = graph;
  state->metadata = metadata;
  return Model(std::move(state));
}

}  // namespace trine
