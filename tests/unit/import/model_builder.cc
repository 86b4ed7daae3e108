#include "model_builder.h"

#include <functional>
#include <protozero/pbf_writer.hpp>

namespace trine::test {

using protozero::pbf_writer;

namespace {

template <class Fill>
Bytes message(Fill fill) {
  Bytes bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

void add_all(pbf_writer& w, uint32_t field, const std::vector<Bytes>& items) {
  for (const Bytes& item : items) w.add_message(field, item);
}

Bytes attribute(const std::string& name, int type, const std::function<void(pbf_writer&)>& value) {
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    value(w);
    w.add_int32(20, type);
  });
}

Bytes tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
             const std::function<void(pbf_writer&)>& data) {
  return message([&](pbf_writer& w) {
    for (int64_t d : dims) w.add_int64(1, d);
    w.add_int32(2, type);
    data(w);
    w.add_string(8, name);
  });
}

Bytes pair(const std::string& key, const std::string& value) {
  return message([&](pbf_writer& w) {
    w.add_string(1, key);
    w.add_string(2, value);
  });
}

Bytes opset(const std::string& domain, int64_t version) {
  return message([&](pbf_writer& w) {
    w.add_string(1, domain);
    w.add_int64(2, version);
  });
}

}  // namespace

Bytes int_attribute(const std::string& name, int64_t v) {
  return attribute(name, 2, [&](auto& w) { w.add_int64(3, v); });
}
Bytes float_attribute(const std::string& name, float v) {
  return attribute(name, 1, [&](auto& w) { w.add_float(2, v); });
}
Bytes string_attribute(const std::string& name, const std::string& v) {
  return attribute(name, 3, [&](auto& w) { w.add_bytes(4, v); });
}
Bytes tensor_attribute(const std::string& name, const Bytes& v) {
  return attribute(name, 4, [&](auto& w) { w.add_message(5, v); });
}
Bytes graph_attribute(const std::string& name, const Bytes& v) {
  return attribute(name, 5, [&](auto& w) { w.add_message(6, v); });
}
Bytes ints_attribute(const std::string& name, const std::vector<int64_t>& v) {
  return attribute(name, 7, [&](auto& w) {
    for (int64_t i : v) w.add_int64(8, i);
  });
}
Bytes floats_attribute(const std::string& name, const std::vector<float>& v) {
  return attribute(name, 6, [&](auto& w) {
    for (float f : v) w.add_float(7, f);
  });
}
Bytes strings_attribute(const std::string& name, const std::vector<std::string>& v) {
  return attribute(name, 8, [&](auto& w) {
    for (const std::string& s : v) w.add_bytes(9, s);
  });
}
Bytes reference_attribute(const std::string& name, const std::string& to, int type) {
  return attribute(name, type, [&](auto& w) { w.add_string(21, to); });
}

Bytes raw_tensor(const std::string& name, int type, const std::vector<int64_t>& dims, const std::string& raw) {
  return tensor(name, type, dims, [&](auto& w) { w.add_bytes(9, raw); });
}
Bytes float_tensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  return tensor(name, kFloat, dims, [&](auto& w) { w.add_packed_float(4, values.begin(), values.end()); });
}
Bytes int64_tensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int64_t>& values) {
  return tensor(name, kInt64, dims, [&](auto& w) { w.add_packed_int64(7, values.begin(), values.end()); });
}
Bytes int32_data_tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                        const std::vector<int32_t>& values) {
  return tensor(name, type, dims, [&](auto& w) { w.add_packed_int32(5, values.begin(), values.end()); });
}
Bytes external_tensor(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<std::pair<std::string, std::string>>& entries) {
  return tensor(name, kFloat, dims, [&](auto& w) {
    for (const auto& [key, value] : entries) w.add_message(13, pair(key, value));
    w.add_int32(14, 1);
  });
}
Bytes sparse_tensor(const Bytes& values, const Bytes& indices, const std::vector<int64_t>& dims) {
  return message([&](pbf_writer& w) {
    w.add_message(1, values);
    w.add_message(2, indices);
    for (int64_t d : dims) w.add_int64(3, d);
  });
}

static Bytes dim(const std::string& text) {
  return message([&](pbf_writer& w) {
    const bool number = text.find_first_not_of("-0123456789") == std::string::npos;
    if (number) w.add_int64(1, std::stoll(text));
    else w.add_string(2, text);
  });
}

Bytes value_info(const std::string& name, int type, const std::vector<std::string>& dims) {
  const Bytes shape = message([&](pbf_writer& w) {
    for (const std::string& d : dims) w.add_message(1, dim(d));
  });
  const Bytes tensor_type = message([&](pbf_writer& w) {
    w.add_int32(1, type);
    w.add_message(2, shape);
  });
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    w.add_message(2, message([&](pbf_writer& t) { t.add_message(1, tensor_type); }));
  });
}

Bytes value_info_without_shape(const std::string& name, int type) {
  const Bytes tensor_type = message([&](pbf_writer& w) { w.add_int32(1, type); });
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    w.add_message(2, message([&](pbf_writer& t) { t.add_message(1, tensor_type); }));
  });
}

Bytes node(const NodeText& text) {
  return message([&](pbf_writer& w) {
    for (const std::string& name : text.inputs) w.add_string(1, name);
    for (const std::string& name : text.outputs) w.add_string(2, name);
    w.add_string(3, text.name);
    w.add_string(4, text.op);
    add_all(w, 5, text.attributes);
    w.add_string(7, text.domain);
  });
}

static void add_nodes(pbf_writer& w, uint32_t field, const std::vector<NodeText>& nodes) {
  for (const NodeText& n : nodes) w.add_message(field, node(n));
}

Bytes graph(const GraphText& text) {
  return message([&](pbf_writer& w) {
    add_nodes(w, 1, text.nodes);
    w.add_string(2, "g");
    add_all(w, 5, text.initializers);
    add_all(w, 11, text.inputs);
    add_all(w, 12, text.outputs);
    add_all(w, 13, text.inner);
    add_all(w, 15, text.sparse_initializers);
  });
}

Bytes function(const FunctionText& text) {
  return message([&](pbf_writer& w) {
    w.add_string(1, text.name);
    for (const std::string& name : text.inputs) w.add_string(4, name);
    for (const std::string& name : text.outputs) w.add_string(5, name);
    for (const std::string& name : text.attributes) w.add_string(6, name);
    add_nodes(w, 7, text.nodes);
    for (const auto& [domain, version] : text.opsets) w.add_message(9, opset(domain, version));
    w.add_string(10, text.domain);
    add_all(w, 11, text.defaults);
  });
}

Bytes model(const ModelText& text) {
  return message([&](pbf_writer& w) {
    w.add_int64(1, text.ir_version);
    w.add_string(2, "test");
    w.add_message(7, graph(text.graph));
    w.add_message(8, opset("", text.opset));
    for (const auto& [domain, version] : text.domains) w.add_message(8, opset(domain, version));
    for (const auto& [key, value] : text.metadata) w.add_message(14, pair(key, value));
    for (const FunctionText& f : text.functions) w.add_message(25, function(f));
  });
}

}  // namespace trine::test
