// ONNX model -> Graph, with every operator in the meaning of its newest version (versions.cc rewrites older ones).
//
// How a node arrives at its OpDef:
//   operator   find_onnx_op("Softmax"), find_onnx_op("ai.onnx.ml:Scaler"), find_onnx_op("com.microsoft:Gelu")
//   inputs     as in the model; "" and missing trailing ones are kNoValue or beyond the list
//   attributes copied under their ONNX names: int -> int64_t, float -> double, string, lists of them, Tensor (a sparse
//              one made dense), Type
//   data types the integers named in kDTypeAttributes become the type's name, read by Attrs::dtype ("f32"); 0
//              (UNDEFINED) means absent
//   graphs     become Node::bodies: `if` then, else; otherwise in the order of the attribute names, which the list
//              attribute "bodies" repeats for operators other than if, loop, scan and sequence_map. What a body takes
//              from outside: constants are copied into it, other values become captures (graph.h)
// Constant nodes and initialisers become graph constants, also where an initialiser is listed as an input: it is then
// not an input any more.
#pragma once

#include <map>
#include <span>
#include <string>

#include "graph/graph.h"

namespace trine {

constexpr std::string_view kDTypeAttributes[] = {"to",         "dtype",     "output_dtype",     "output_datatype",
                                                 "stash_type", "precision", "softmax_precision"};
constexpr int64_t kOldestOpset = 7;
constexpr int64_t kNewestOpset = 28;

struct ImportOptions {
  std::string name;  // what messages call the model; its path when empty
};

struct ImportedModel {
  Graph graph;
  int64_t ir_version = 0;
  int64_t opset = 0;     // of the standard operators
  std::string producer;  // "pytorch 2.4.0"
  std::map<std::string, std::string> metadata;
  std::vector<Type> declared_outputs;  // what the file says of the graph's outputs: a hint
};

// Maps the file; the graph's constants may point into it. Throws Error: io when it cannot be read, invalid_model when
// it is damaged or breaks the ONNX rules, unsupported otherwise; an error about nodes lists every such node.
ImportedModel import_onnx(const std::string& path, const ImportOptions& options = {});
// The same for bytes in memory (copied). External data is looked up below `folder`; none is allowed when it is empty.
ImportedModel import_onnx_bytes(std::span<const char> bytes, const ImportOptions& options = {},
                                const std::string& folder = "");

}  // namespace trine
