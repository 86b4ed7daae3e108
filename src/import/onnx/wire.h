// Message: one protobuf message, read field by field from memory that is not trusted. A field of a wrong wire type, a
// length past the end or a bad varint throws Damaged; nothing is copied.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trine::onnx {

// The bytes at `at` cannot be read; import.cc turns it into an Error with the offset in the file.
class Damaged : public std::runtime_error {
 public:
  Damaged(const char* at, const std::string& what) : std::runtime_error(what), at_(at) {}
  const char* at() const { return at_; }

 private:
  const char* at_;
};

class Message {
 public:
  explicit Message(std::string_view bytes) : reader_(bytes.data(), bytes.size()) {}

  bool next();  // to the next field; false at the end
  uint32_t field() const { return reader_.tag(); }
  void skip();

  int64_t integer();
  float f32();
  std::string_view bytes();  // a string, bytes or message

  // One element, or a packed run of them, appended.
  void integers(std::vector<int64_t>& into);
  void floats(std::vector<float>& into);
  void doubles(std::vector<double>& into);

 private:
  void need(protozero::pbf_wire_type type) const;
  bool packed() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }
  template <class F>
  auto guarded(F read);

  protozero::pbf_reader reader_;
};

}  // namespace trine::onnx
