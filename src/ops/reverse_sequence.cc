// ReverseSequence: for each batch entry, the first sequence_lens[b] steps in reverse order, the rest as it was.
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

struct TimeAndBatch {
  int time, batch;
};

template <class C>
TimeAndBatch axes_of(const C& c) {
  const int64_t time = c.attrs().integer("time_axis", 0), batch = c.attrs().integer("batch_axis", 1);
  if (time < 0 || time > 1 || batch < 0 || batch > 1 || time == batch)
    c.fail("time_axis " + std::to_string(time) + ", batch_axis " + std::to_string(batch) +
           "; one must be 0, the other 1");
  return {static_cast<int>(time), static_cast<int>(batch)};
}

void infer_reverse_sequence(InferContext& c) {
  c.need_rank_at_least(0, 2);
  c.need_rank(1, 1);
  axes_of(c);
  infer_same_as_first(c);
}

void reverse_sequence_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto [time, batch] = axes_of(c);
  const auto lengths = c.tensor(1).i64_values();
  if (x.rank() < 2 || static_cast<int64_t>(lengths.size()) != x.dim(batch))
    c.fail("x is " + x.type_text() + ", " + std::to_string(lengths.size()) +
           " lengths; one per entry of the batch axis");
  TensorBuilder y(x.dtype(), x.dims());
  const View whole = View::whole(x.dims());
  for (int64_t b = 0; b < x.dim(batch); ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)], steps = x.dim(time);
    if (length < 0 || length > steps)
      c.fail("sequence length " + std::to_string(length) + " outside [0, " + std::to_string(steps) + "]");
    const View entry = whole.range(batch, b, 1);
    const View head = entry.range(time, 0, length), tail = entry.range(time, length, steps - length);
    View reversed = head;
    reversed.offset += std::max<int64_t>(length - 1, 0) * head.strides[static_cast<size_t>(time)];
    reversed.strides[static_cast<size_t>(time)] *= -1;
    y.copy(head, x, reversed);
    y.copy(tail, x, tail);
  }
  c.set(0, y.take());
}

const OpDef kReverseSequence = {.name = "reverse_sequence",
                                .onnx = "ReverseSequence",
                                .doc = "y[b, t] = t < len[b] ? x[b, len[b] - 1 - t] : x[b, t]",
                                .types = "a x",
                                .min_inputs = 2,
                                .max_inputs = 2,
                                .infer = infer_reverse_sequence,
                                .reference = reverse_sequence_reference};
const RegisterOp kRegisterReverseSequence(kReverseSequence);

}  // namespace
}  // namespace trine
