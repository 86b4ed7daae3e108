// TypeProto -> Type. Dimensions keep their names as symbols.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trine/base/shape.h"

namespace trine::onnx {

// Element type of a number of TensorProto.DataType; throws Error{invalid_model} "<where>: unknown elem_type 999".
// 0 (undefined) is DType::none.
DType dtype_of(int64_t data_type, std::string_view where);

// Gives every dimension name of a model a symbol that Dim's text form can hold; equal names get equal symbols.
class DimNames {
 public:
  Dim named(std::string_view name);
  Dim anonymous(std::string_view hint);

 private:
  std::string unique(std::string_view wanted);

  std::map<std::string, std::string, std::less<>> symbols_;
  std::map<std::string, int, std::less<>> used_;
};

// `where` begins the messages: "input 'x'". An empty message is a tensor of unknown type and rank. A dimension of -1 or
// without value is unknown and gets a symbol of its own; a smaller one is an Error.
Type read_type(std::string_view bytes, std::string_view where, DimNames& names);

}  // namespace trine::onnx
