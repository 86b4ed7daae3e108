#include "onnx_edit.h"

#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "trine/base/error.h"

namespace trine::cli {
namespace {

// Field numbers of onnx.proto.
enum Model : uint32_t { model_graph = 7 };
enum Graph : uint32_t {
  graph_node = 1,
  graph_initializer = 5,
  graph_input = 11,
  graph_output = 12,
  graph_value_info = 13,
  graph_sparse = 15
};
enum NodeField : uint32_t { node_input = 1, node_output = 2, node_name = 3, node_op = 4, node_attribute = 5 };
enum Attribute : uint32_t { attribute_graph = 6, attribute_graphs = 11 };
enum TensorField : uint32_t { tensor_name = 8, tensor_location = 14 };

constexpr int kDeepest = 64;  // bodies within bodies

// The string or message that `reader` stands at.
std::string_view view(protozero::pbf_reader& reader) {
  if (reader.wire_type() != protozero::pbf_wire_type::length_delimited)
    throw protozero::unknown_pbf_wire_type_exception();
  const auto bytes = reader.get_view();
  return {bytes.data(), bytes.size()};
}
std::string text(protozero::pbf_reader& reader) { return std::string(view(reader)); }

// The string field `field` of a message: its name.
std::string string_field(std::string_view bytes, uint32_t field) {
  protozero::pbf_reader reader(bytes.data(), bytes.size());
  std::string found;
  while (reader.next()) {
    if (reader.tag() == field) {
      found = text(reader);
    } else {
      reader.skip();
    }
  }
  return found;
}

bool is_external(std::string_view tensor) {
  protozero::pbf_reader reader(tensor.data(), tensor.size());
  while (reader.next()) {
    if (reader.tag() == tensor_location && reader.wire_type() == protozero::pbf_wire_type::varint) {
      return reader.get_int32() == 1;
    }
    reader.skip();
  }
  return false;
}

// Copies the field that `reader` stands at.
void copy_field(protozero::pbf_reader& reader, protozero::pbf_writer& writer) {
  const uint32_t tag = reader.tag();
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::varint: writer.add_uint64(tag, reader.get_uint64()); break;
    case protozero::pbf_wire_type::fixed64: writer.add_fixed64(tag, reader.get_fixed64()); break;
    case protozero::pbf_wire_type::fixed32: writer.add_fixed32(tag, reader.get_fixed32()); break;
    default: writer.add_bytes(tag, text(reader)); break;
  }
}

void read_body(std::string_view graph, std::vector<std::string>& reads, int depth);

// Every name that a node reads, its bodies included: too many is harmless, too few would break it.
OnnxNode read_node(std::string_view bytes, int depth) {
  if (depth > kDeepest)
    throw Error(ErrorCode::invalid_model, "reduce: bodies nested deeper than 64; no model needs that");
  OnnxNode node;
  node.bytes = std::string(bytes);
  protozero::pbf_reader reader(bytes.data(), bytes.size());
  while (reader.next()) {
    switch (reader.tag()) {
      case node_input: node.inputs.push_back(text(reader)); break;
      case node_output: node.outputs.push_back(text(reader)); break;
      case node_name: node.name = text(reader); break;
      case node_op: node.op = text(reader); break;
      case node_attribute: {
        const std::string_view inside = view(reader);
        protozero::pbf_reader attribute(inside.data(), inside.size());
        while (attribute.next()) {
          if (attribute.tag() != attribute_graph && attribute.tag() != attribute_graphs) {
            attribute.skip();
            continue;
          }
          read_body(view(attribute), node.inputs, depth + 1);
        }
        break;
      }
      default: reader.skip();
    }
  }
  std::erase(node.inputs, "");
  std::erase(node.outputs, "");
  return node;
}

void read_body(std::string_view graph, std::vector<std::string>& reads, int depth) {
  protozero::pbf_reader reader(graph.data(), graph.size());
  while (reader.next()) {
    if (reader.tag() == graph_node) {
      const OnnxNode inner = read_node(view(reader), depth);
      reads.insert(reads.end(), inner.inputs.begin(), inner.inputs.end());
    } else if (reader.tag() == graph_output) {  // a body may return an outer value as it is
      reads.push_back(string_field(view(reader), 1));
    } else {
      reader.skip();
    }
  }
}

int onnx_type(DType dtype) {
  constexpr DType kTypes[] = {
      DType::none, DType::f32,    DType::u8,      DType::i8,       DType::u16,        DType::i16,    DType::i32,
      DType::i64,  DType::string, DType::boolean, DType::f16,      DType::f64,        DType::u32,    DType::u64,
      DType::c64,  DType::c128,   DType::bf16,    DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz,
      DType::u4,   DType::i4,     DType::f4e2m1,  DType::f8e8m0,   DType::u2,         DType::i2};
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == dtype) return static_cast<int>(i);
  }
  return 0;
}

// Appends field `type` of a ValueInfoProto.
void add_type(std::string& info, const Type& type) {
  protozero::pbf_writer writer(info);
  protozero::pbf_writer value_type(writer, 2);
  protozero::pbf_writer tensor_type(value_type, 1);
  tensor_type.add_int32(1, onnx_type(type.dtype));
  if (!type.shape.has_rank()) return;
  std::string
      shape;  // a scalar's has no dimensions; a nested writer would leave the empty message out, which means any rank
  protozero::pbf_writer dims(shape);
  for (const Dim& dim : type.shape.dims()) {
    std::string one;
    protozero::pbf_writer writer(one);
    if (dim.is_constant()) writer.add_int64(1, dim.value());
    else writer.add_string(2, dim.text());
    dims.add_message(1, one);
  }
  tensor_type.add_message(2, shape);
}

}  // namespace

OnnxFile OnnxFile::parse(const std::vector<uint8_t>& bytes, const std::string& path) {
  OnnxFile file;
  try {
    protozero::pbf_reader reader(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    protozero::pbf_writer rest(file.model_rest_);
    while (reader.next()) {
      if (reader.tag() == model_graph) {
        file.parse_graph(view(reader));
      } else {
        copy_field(reader, rest);
      }
    }
  } catch (const protozero::exception& error) {
    throw Error(ErrorCode::invalid_model, fmt::format("{}: {}; an ONNX file is needed", path, error.what()));
  }
  if (file.nodes_.empty())
    throw Error(ErrorCode::invalid_model, fmt::format("{}: no nodes; an ONNX file is needed", path));
  return file;
}

void OnnxFile::parse_graph(std::string_view bytes) {
  protozero::pbf_reader reader(bytes.data(), bytes.size());
  protozero::pbf_writer rest(graph_rest_);
  while (reader.next()) {
    const uint32_t tag = reader.tag();
    const bool known = tag == graph_node || tag == graph_initializer ||
                       (tag >= graph_input && tag <= graph_value_info) || tag == graph_sparse;
    if (!known) {
      copy_field(reader, rest);
      continue;
    }
    const std::string message = text(reader);
    switch (tag) {
      case graph_node: nodes_.push_back(read_node(message, 0)); break;
      case graph_initializer:
        external_ = external_ || is_external(message);
        weights_.push_back({string_field(message, tensor_name), message});
        break;
      case graph_sparse:
        sparse_weights_.push_back({string_field(string_field(message, 1), tensor_name), message});
        break;
      case graph_input: inputs_.push_back({string_field(message, 1), message}); break;
      case graph_output: outputs_.push_back({string_field(message, 1), message}); break;
      default: infos_.push_back({string_field(message, 1), message});
    }
  }
}

std::set<std::string> OnnxFile::output_names() const {
  std::set<std::string> names;
  for (const OnnxNamed& output : outputs_) names.insert(output.name);
  return names;
}

const OnnxNamed* OnnxFile::declared(const std::string& name) const {
  for (const auto* list : {&inputs_, &outputs_, &infos_}) {
    for (const OnnxNamed& named : *list) {
      if (named.name == name) return &named;
    }
  }
  return nullptr;
}

// A ValueInfoProto: of the type given, else as the file declares it, else the name alone.
std::string OnnxFile::value_info(const std::string& name, const std::map<std::string, Type>& types) const {
  const auto type = types.find(name);
  const bool given = type != types.end() && type->second.is_tensor();
  const OnnxNamed* found = declared(name);
  if (!given && found) return found->bytes;
  std::string info;
  protozero::pbf_writer(info).add_string(1, name);
  if (given) add_type(info, type->second);
  return info;
}

std::string OnnxFile::cut(const std::set<size_t>& keep, const std::set<std::string>& outputs,
                          const std::map<std::string, Type>& types) const {
  std::set<std::string> made, read(outputs);
  for (const size_t i : keep) {
    made.insert(nodes_[i].outputs.begin(), nodes_[i].outputs.end());
    read.insert(nodes_[i].inputs.begin(), nodes_[i].inputs.end());
  }
  std::string graph = graph_rest_;
  {
    protozero::pbf_writer writer(graph);
    for (const size_t i : keep) writer.add_message(graph_node, nodes_[i].bytes);
    std::set<std::string> given;
    for (const auto& [list, tag] :
         {std::pair{&weights_, graph_initializer}, std::pair{&sparse_weights_, graph_sparse}}) {
      for (const OnnxNamed& weight : *list) {
        if (!read.contains(weight.name)) continue;
        given.insert(weight.name);
        writer.add_message(tag, weight.bytes);
      }
    }
    std::set<std::string> known_outside;  // names that a body defines itself are no inputs of ours
    for (const OnnxNode& node : nodes_) known_outside.insert(node.outputs.begin(), node.outputs.end());
    for (const OnnxNamed& input : inputs_) known_outside.insert(input.name);
    for (const std::string& name : read) {
      if (made.contains(name) || given.contains(name) || !known_outside.contains(name)) continue;
      writer.add_message(graph_input, value_info(name, types));
    }
    for (const std::string& name : outputs) writer.add_message(graph_output, value_info(name, types));
  }
  std::string model = model_rest_;
  protozero::pbf_writer(model).add_message(model_graph, graph);
  return model;
}

}  // namespace trine::cli
