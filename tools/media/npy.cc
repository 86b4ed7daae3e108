#include "media/npy.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "media/file.h"
#include "trine/base/error.h"

namespace trine::media {
namespace {

struct Code {
  DType dtype;
  std::string_view text;  // as NumPy writes it
};
constexpr Code kCodes[] = {{DType::f32, "<f4"}, {DType::f64, "<f8"},  {DType::f16, "<f2"}, {DType::boolean, "|b1"},
                           {DType::i8, "|i1"},  {DType::i16, "<i2"},  {DType::i32, "<i4"}, {DType::i64, "<i8"},
                           {DType::u8, "|u1"},  {DType::u16, "<u2"},  {DType::u32, "<u4"}, {DType::u64, "<u8"},
                           {DType::c64, "<c8"}, {DType::c128, "<c16"}};

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Header {
  DType dtype = DType::none;
  Dims dims;
  size_t data_at = 0;
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", path, what));
}

// The text after `'key':` in the header's dictionary.
std::string_view after_key(const std::string& path, std::string_view text, std::string_view key) {
  const size_t at = text.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail(path, fmt::format("no '{}' in the .npy header; numpy.save writes one", key));
  std::string_view rest = text.substr(at + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

DType parse_descr(const std::string& path, std::string_view rest) {
  const size_t end = rest.empty() ? 0 : rest.find('\'', 1);
  if (rest.empty() || rest.front() != '\'' || end == std::string_view::npos) {
    fail(path, "records in the .npy file; a plain array is needed");
  }
  const std::string_view code = rest.substr(1, end - 1);
  for (const Code& c : kCodes) {
    if (c.text == code) return c.dtype;
  }
  std::string accepted;
  for (const Code& c : kCodes) accepted += fmt::format(" {}", c.text);
  fail(path, fmt::format("element type '{}'; accepted:{}", code, accepted));
}

Dims parse_shape(const std::string& path, std::string_view rest) {
  const size_t end = rest.find(')');
  if (rest.empty() || rest.front() != '(' || end == std::string_view::npos) fail(path, "no shape in the .npy header");
  rest = rest.substr(1, end - 1);
  Dims dims;
  while (!rest.empty()) {
    if (rest.front() == ' ' || rest.front() == ',') {
      rest.remove_prefix(1);
      continue;
    }
    int64_t dim = 0;
    const auto [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
    if (error != std::errc() || dim < 0 || dims.size() == kMaxRank) {
      fail(path, fmt::format("shape ({}); up to {} non-negative sizes are accepted", rest, kMaxRank));
    }
    dims.push_back(dim);
    rest.remove_prefix(static_cast<size_t>(at - rest.data()));
  }
  return dims;
}

Header parse_header(const std::string& path, const std::vector<uint8_t>& bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < 12 || !all.starts_with(kMagic)) fail(path, "not a .npy file; numpy.save writes one");
  const int version = bytes[6];
  if (version < 1 || version > 3) fail(path, fmt::format(".npy format {}; 1 to 3 are read", version));
  const size_t begin = version == 1 ? 10 : 12;
  size_t length = bytes[8] | size_t{bytes[9]} << 8;
  if (version > 1) length |= size_t{bytes[10]} << 16 | size_t{bytes[11]} << 24;
  if (length > bytes.size() - begin) fail(path, fmt::format("header of {} bytes; the file ends before it", length));
  const std::string_view text = all.substr(begin, length);
  if (!after_key(path, text, "fortran_order").starts_with("False")) {
    fail(path, "Fortran order; save numpy.ascontiguousarray(x)");
  }
  return {parse_descr(path, after_key(path, text, "descr")), parse_shape(path, after_key(path, text, "shape")),
          begin + length};
}

}  // namespace

Tensor load_npy(const std::string& path) {
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(read_file(path));
  const Header header = parse_header(path, *bytes);
  const size_t got = bytes->size() - header.data_at;
  const size_t wanted = static_cast<size_t>(element_count(header.dims)) * byte_size(header.dtype);
  if (got != wanted) {
    fail(path,
         fmt::format("{} bytes of elements; {}[{}] has {}", got, name(header.dtype), to_string(header.dims), wanted));
  }
  Tensor out(header.dtype, header.dims);
  if (got) std::memcpy(out.mutable_data(), bytes->data() + header.data_at, got);
  return out;
}

std::string numpy_name(DType dtype) {
  const char* kind = dtype == DType::boolean    ? "bool"
                     : is_complex(dtype)        ? "complex"
                     : is_float(dtype)          ? "float"
                     : is_signed_integer(dtype) ? "int"
                                                : "uint";
  return dtype == DType::boolean ? kind : fmt::format("{}{}", kind, byte_size(dtype) * 8);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  for (const Code& code : kCodes) {
    if (code.dtype != tensor.dtype()) continue;
    std::string shape;
    for (const int64_t dim : tensor.dims()) shape += fmt::format("{},", dim);
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code.text, shape);
    text.append(63 - (10 + text.size()) % 64, ' ').push_back('\n');  // elements begin at a multiple of 64
    std::vector<uint8_t> bytes(kMagic.begin(), kMagic.end());
    bytes.insert(bytes.end(), {1, 0, static_cast<uint8_t>(text.size() & 255), static_cast<uint8_t>(text.size() >> 8)});
    bytes.insert(bytes.end(), text.begin(), text.end());
    const auto* data = static_cast<const uint8_t*>(tensor.data());
    bytes.insert(bytes.end(), data, data + tensor.bytes());
    return write_file(path, bytes);
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("{}: {} has no NumPy type; write a .npy of f32, f64, f16, bool, integers or complex", path,
                          tensor.type_text()));
}

}  // namespace trine::media
