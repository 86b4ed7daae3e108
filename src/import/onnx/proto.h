// The messages of onnx.proto as far as the importer reads them. Names and payloads are views into the file; tensors,
// attributes and types stay bytes until they are asked for.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace trine::onnx {

constexpr int kMaxNesting = 100;  // of graphs, functions and types within each other

using Bytes = std::string_view;  // an encoded message

struct ProtoValue {  // ValueInfoProto
  std::string_view name;
  Bytes type;  // TypeProto; empty when there is none
};

struct ProtoNode {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Bytes> attributes;
};

struct ProtoGraph {
  std::string_view name;
  std::vector<ProtoNode> nodes;
  std::vector<Bytes> initializers, sparse_initializers;
  std::vector<ProtoValue> inputs, outputs, inner;  // inner: value_info
};

using OpsetImport = std::pair<std::string_view, int64_t>;  // domain ("" for "ai.onnx"), version

struct ProtoFunction {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Bytes> defaults;  // attributes with a default value
  std::vector<ProtoNode> nodes;
  std::vector<OpsetImport> opsets;
  std::vector<ProtoValue> inner;
};

struct ProtoModel {
  int64_t ir_version = 0;
  std::string_view producer_name, producer_version;
  std::vector<OpsetImport> opsets;
  Bytes graph;
  bool has_graph = false;
  std::vector<Bytes> functions;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
};

// AttributeProto without its payload.
struct ProtoAttributeHead {
  std::string_view name, reference;
  int64_t type = 0;  // AttributeProto.AttributeType
  Bytes graph;       // of type kGraphAttribute
};
constexpr int64_t kGraphAttribute = 5;

// Each throws Damaged.
ProtoModel read_model(Bytes bytes);
ProtoGraph read_graph(Bytes bytes);
ProtoFunction read_function(Bytes bytes);
ProtoNode read_node(Bytes bytes);
ProtoValue read_value(Bytes bytes);
ProtoAttributeHead read_attribute_head(Bytes bytes);
std::pair<std::string_view, std::string_view> read_string_pair(Bytes bytes);

// "ai.onnx" is another name of the standard domain.
inline std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

}  // namespace trine::onnx
