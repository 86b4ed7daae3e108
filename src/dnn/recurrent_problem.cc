#include <fmt/format.h>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kKindNames[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};
constexpr std::string_view kDirectionNames[] = {"forward", "reverse", "bidirectional"};
constexpr std::string_view kBiasNames[] = {"", " bias input", " bias recurrent", " bias none"};
constexpr std::string_view kPassNames[] = {"", " training", " backward_data", " backward_weights"};
constexpr int64_t kRandomWords = 4;  // seed and offset

template <class Names, class E>
std::string_view of(const Names& names, E e) {
  return names[static_cast<size_t>(e)];
}

// Of x's weights, all layers.
int64_t input_weights(const RnnProblem& p) {
  int64_t columns = p.skip_input ? 0 : p.input;
  for (int64_t l = 1; l < p.layers; ++l) columns += p.layer_input(l);
  return p.directions() * p.gates() * p.hidden * columns;
}

}  // namespace

std::string text_of(const RnnProblem& p) {
  std::string text = fmt::format("{} {} steps {} batch {} input {} hidden {}", of(kKindNames, p.kind),
                                 of(kDirectionNames, p.direction), p.steps, p.batch, p.input, p.hidden);
  if (p.linear_before_reset) text += " linear_before_reset";
  if (p.sequence_lens) text += " sequence_lens";
  if (p.peephole) text += " peephole";
  if (p.clip > 0) text += fmt::format(" clip {}", p.clip);
  if (const RnnProblem plain; p.cell_min != plain.cell_min || p.cell_max != plain.cell_max)
    text += fmt::format(" cell {} to {}", p.cell_min, p.cell_max);
  if (p.projection) text += fmt::format(" projection {}", p.projection);
  text += of(kBiasNames, p.bias);
  if (p.layers != 1) text += fmt::format(" layers {}", p.layers);
  if (p.skip_input) text += " skip_input";
  if (p.dropout > 0) text += fmt::format(" dropout {}", p.dropout);
  if (p.joined) text += " joined";
  text += of(kPassNames, p.pass);
  if (p.add) text += " add";
  text += type_text(p.type);
  return text;
}

double flops_of(const RnnProblem& p) {
  const double recurrent = static_cast<double>(p.layers * p.directions() * p.gates() * p.hidden * p.output());
  const double projection = static_cast<double>(p.layers * p.directions() * p.projection * p.hidden);
  return 2 * static_cast<double>(p.steps * p.batch) * (static_cast<double>(input_weights(p)) + recurrent + projection);
}

double bytes_of(const RnnProblem& p) {
  const double recurrent = static_cast<double>(p.layers * p.directions() * p.gates() * p.hidden * p.output());
  const double per_step = static_cast<double>(p.input + p.output() * p.directions());
  return 4 * (static_cast<double>(input_weights(p)) + recurrent + static_cast<double>(p.steps * p.batch) * per_step);
}

OperandSizes sizes_of(const RnnProblem& p) {
  OperandSizes s;
  const int64_t cells = p.layers * p.directions(), rows = cells * p.gates() * p.hidden;
  const int64_t h = cells * p.batch * p.output(), c = p.kind == RnnKind::lstm ? cells * p.batch * p.hidden : 0;
  const int64_t x = p.steps * p.batch * p.input, y = p.steps * p.batch * p.directions() * p.output();
  const int64_t reserve = cells * p.steps * p.batch * p.reserve_row();
  const int64_t gradients = cells * p.steps * p.batch * p.gradient_row();
  const int64_t weights[kMostWeights] = {input_weights(p), rows * p.output(),
                                         p.bias == RnnBias::both   ? 2 * rows
                                         : p.bias == RnnBias::none ? 0
                                                                   : rows,
                                         p.peephole ? cells * 3 * p.hidden : 0, cells * p.projection * p.hidden};
  if (p.pass != RnnPass::backward_data) s.in[0] = x;
  s.in[1] = h, s.in[2] = c;
  if (p.sequence_lens) s.in[3] = p.batch, s.integers[3] = static_cast<int32_t>(p.steps);
  if (p.dropout > 0 && p.pass != RnnPass::inference) s.in[4] = kRandomWords, s.integers[4] = 7;
  if (p.pass == RnnPass::backward_weights) {
    s.in[5] = reserve, s.in[6] = gradients;
    std::copy_n(weights, kMostWeights, s.out);
    return s;
  }
  std::copy_n(weights, kMostWeights, s.weights);
  if (p.pass == RnnPass::backward_data) {
    s.in[5] = reserve, s.in[6] = y, s.in[7] = h, s.in[8] = c;
    s.out[0] = x, s.out[1] = h, s.out[2] = c, s.out[3] = gradients;
    return s;
  }
  s.out[0] = y, s.out[1] = h, s.out[2] = c;
  if (p.pass == RnnPass::training) s.out[3] = reserve;
  return s;
}

}  // namespace trine::dnn
