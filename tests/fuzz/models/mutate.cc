#include "mutate.h"

#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace trine::fuzz {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;

enum class Kind {
  model,
  graph,
  function,
  node,
  attribute,
  tensor,
  sparse,
  value,
  type,
  tensor_type,
  nested_type,
  shape,
  dim
};
enum class Action { descend, integer, size, real, raw };

// What onnx.proto has at a field. `size`: a tensor's own dimensions, which its data must match; seldom changed.
struct Field {
  Kind message;
  uint32_t number;
  Action action;
  Kind into = Kind::model;
};

constexpr Field kFields[] = {{Kind::model, 7, Action::descend, Kind::graph},
                             {Kind::model, 25, Action::descend, Kind::function},
                             {Kind::graph, 1, Action::descend, Kind::node},
                             {Kind::graph, 5, Action::descend, Kind::tensor},
                             {Kind::graph, 11, Action::descend, Kind::value},
                             {Kind::graph, 12, Action::descend, Kind::value},
                             {Kind::graph, 13, Action::descend, Kind::value},
                             {Kind::graph, 15, Action::descend, Kind::sparse},
                             {Kind::function, 7, Action::descend, Kind::node},
                             {Kind::function, 11, Action::descend, Kind::attribute},
                             {Kind::node, 5, Action::descend, Kind::attribute},
                             {Kind::attribute, 2, Action::real},
                             {Kind::attribute, 3, Action::integer},
                             {Kind::attribute, 5, Action::descend, Kind::tensor},
                             {Kind::attribute, 6, Action::descend, Kind::graph},
                             {Kind::attribute, 7, Action::real},
                             {Kind::attribute, 8, Action::integer},
                             {Kind::attribute, 10, Action::descend, Kind::tensor},
                             {Kind::attribute, 11, Action::descend, Kind::graph},
                             {Kind::attribute, 14, Action::descend, Kind::type},
                             {Kind::attribute, 22, Action::descend, Kind::sparse},
                             {Kind::attribute, 23, Action::descend, Kind::sparse},
                             {Kind::tensor, 1, Action::size},
                             {Kind::tensor, 4, Action::real},
                             {Kind::tensor, 5, Action::integer},
                             {Kind::tensor, 7, Action::integer},
                             {Kind::tensor, 9, Action::raw},
                             {Kind::tensor, 11, Action::integer},
                             {Kind::sparse, 1, Action::descend, Kind::tensor},
                             {Kind::sparse, 2, Action::descend, Kind::tensor},
                             {Kind::sparse, 3, Action::integer},
                             {Kind::value, 2, Action::descend, Kind::type},
                             {Kind::type, 1, Action::descend, Kind::tensor_type},
                             {Kind::type, 4, Action::descend, Kind::nested_type},
                             {Kind::type, 9, Action::descend, Kind::nested_type},
                             {Kind::nested_type, 1, Action::descend, Kind::type},
                             {Kind::tensor_type, 2, Action::descend, Kind::shape},
                             {Kind::shape, 1, Action::descend, Kind::dim},
                             {Kind::dim, 1, Action::integer}};

const Field* find_field(Kind message, uint32_t number) {
  for (const Field& f : kFields)
    if (f.message == message && f.number == number) return &f;
  return nullptr;
}

// The reader forgets a field's number once its value is read.
void copy_field(pbf_reader& from, pbf_writer& to) {
  const auto tag = from.tag();
  switch (from.wire_type()) {
    case pbf_wire_type::varint: return to.add_uint64(tag, from.get_uint64());
    case pbf_wire_type::fixed64: return to.add_fixed64(tag, from.get_fixed64());
    case pbf_wire_type::fixed32: return to.add_fixed32(tag, from.get_fixed32());
    default: return to.add_bytes(tag, from.get_view());
  }
}

std::string_view bytes_of(pbf_reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

// Width of an integer TensorProto.DataType in raw_data; 0 for others, -1 for f32.
int raw_width(int64_t data_type) {
  switch (data_type) {
    case 1: return -1;
    case 2:
    case 3: return 1;
    case 4:
    case 5: return 2;
    case 6:
    case 12: return 4;
    case 7:
    case 13: return 8;
    default: return 0;
  }
}

class Mutator {
 public:
  Mutator(const Rates& rates, Random& random) : rates_(rates), random_(random) {}

  std::string message(Kind kind, std::string_view bytes, std::string_view new_name = {}) {
    const int64_t data_type = kind == Kind::tensor ? data_type_of(bytes) : 0;
    std::string out;
    pbf_writer to(out);
    for (pbf_reader from(bytes.data(), bytes.size()); from.next();) {
      const Field* field = find_field(kind, from.tag());
      if (kind == Kind::tensor && from.tag() == 8 && !new_name.empty()) from.skip();
      else if (kind == Kind::tensor && from.tag() == 5 && raw_width(data_type) <= 0) copy_field(from, to);
      else if (field) replace(*field, data_type, from, to);
      else copy_field(from, to);
    }
    if (!new_name.empty()) to.add_bytes(8, new_name.data(), new_name.size());
    return out;
  }

 private:
  static int64_t data_type_of(std::string_view tensor) {
    pbf_reader reader(tensor.data(), tensor.size());
    return reader.next(2) && reader.wire_type() == pbf_wire_type::varint ? reader.get_int64() : 0;
  }

  int64_t integer(int64_t value, double rate) { return random_.chance(rate) ? edge_integer(random_) : value; }
  float real(float value) { return random_.chance(rates_.reals) ? edge_real(random_) : value; }

  void replace(const Field& field, int64_t data_type, pbf_reader& from, pbf_writer& to) {
    const auto tag = from.tag();
    switch (field.action) {
      case Action::descend: return to.add_bytes(tag, message(field.into, bytes_of(from)));
      case Action::integer:
        if (field.message != Kind::dim) return integers(from, to, rates_.integers);
        return random_.chance(rates_.integers / 2) ? to_symbol(from, to) : integers(from, to, rates_.sizes);
      case Action::size: return integers(from, to, rates_.integers / 10);
      case Action::real: return reals(from, to);
      case Action::raw: return to.add_bytes(tag, raw(bytes_of(from), raw_width(data_type)));
    }
  }

  void to_symbol(pbf_reader& from, pbf_writer& to) {
    from.skip();
    to.add_string(2, random_.chance(0.5) ? "N" : "M");
  }

  void integers(pbf_reader& from, pbf_writer& to, double rate) {
    const auto tag = from.tag();
    if (from.wire_type() == pbf_wire_type::varint) return to.add_int64(tag, integer(from.get_int64(), rate));
    std::vector<int64_t> values;
    for (int64_t v : from.get_packed_int64()) values.push_back(integer(v, rate));
    to.add_packed_int64(tag, values.begin(), values.end());
  }

  void reals(pbf_reader& from, pbf_writer& to) {
    const auto tag = from.tag();
    if (from.wire_type() == pbf_wire_type::fixed32) return to.add_float(tag, real(from.get_float()));
    std::vector<float> values;
    for (float v : from.get_packed_float()) values.push_back(v);
    if (values.size() <= 16)
      for (float& v : values) v = real(v);
    to.add_packed_float(tag, values.begin(), values.end());
  }

  std::string raw(std::string_view bytes, int width) {
    std::string out(bytes);
    if (width == -1 && bytes.size() <= 64) {
      for (size_t i = 0; i + 4 <= out.size(); i += 4) {
        float v;
        std::memcpy(&v, out.data() + i, 4);
        v = real(v);
        std::memcpy(out.data() + i, &v, 4);
      }
    } else if (width > 0) {
      for (size_t i = 0; i + static_cast<size_t>(width) <= out.size(); i += static_cast<size_t>(width)) {
        if (!random_.chance(rates_.integers)) continue;
        const int64_t v = edge_integer(random_);  // little endian: the low bytes come first
        std::memcpy(out.data() + i, &v, static_cast<size_t>(width));
      }
    }
    return out;
  }

  const Rates& rates_;
  Random& random_;
};

}  // namespace

Rates draw_rates(Random& random) {
  constexpr double kIntegers[] = {0, 0.03, 1.0 / 16, 0.25, 0.25, 0.25};
  const double integers = kIntegers[random.below(std::size(kIntegers))];
  return {integers, random.chance(0.3) ? integers / 2 : 0};
}

std::string mutated_model(std::string_view model, const Rates& rates, Random& random) {
  return Mutator(rates, random).message(Kind::model, model);
}

std::string mutated_tensor(std::string_view tensor, std::string_view name, const Rates& rates, Random& random) {
  return Mutator(rates, random).message(Kind::tensor, tensor, name);
}

std::string with_initializers(std::string_view model, const std::vector<std::string>& tensors) {
  std::string out;
  pbf_writer to(out);
  for (pbf_reader from(model.data(), model.size()); from.next();) {
    if (from.tag() != 7) {
      copy_field(from, to);
      continue;
    }
    std::string graph(bytes_of(from));
    pbf_writer graph_writer(graph);
    for (const std::string& tensor : tensors) graph_writer.add_bytes(5, tensor);
    to.add_bytes(7, graph);
  }
  return out;
}

std::vector<ModelInput> inputs_of(std::string_view model) {
  std::vector<ModelInput> inputs;
  pbf_reader reader(model.data(), model.size());
  if (!reader.next(7)) return inputs;
  for (pbf_reader graph = reader.get_message(); graph.next(11);) {
    ModelInput input{"", false};
    for (pbf_reader value = graph.get_message(); value.next();) {
      if (value.tag() == 1) {
        input.name = value.get_string();
      } else if (value.tag() == 2) {
        pbf_reader type = value.get_message();
        input.is_tensor = type.next(1);
      } else {
        value.skip();
      }
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace trine::fuzz
