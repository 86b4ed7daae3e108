#include "engine/build/model_state.h"
#include "engine/graph_info.h"
#include "graph/eval.h"
#include "import/onnx/import.h"
#include "trine/base/error.h"

namespace trine {
namespace {

Model model_of(ImportedModel imported) {
  auto state = std::make_shared<Model::State>();
  const Graph& g = imported.graph;
  for (ValueId id : g.inputs) state->inputs.push_back({g.value(id).name, g.type(id)});
  for (ValueId id : g.outputs) state->outputs.push_back({g.value(id).name, g.type(id)});
  state->metadata = std::move(imported.metadata);
  if (!imported.producer.empty()) state->metadata.emplace("producer", imported.producer);
  state->opset = imported.opset;
  state->ir_version = imported.ir_version;
  state->graph = std::make_shared<const Graph>(std::move(imported.graph));
  return Model(std::move(state));
}

}  // namespace

Model load(const std::string& path) { return model_of(import_onnx(path)); }

Model load_bytes(const void* data, size_t size) {
  return model_of(import_onnx_bytes({static_cast<const char*>(data), size}));
}

const std::vector<IoInfo>& Model::inputs() const { return state_->inputs; }
const std::vector<IoInfo>& Model::outputs() const { return state_->outputs; }
const std::map<std::string, std::string>& Model::metadata() const { return state_->metadata; }
int64_t Model::opset() const { return state_->opset; }
int64_t Model::ir_version() const { return state_->ir_version; }
std::string Model::graph_text() const { return state_->graph->text(); }
size_t Model::node_count() const { return state_->graph->nodes.size(); }

std::vector<Datum> Model::evaluate(const std::vector<Datum>& inputs,
                                   const std::function<void(const std::string&, const Datum&)>& see) const {
  const Graph& g = *state_->graph;
  return trine::evaluate(g, inputs, [&](ValueId id, const Datum& d) {
    if (see) see(g.value(id).name, d);
  });
}

GraphInfo graph_info(const Model& model) { return graph_info(*model.state()->graph); }

}  // namespace trine
