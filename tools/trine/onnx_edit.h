// Cuts an ONNX file: keeps some nodes, makes inner values inputs or outputs. Everything kept stays byte for byte.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trine/base/shape.h"

namespace trine::cli {

struct OnnxNode {
  std::string bytes;  // of the NodeProto
  std::string name, op;
  std::vector<std::string> inputs, outputs;  // inputs: also what its bodies take from outside; no empty names
};

struct OnnxNamed {
  std::string name, bytes;
};

class OnnxFile {
 public:
  // Throws Error{invalid_model} when the bytes are no ONNX model.
  static OnnxFile parse(const std::vector<uint8_t>& bytes, const std::string& path);

  const std::vector<OnnxNode>& nodes() const { return nodes_; }
  std::set<std::string> output_names() const;
  bool has_external_data() const { return external_; }

  // The model of the nodes whose index is in `keep`: what they read and do not make becomes an input (of its type in
  // `types`, without one when it is not known), and `outputs` its outputs. Weights that nobody reads are left out.
  std::string cut(const std::set<size_t>& keep, const std::set<std::string>& outputs,
                  const std::map<std::string, Type>& types) const;

 private:
  void parse_graph(std::string_view bytes);
  const OnnxNamed* declared(const std::string& name) const;
  std::string value_info(const std::string& name, const std::map<std::string, Type>& types) const;

  std::string model_rest_, graph_rest_;  // fields that stay as they are
  std::vector<OnnxNode> nodes_;
  std::vector<OnnxNamed> weights_, sparse_weights_, inputs_, outputs_, infos_;
  bool external_ = false;
};

}  // namespace trine::cli
