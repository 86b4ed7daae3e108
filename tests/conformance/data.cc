#include "data.h"

#include <optional>

#include "import/onnx/files.h"
#include "import/onnx/tensors.h"
#include "import/onnx/wire.h"
#include "trine/base/error.h"

namespace trine::conformance {
namespace {

using onnx::Bytes;
using onnx::Message;

// Field numbers of onnx-data.proto; the number of a kind's list is the same in SequenceProto and OptionalProto.
class DataReader {
 public:
  explicit DataReader(onnx::FileBytes file)
      : file_(std::move(file)), folder_(""), tensors_(file_.owner, folder_, 1 << 30) {}

  Datum read(const Type& type) {
    return type.kind == Type::Kind::sequence   ? sequence(file_.bytes)
           : type.kind == Type::Kind::optional ? optional(file_.bytes)
                                               : tensor(file_.bytes);
  }

 private:
  Datum tensor(Bytes bytes) { return tensors_.read(bytes, "data"); }

  std::optional<Datum> item(Message& m) {
    switch (m.field()) {
      case 3: return tensor(m.bytes());
      case 5: return sequence(m.bytes());
      case 7: return optional(m.bytes());
      case 4:
      case 6: throw Error(ErrorCode::unsupported, "data: maps and sparse tensors are not supported");
      default: m.skip(); return std::nullopt;
    }
  }

  Datum sequence(Bytes bytes) {
    Datum::Sequence items;
    for (Message m(bytes); m.next();)
      if (auto d = item(m)) items.push_back(std::move(*d));
    return Datum::sequence(std::move(items));
  }

  Datum optional(Bytes bytes) {
    int64_t kind = 0;
    Datum held;
    for (Message m(bytes); m.next();) {
      if (m.field() == 2) {
        kind = m.integer();
      } else if (m.field() == 5) {
        held = sequence(m.bytes());
      } else if (auto d = item(m)) {
        held = std::move(*d);
      }
    }
    return kind == 0 ? Datum() : held;
  }

  onnx::FileBytes file_;
  onnx::DataFolder folder_;
  onnx::TensorReader tensors_;
};

}  // namespace

Datum read_datum(const std::string& path, const Type& type) { return DataReader(onnx::map_file(path)).read(type); }

}  // namespace trine::conformance
