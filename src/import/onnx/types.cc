#include "import/onnx/types.h"

#include <fmt/format.h>

#include <cctype>

#include "import/onnx/proto.h"
#include "import/onnx/wire.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

constexpr DType kDTypes[] = {  // by TensorProto.DataType
    DType::none,       DType::f32,    DType::u8,         DType::i8,      DType::u16,   DType::i16,
    DType::i32,        DType::i64,    DType::string,     DType::boolean, DType::f16,   DType::f64,
    DType::u32,        DType::u64,    DType::c64,        DType::c128,    DType::bf16,  DType::f8e4m3fn,
    DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::u4,      DType::i4,    DType::f4e2m1,
    DType::f8e8m0,     DType::u2,     DType::i2,         DType::f6e2m3,  DType::f6e3m2};

class TypeReader {
 public:
  TypeReader(std::string_view where, DimNames& names) : where_(where), names_(names) {}

  Type type(Bytes bytes, int depth) {
    if (depth > kMaxNesting) fail(ErrorCode::unsupported, fmt::format("types nested deeper than {}", kMaxNesting));
    Type result = Type::tensor(DType::none, Shape());
    for (Message m(bytes); m.next();) {
      switch (m.field()) {
        case 1: result = tensor(m.bytes()); break;
        case 4: result = Type::sequence(element(m.bytes(), depth)); break;
        case 9: result = Type::optional(element(m.bytes(), depth)); break;
        case 5: fail(ErrorCode::unsupported, "is a map; tensors, sequences and optionals are supported");
        case 7: fail(ErrorCode::unsupported, "is opaque; tensors, sequences and optionals are supported");
        case 8: fail(ErrorCode::unsupported, "is a sparse tensor; only constants may be sparse");
        default: m.skip();
      }
    }
    return result;
  }

 private:
  Type element(Bytes bytes, int depth) {
    Bytes inner;
    for (Message m(bytes); m.next();) {
      if (m.field() == 1) inner = m.bytes();
      else m.skip();
    }
    return type(inner, depth + 1);
  }

  Type tensor(Bytes bytes) {
    DType dtype = DType::none;
    Shape shape;
    for (Message m(bytes); m.next();) {
      switch (m.field()) {
        case 1: dtype = dtype_of(m.integer(), where_); break;
        case 2: shape = dims(m.bytes()); break;
        default: m.skip();
      }
    }
    return Type::tensor(dtype, std::move(shape));
  }

  Shape dims(Bytes bytes) {
    std::vector<Dim> dims;
    for (Message m(bytes); m.next();) {
      if (m.field() != 1) {
        m.skip();
        continue;
      }
      if (dims.size() == static_cast<size_t>(kMaxRank))
        fail(ErrorCode::unsupported, fmt::format("has more than {} dimensions", kMaxRank));
      dims.push_back(dim(m.bytes(), dims.size()));
    }
    return dims;
  }

  Dim dim(Bytes bytes, size_t index) {
    int64_t value = -1;
    std::string_view name;
    for (Message m(bytes); m.next();) {
      switch (m.field()) {
        case 1: value = m.integer(); break;
        case 2: name = m.bytes(); break;
        default: m.skip();
      }
    }
    if (!name.empty()) return names_.named(name);
    if (value < -1 || value > kMaxElements)
      fail(ErrorCode::invalid_model, fmt::format("dimension {} is {}; sizes are 0 to 2^47", index, value));
    return value >= 0 ? Dim(value) : names_.anonymous("d");
  }

  [[noreturn]] void fail(ErrorCode code, const std::string& what) const {
    throw Error(code, fmt::format("{}: {}", where_, what));
  }

  std::string_view where_;
  DimNames& names_;
};

}  // namespace

DType dtype_of(int64_t data_type, std::string_view where) {
  if (data_type < 0 || data_type >= static_cast<int64_t>(std::size(kDTypes)))
    throw Error(ErrorCode::invalid_model,
                fmt::format("{}: unknown elem_type {}; 1 to {} are known", where, data_type, std::size(kDTypes) - 1));
  return kDTypes[data_type];
}

Dim DimNames::named(std::string_view name) {
  if (name == "?" || name == "-1" || name == "None") return anonymous("d");
  if (const auto it = symbols_.find(name); it != symbols_.end()) return Dim::symbol(it->second);
  const std::string symbol = unique(name);
  symbols_.emplace(name, symbol);
  return Dim::symbol(symbol);
}

Dim DimNames::anonymous(std::string_view hint) { return Dim::symbol(unique(fmt::format("{}0", hint))); }

std::string DimNames::unique(std::string_view wanted) {
  std::string clean;
  for (char c : wanted.substr(0, 100)) clean += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (std::isdigit(static_cast<unsigned char>(clean[0]))) clean = "_" + clean;
  if (used_.try_emplace(clean, 0).second) return clean;
  for (;;) {
    std::string symbol = fmt::format("{}_{}", clean, ++used_[clean]);
    if (used_.try_emplace(symbol, 0).second) return symbol;
  }
}

Type read_type(std::string_view bytes, std::string_view where, DimNames& names) {
  return TypeReader(where, names).type(bytes, 0);
}

}  // namespace trine::onnx
