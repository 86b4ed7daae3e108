// Writes ONNX models for tests: each function gives the bytes of one message.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trine::test {

using Bytes = std::string;

// TensorProto.DataType numbers that tests use by name.
enum OnnxType : int {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11
};

// Attributes: AttributeProto.
Bytes int_attribute(const std::string& name, int64_t value);
Bytes float_attribute(const std::string& name, float value);
Bytes ints_attribute(const std::string& name, const std::vector<int64_t>& values);
Bytes floats_attribute(const std::string& name, const std::vector<float>& values);
Bytes string_attribute(const std::string& name, const std::string& value);
Bytes strings_attribute(const std::string& name, const std::vector<std::string>& values);
Bytes tensor_attribute(const std::string& name, const Bytes& tensor);
Bytes graph_attribute(const std::string& name, const Bytes& graph);
Bytes reference_attribute(const std::string& name, const std::string& to, int type);

// TensorProto.
Bytes raw_tensor(const std::string& name, int type, const std::vector<int64_t>& dims, const std::string& raw);
Bytes float_tensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values);
Bytes int64_tensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int64_t>& values);
Bytes int32_data_tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                        const std::vector<int32_t>& values);
Bytes external_tensor(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<std::pair<std::string, std::string>>& entries);
Bytes sparse_tensor(const Bytes& values, const Bytes& indices, const std::vector<int64_t>& dims);

// ValueInfoProto of a tensor: a dimension is a number or a name.
Bytes value_info(const std::string& name, int type, const std::vector<std::string>& dims);
Bytes value_info_without_shape(const std::string& name, int type);

struct NodeText {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::vector<Bytes> attributes = {};
  std::string name = {}, domain = {};
};
Bytes node(const NodeText& text);

struct GraphText {
  std::vector<NodeText> nodes;
  std::vector<Bytes> inputs, outputs;
  std::vector<Bytes> initializers = {}, sparse_initializers = {}, inner = {};
};
Bytes graph(const GraphText& text);

struct FunctionText {
  std::string name, domain;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<NodeText> nodes;
  std::map<std::string, int64_t> opsets = {{"", 21}};
  std::vector<Bytes> defaults = {};
};
Bytes function(const FunctionText& text);

struct ModelText {
  GraphText graph;
  int64_t opset = 21;
  std::vector<FunctionText> functions = {};
  std::map<std::string, int64_t> domains = {};
  std::map<std::string, std::string> metadata = {};
  int64_t ir_version = 8;
};
Bytes model(const ModelText& text);

}  // namespace trine::test
