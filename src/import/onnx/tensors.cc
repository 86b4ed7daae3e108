#include "import/onnx/tensors.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/checked.h"
#include "import/onnx/types.h"
#include "import/onnx/wire.h"
#include "trine/base/error.h"

namespace trine::onnx {
namespace {

struct ProtoTensor {
  Dims dims;
  int64_t data_type = 0;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> int32s, int64s, uint64s;
  std::vector<std::string> strings;
  std::optional<std::string_view> raw;
  std::vector<Bytes> external;
  bool is_external = false, is_segment = false;
};

ProtoTensor read_fields(Bytes bytes) {
  ProtoTensor t;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: m.integers(t.dims); break;
      case 2: t.data_type = m.integer(); break;
      case 3:
        t.is_segment = true;
        m.skip();
        break;
      case 4: m.floats(t.floats); break;
      case 5: m.integers(t.int32s); break;
      case 6: t.strings.emplace_back(m.bytes()); break;
      case 7: m.integers(t.int64s); break;
      case 9: t.raw = m.bytes(); break;
      case 10: m.doubles(t.doubles); break;
      case 11: m.integers(t.uint64s); break;
      case 13: t.external.push_back(m.bytes()); break;
      case 14: t.is_external = m.integer() == 1; break;
      default: m.skip();
    }
  }
  return t;
}

int packed_bits(DType type) {
  switch (type) {
    case DType::i2:
    case DType::u2: return 2;
    case DType::i4:
    case DType::u4:
    case DType::f4e2m1: return 4;
    case DType::f6e2m3:
    case DType::f6e3m2: return 6;
    default: return static_cast<int>(byte_size(type)) * 8;
  }
}

size_t packed_bytes(DType type, int64_t elements) {
  return (static_cast<size_t>(elements) * static_cast<size_t>(packed_bits(type)) + 7) / 8;
}

// One element a byte, from elements of `bits` bits packed from the least significant bit on.
void unpack(DType type, const uint8_t* from, int64_t elements, uint8_t* to) {
  const int bits = packed_bits(type), mask = (1 << bits) - 1;
  const bool is_signed = is_signed_integer(type);
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t at = i * bits;
    int value = from[at / 8] >> (at % 8);
    if (at % 8 + bits > 8) value |= from[at / 8 + 1] << (8 - at % 8);
    value &= mask;
    if (is_signed && value >> (bits - 1)) value -= 1 << bits;
    to[i] = static_cast<uint8_t>(value);
  }
}

// Turns the fields of one TensorProto into a Tensor.
class Decoder {
 public:
  Decoder(ProtoTensor fields, std::string_view where) : t_(std::move(fields)), where_(where) {
    type_ = dtype_of(t_.data_type, where_);
    if (type_ == DType::none) fail("has no data type");
    if (t_.is_segment) throw Error(ErrorCode::unsupported, fmt::format("{}: is a segment of a tensor", where_));
    try {
      elements_ = element_count(t_.dims);
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("{}: {}", where_, e.what()));
    }
  }

  Tensor decode(const std::shared_ptr<const void>& owner, DataFolder& folder) {
    if (type_ == DType::string) return strings();
    if (t_.is_external) {
      const FileBytes file = external(folder);
      return from_raw(file.bytes, file.owner);
    }
    return t_.raw ? from_raw(*t_.raw, owner) : from_lists();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::invalid_model, fmt::format("{}: {}", where_, what));
  }

  std::string text() const { return fmt::format("{}[{}]", name(type_), to_string(t_.dims)); }

  void need(size_t got, size_t want, std::string_view what) const {
    if (got != want) fail(fmt::format("{} needs {} {}; the file holds {}", text(), want, what, got));
  }

  Tensor strings() {
    if (t_.raw || t_.is_external) fail("strings as raw or external data; they belong into string_data");
    need(t_.strings.size(), static_cast<size_t>(elements_), "strings");
    return Tensor::of_strings(t_.dims, std::move(t_.strings));
  }

  Tensor from_raw(std::string_view raw, const std::shared_ptr<const void>& owner) {
    need(raw.size(), packed_bytes(type_, elements_), "bytes");
    const auto* from = reinterpret_cast<const uint8_t*>(raw.data());
    if (packed_bits(type_) < 8) {
      Tensor out(type_, t_.dims);
      unpack(type_, from, elements_, out.mutable_as<uint8_t>());
      return out;
    }
    const size_t alignment = is_complex(type_) ? byte_size(type_) / 2 : byte_size(type_);
    const bool suits = reinterpret_cast<uintptr_t>(from) % alignment == 0;
    if (suits && type_ != DType::boolean && elements_ > 0) return Tensor(type_, t_.dims, from, owner);
    Tensor out(type_, t_.dims);
    if (!raw.empty()) std::memcpy(out.mutable_data(), from, raw.size());
    if (type_ == DType::boolean)
      for (int64_t i = 0; i < elements_; ++i) out.mutable_as<uint8_t>()[i] = from[i] != 0;
    return out;
  }

  template <class T, class From>
  Tensor copy(const std::vector<From>& from) const {
    Tensor out(type_, t_.dims);
    for (size_t i = 0; i < from.size(); ++i) out.mutable_as<T>()[i] = static_cast<T>(from[i]);
    return out;
  }

  Tensor from_lists() const {
    const auto n = static_cast<size_t>(elements_);
    switch (type_) {
      case DType::f32: need(t_.floats.size(), n, "floats"); return copy<float>(t_.floats);
      case DType::c64: need(t_.floats.size(), 2 * n, "floats"); return copy<float>(t_.floats);
      case DType::f64: need(t_.doubles.size(), n, "doubles"); return copy<double>(t_.doubles);
      case DType::c128: need(t_.doubles.size(), 2 * n, "doubles"); return copy<double>(t_.doubles);
      case DType::i64: need(t_.int64s.size(), n, "integers"); return copy<int64_t>(t_.int64s);
      case DType::u64: need(t_.uint64s.size(), n, "integers"); return copy<uint64_t>(t_.uint64s);
      case DType::u32: need(t_.uint64s.size(), n, "integers"); return copy<uint32_t>(t_.uint64s);
      default: return from_int32s();
    }
  }

  Tensor from_int32s() const {
    const int bits = packed_bits(type_);
    if (bits == 2 || bits == 4) {  // each integer is one packed byte
      need(t_.int32s.size(), packed_bytes(type_, elements_), "integers");
      const std::vector<uint8_t> packed(t_.int32s.begin(), t_.int32s.end());
      Tensor out(type_, t_.dims);
      unpack(type_, packed.data(), elements_, out.mutable_as<uint8_t>());
      return out;
    }
    need(t_.int32s.size(), static_cast<size_t>(elements_), "integers");
    if (type_ == DType::boolean) {
      Tensor out(type_, t_.dims);
      for (size_t i = 0; i < t_.int32s.size(); ++i) out.mutable_as<uint8_t>()[i] = t_.int32s[i] != 0;
      return out;
    }
    switch (byte_size(type_)) {
      case 1: return copy<uint8_t>(t_.int32s);
      case 2: return copy<uint16_t>(t_.int32s);
      default: return copy<uint32_t>(t_.int32s);
    }
  }

  int64_t number(std::string_view key, std::string_view text) const {
    int64_t value = 0;
    for (char c : text) {
      if (c < '0' || c > '9' || value > (INT64_MAX - 9) / 10)
        fail(fmt::format("external data: {} is '{}'; a count of bytes is accepted", key, text));
      value = value * 10 + (c - '0');
    }
    return value;
  }

  // Keys other than location, offset and length (checksum, writers' own) mean nothing to us.
  FileBytes external(DataFolder& folder) const {
    std::string_view location;
    int64_t offset = 0;
    std::optional<int64_t> length;
    for (Bytes entry : t_.external) {
      const auto [key, value] = read_string_pair(entry);
      if (key == "location") location = value;
      else if (key == "offset") offset = number(key, value);
      else if (key == "length") length = number(key, value);
    }
    FileBytes file;
    try {
      file = folder.open(location);
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("{}: {}", where_, e.what()));
    }
    const auto size = static_cast<int64_t>(file.bytes.size());
    const auto wanted = static_cast<int64_t>(packed_bytes(type_, elements_));
    const int64_t bytes = length.value_or(wanted);
    if (offset > size || bytes > size - offset)
      fail(
          fmt::format("external data: bytes {} to {}+{} of '{}', which has {}", offset, offset, bytes, location, size));
    file.bytes = file.bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes));
    return file;
  }

  ProtoTensor t_;
  std::string_view where_;
  DType type_;
  int64_t elements_ = 0;
};

struct ProtoSparse {
  Bytes values, indices;
  Dims dims;
};

ProtoSparse read_sparse_fields(Bytes bytes) {
  ProtoSparse sparse;
  for (Message m(bytes); m.next();) {
    switch (m.field()) {
      case 1: sparse.values = m.bytes(); break;
      case 2: sparse.indices = m.bytes(); break;
      case 3: m.integers(sparse.dims); break;
      default: m.skip();
    }
  }
  return sparse;
}

// Positions in the flattened tensor, from indices of shape [count] or [count, rank].
std::vector<int64_t> flat_positions(const Tensor& indices, const Dims& dims, int64_t count, std::string_view where) {
  const auto rank = static_cast<int64_t>(dims.size());
  const bool flat = indices.rank() == 1;
  const bool fits = indices.dtype() == DType::i64 && indices.elements() == (flat ? count : checked_mul(count, rank)) &&
                    (flat || (indices.rank() == 2 && indices.dim(1) == rank));
  if (!fits)
    throw Error(ErrorCode::invalid_model, fmt::format("{}: indices {} of {} values; i64[{}] or i64[{},{}] is accepted",
                                                      where, indices.type_text(), count, count, count, rank));
  std::vector<int64_t> positions(static_cast<size_t>(count));
  const int64_t total = element_count(dims);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = flat ? indices.as<int64_t>()[i] : 0;
    bool inside = at >= 0 && at < total;
    for (int64_t d = 0; !flat && d < rank; ++d) {
      const int64_t k = indices.as<int64_t>()[i * rank + d];
      inside = inside && k >= 0 && k < dims[static_cast<size_t>(d)];
      at = inside ? at * dims[static_cast<size_t>(d)] + k : 0;
    }
    if (!inside)
      throw Error(ErrorCode::invalid_model, fmt::format("{}: index {} lies outside [{}]", where, i, to_string(dims)));
    positions[static_cast<size_t>(i)] = at;
  }
  return positions;
}

}  // namespace

Tensor TensorReader::read(Bytes bytes, std::string_view where) {
  if (const auto it = read_.find(bytes.data()); it != read_.end() && !bytes.empty()) return it->second;
  Tensor tensor = Decoder(read_fields(bytes), where).decode(owner_, folder_);
  read_.emplace(bytes.data(), tensor);
  return tensor;
}

Tensor TensorReader::read_sparse(Bytes bytes, std::string_view where) {
  const ProtoSparse sparse = read_sparse_fields(bytes);
  const Tensor values = read(sparse.values, where), indices = read(sparse.indices, where);
  if (values.rank() != 1 || values.dtype() == DType::string)
    throw Error(ErrorCode::invalid_model,
                fmt::format("{}: sparse values are {}; a list of numbers is accepted", where, values.type_text()));
  const size_t width = byte_size(values.dtype());
  const int64_t bytes_dense = checked_mul(element_count(sparse.dims), static_cast<int64_t>(width));
  if (bytes_dense > dense_left_)
    throw Error(ErrorCode::invalid_model,
                fmt::format("{}: [{}] would take {} bytes once dense, far more than the model's size justifies", where,
                            to_string(sparse.dims), bytes_dense));
  const std::vector<int64_t> at = flat_positions(indices, sparse.dims, values.elements(), where);
  dense_left_ -= bytes_dense;
  Tensor out(values.dtype(), sparse.dims);
  if (out.bytes()) std::memset(out.mutable_data(), 0, out.bytes());
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(out.mutable_as<char>() + static_cast<size_t>(at[i]) * width, values.as<char>() + i * width, width);
  return out;
}

std::string_view tensor_name(Bytes bytes) {
  std::string_view name;
  for (Message m(bytes); m.next();) {
    if (m.field() == 8) name = m.bytes();
    else m.skip();
  }
  return name;
}

std::string_view sparse_tensor_name(Bytes bytes) { return tensor_name(read_sparse_fields(bytes).values); }

}  // namespace trine::onnx
