#include <fmt/format.h>

#include <algorithm>

#include "dnn/operands.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

using Order = std::array<int, 4>;  // of ONNX's gates, i o f c or z r h, as a library has them

Order order_of(RnnKind kind, GateOrder order) {
  if (kind == RnnKind::lstm) {
    switch (order) {
      case GateOrder::onnx: return {0, 1, 2, 3};
      case GateOrder::cudnn:
      case GateOrder::keras: return {0, 2, 3, 1};
      case GateOrder::miopen: return {0, 2, 1, 3};
    }
  }
  if (kind == RnnKind::gru && order == GateOrder::cudnn) return {1, 0, 2};
  return {0, 1, 2};
}

}  // namespace

void reorder_gates(const RnnProblem& p, int weight, GateOrder from_order, const float* from, GateOrder to_order,
                   float* to) {
  if (weight < 0 || weight > 2)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: gates of weight {}; those of 0 w, 1 r and 2 bias have an order", text(p), weight));
  const Order theirs = order_of(p.kind, from_order), ours = order_of(p.kind, to_order);
  const int64_t gates = p.gates();
  const auto copy_matrix = [&](int64_t columns) {
    for (int64_t gate = 0; gate < gates; ++gate) {
      const auto same = std::find(theirs.begin(), theirs.begin() + gates, ours[static_cast<size_t>(gate)]);
      std::copy_n(from + (same - theirs.begin()) * p.hidden * columns, p.hidden * columns,
                  to + gate * p.hidden * columns);
    }
    from += gates * p.hidden * columns;
    to += gates * p.hidden * columns;
  };
  const int64_t halves = p.bias == RnnBias::both ? 2 : p.bias == RnnBias::none ? 0 : 1;
  for (int64_t layer = 0; layer < p.layers; ++layer)
    for (int64_t direction = 0; direction < p.directions(); ++direction) {
      if (weight == 0 && !(layer == 0 && p.skip_input)) copy_matrix(p.layer_input(layer));
      if (weight == 1) copy_matrix(p.output());
      for (int64_t half = 0; weight == 2 && half < halves; ++half) copy_matrix(1);
    }
}

}  // namespace trine::dnn
