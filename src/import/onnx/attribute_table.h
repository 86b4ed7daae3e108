// Which attributes each operator has, and of which kind: what a node may say. An attribute that nobody knows is an
// error: the model means something that we would not compute.
#pragma once

#include <functional>
#include <string_view>

#include "graph/attrs.h"

namespace trine::onnx {

// For the use of tools, without meaning: the standard's checker lets them pass.
bool is_private(std::string_view name);

// The letter of a value's kind, as the table has it; a graph is 'g'.
char kind_of(const AttrValue& value);

// `op` as find_onnx_op wants it, `version` that of its domain. Each throws Error{invalid_model}: the first when the
// operator has no such attribute, or of another kind; the second when one that must be there is not.
void check_attribute(std::string_view op, int64_t version, std::string_view name, char kind);
void check_complete(std::string_view op, int64_t version, const std::function<bool(std::string_view)>& has);

std::vector<std::string_view> operators_with_attributes();

}  // namespace trine::onnx
