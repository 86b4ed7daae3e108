#include "plan/host_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "graph/eval.h"
#include "trine/base/error.h"

namespace trine {
namespace {

void check_made(const Node& node, const Datum& made, const Type& expected) {
  if (!made.is_tensor() || !expected.is_tensor() || !expected.shape.is_static()) return;
  if (made.tensor().dims() != expected.shape.static_dims() || made.tensor().dtype() != expected.dtype)
    throw Error(ErrorCode::invalid_model, fmt::format("{}: made {} where {} was inferred", node.op->name,
                                                      made.tensor().type_text(), expected.text()));
}

}  // namespace

std::vector<Datum> run_host_step(const Plan& plan, const Segment& segment, const Call& call, std::vector<Datum> inputs,
                                 const std::function<std::vector<Datum>(int, std::vector<Datum>)>& run_body) {
  const Node& node = plan.graph->nodes[static_cast<size_t>(call.node)];
  EvalContext context(node, std::move(inputs), [&](const Graph& body, std::vector<Datum> given) {
    const size_t planned = plan.steps[static_cast<size_t>(call.node)].bodies.size();  // none for a loop that fell back
    for (size_t k = 0; k < planned; ++k)
      if (node.bodies[k].get() == &body) return run_body(static_cast<int>(k), std::move(given));
    return evaluate(body, std::move(given));
  });
  std::vector<const Type*> expected;
  for (ValueId id : node.outputs)
    if (id != kNoValue) expected.push_back(&segment.typed.type(id));
  run_reference(context, expected);
  std::vector<Datum> made(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    made[i] = detached(std::move(context.outputs()[i]));
    check_made(node, made[i], segment.typed.type(node.outputs[i]));
  }
  return made;
}

Datum detached(Datum datum) {
  if (datum.is_tensor()) return datum.tensor().owned() ? datum : Datum(datum.tensor().clone());
  if (!datum.is_sequence()) return datum;
  Datum::Sequence items;
  for (const Datum& item : datum.items()) items.push_back(detached(item));
  Datum out = Datum::sequence(std::move(items));
  out.sequence_type = datum.sequence_type;
  return out;
}

Tensor gathered(const Lodging& lodging, const Type& type, const void* from) {
  Tensor out(type.dtype, type.shape.static_dims());
  const auto row = static_cast<size_t>(lodging.row_bytes);
  const char* at = static_cast<const char*>(from);
  char* to = out.mutable_as<char>();
  for (size_t done = 0; done < out.bytes(); done += row, at += lodging.stride_bytes) std::memcpy(to + done, at, row);
  return out;
}

Tensor interleaved(const Type& type, const void* from) {
  Tensor out(type.dtype, type.shape.static_dims());
  const Dims& dims = out.dims();
  const size_t element = byte_size(type.dtype);
  const int64_t channels = dims.back(), images = dims[0],
                pixels = out.elements() / std::max<int64_t>(images * channels, 1);
  const char* at = static_cast<const char*>(from);
  char* to = out.mutable_as<char>();
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < pixels; ++i, at += element)
        std::memcpy(to + static_cast<size_t>((n * pixels + i) * channels + c) * element, at, element);
  return out;
}

}  // namespace trine
