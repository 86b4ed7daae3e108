// The .pb files beside a test model: TensorProto, SequenceProto or OptionalProto, as the type says.
#pragma once

#include <string>

#include "trine/base/tensor.h"

namespace trine::conformance {

// `type` is the declared one of the model's input or output.
Datum read_datum(const std::string& path, const Type& type);

}  // namespace trine::conformance
