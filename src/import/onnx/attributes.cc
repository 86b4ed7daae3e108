#include "import/onnx/attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/onnx/import.h"
#include "import/onnx/wire.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

// AttributeProto.AttributeType
enum Kind : int64_t {
  kUndefined,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
  kSparse,
  kSparses,
  kType,
  kTypes
};

struct Fields {
  std::string_view name;
  int64_t kind = kUndefined, seen = kUndefined;  // `seen`: by the last field met, for files that do not state the kind
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  Bytes tensor, sparse, type;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Bytes> tensors;
};

Fields read_fields(Bytes bytes) {
  Fields a;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: a.name = m.bytes(); break;
      case 2:
        a.f = m.f32();
        a.seen = kFloat;
        break;
      case 3:
        a.i = m.integer();
        a.seen = kInt;
        break;
      case 4:
        a.s = m.bytes();
        a.seen = kString;
        break;
      case 5:
        a.tensor = m.bytes();
        a.seen = kTensor;
        break;
      case 7:
        m.floats(a.floats);
        a.seen = kFloats;
        break;
      case 8:
        m.integers(a.ints);
        a.seen = kInts;
        break;
      case 9:
        a.strings.emplace_back(m.bytes());
        a.seen = kStrings;
        break;
      case 10:
        a.tensors.push_back(m.bytes());
        a.seen = kTensors;
        break;
      case 14:
        a.type = m.bytes();
        a.seen = kType;
        break;
      case 20: a.kind = m.integer(); break;
      case 22:
        a.sparse = m.bytes();
        a.seen = kSparse;
        break;
      default: m.skip();
    }
  }
  if (a.kind == kUndefined) a.kind = a.seen;
  return a;
}

}  // namespace

AttrValue read_attribute(Bytes bytes, TensorReader& tensors, DimNames& names) {
  Fields a = read_fields(bytes);
  const std::string where = fmt::format("attribute '{}'", a.name);
  switch (a.kind) {
    case kFloat: return static_cast<double>(a.f);
    case kInt: return a.i;
    case kString: return std::string(a.s);
    case kTensor: return tensors.read(a.tensor, where);
    case kSparse: return tensors.read_sparse(a.sparse, where);
    case kType: return read_type(a.type, where, names);
    case kFloats: return std::vector<double>(a.floats.begin(), a.floats.end());
    case kInts: return std::move(a.ints);
    case kStrings: return std::move(a.strings);
    case kTensors: {
      std::vector<Tensor> list;
      for (Bytes tensor : a.tensors) list.push_back(tensors.read(tensor, where));
      return list;
    }
    default: throw Error(ErrorCode::unsupported, fmt::format("{} has kind {}, which is not supported", where, a.kind));
  }
}

void set_attribute(Attrs& attrs, std::string_view attribute, AttrValue value) {
  const bool is_dtype =
      std::find(std::begin(kDTypeAttributes), std::end(kDTypeAttributes), attribute) != std::end(kDTypeAttributes);
  if (const auto* number = std::get_if<int64_t>(&value); number && is_dtype) {
    const DType type = dtype_of(*number, fmt::format("attribute '{}'", attribute));
    if (type != DType::none) attrs.set(std::string(attribute), std::string(name(type)));
    return;
  }
  attrs.set(std::string(attribute), std::move(value));
}

}  // namespace trine::onnx
