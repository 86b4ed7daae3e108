// AttributeProto -> AttrValue.
#pragma once

#include "graph/attrs.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"
#include "import/onnx/types.h"

namespace trine::onnx {

// The value of an attribute that is no graph; import.h tells how each kind arrives. Throws Error or Damaged.
AttrValue read_attribute(Bytes bytes, TensorReader& tensors, DimNames& names);

// Puts it under its name, data types by name (kDTypeAttributes).
void set_attribute(Attrs& attrs, std::string_view name, AttrValue value);

}  // namespace trine::onnx
