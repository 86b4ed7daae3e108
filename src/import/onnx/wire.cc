// Checked access over protozero, whose own getters only assert the wire type.
#include "import/onnx/wire.h"

#include <cstring>
#include <string>

namespace trine::onnx {

using protozero::pbf_wire_type;

namespace {

// "end of buffer exception" -> "end of buffer": what happened, not how it was noticed.
std::string reason(const protozero::exception& e) {
  std::string text = e.what();
  const std::string tail = " exception";
  if (text.ends_with(tail)) text.resize(text.size() - tail.size());
  return text;
}

}  // namespace

template <class F>
auto Message::guarded(F read) {
  const char* at = reader_.data().data();
  try {
    return read();
  } catch (const protozero::exception& e) {
    throw Damaged(at, reason(e));
  }
}

void Message::need(pbf_wire_type type) const {
  if (reader_.wire_type() != type)
    throw Damaged(reader_.data().data(), "field " + std::to_string(reader_.tag()) + " has another wire type");
}

bool Message::next() {
  return guarded([&] { return reader_.next(); });
}

void Message::skip() {
  guarded([&] { reader_.skip(); });
}

int64_t Message::integer() {
  need(pbf_wire_type::varint);
  return guarded([&] { return reader_.get_int64(); });
}

float Message::f32() {
  need(pbf_wire_type::fixed32);
  return guarded([&] { return reader_.get_float(); });
}

std::string_view Message::bytes() {
  need(pbf_wire_type::length_delimited);
  return guarded([&] {
    const auto view = reader_.get_view();
    return std::string_view(view.data(), view.size());
  });
}

void Message::integers(std::vector<int64_t>& into) {
  if (!packed()) return into.push_back(integer());
  const std::string_view run = bytes();
  const char* at = run.data();
  const char* end = at + run.size();
  try {
    while (at != end) into.push_back(static_cast<int64_t>(protozero::decode_varint(&at, end)));
  } catch (const protozero::exception& e) {
    throw Damaged(at, reason(e));
  }
}

// Little-endian elements of a packed run.
template <class T>
static void append_run(std::string_view run, std::vector<T>& into) {
  if (run.size() % sizeof(T)) throw Damaged(run.data(), "a packed run ends inside an element");
  const size_t old = into.size();
  into.resize(old + run.size() / sizeof(T));
  if (!run.empty()) std::memcpy(into.data() + old, run.data(), run.size());
}

void Message::floats(std::vector<float>& into) {
  if (!packed()) return into.push_back(f32());
  append_run(bytes(), into);
}

void Message::doubles(std::vector<double>& into) {
  if (packed()) return append_run(bytes(), into);
  need(pbf_wire_type::fixed64);
  into.push_back(guarded([&] { return reader_.get_double(); }));
}

}  // namespace trine::onnx
