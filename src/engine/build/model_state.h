// What a Model handle points to.
#pragma once

#include "graph/graph.h"
#include "trine/engine/build.h"

namespace trine {

struct Model::State {
  std::shared_ptr<const Graph> graph;
  std::map<std::string, std::string> metadata;  // the file's, and "producer"
  std::vector<IoInfo> inputs, outputs;
  int64_t opset = 0, ir_version = 0;
};

}  // namespace trine
