#include <fmt/format.h>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kKindNames[] = {"batch", "instance", "group", "layer", "rms"};

int64_t elements(const NormProblem& p) { return p.n * p.channels * p.pixels; }

}  // namespace

std::string text_of(const NormProblem& p) {
  const auto when = [](bool set, std::string_view text) { return set ? text : std::string_view(); };
  return fmt::format("norm{} {} {} x[{},{},{}] groups {}{}{}{}{}{} epsilon {} momentum {}{}",
                     when(p.pass == Pass::backward, "_backward"), kKindNames[static_cast<size_t>(p.kind)],
                     name(p.layout), p.n, p.channels, p.pixels, p.groups, when(p.training, " training"),
                     when(p.scale, " scale"), when(p.shift, " shift"), when(p.add, " add"), when(p.relu, " relu"),
                     p.epsilon, p.momentum, type_text(p.type));
}

std::string text_of(const LrnProblem& p) {
  return fmt::format("lrn{} {} {} x[{},{},{}] size {} alpha {} beta {} k {}{}",
                     p.pass == Pass::backward ? "_backward" : "", p.within ? "within" : "across", name(p.layout), p.n,
                     p.channels, fmt::join(p.image, ","), p.size, p.alpha, p.beta, p.k, type_text(p.type));
}

double flops_of(const LrnProblem& p) {
  const double pixels = static_cast<double>(p.image[0] * p.image[1]) * static_cast<double>(p.image[2]);
  const auto window = static_cast<double>(p.within ? p.size * p.size : p.size);
  return static_cast<double>(p.n * p.channels) * pixels * (p.pass == Pass::forward ? window + 40 : 2 * window + 80);
}

OperandSizes sizes_of(const LrnProblem& p) {
  OperandSizes s;
  s.in[0] = s.out[0] = p.n * p.channels * p.image[0] * p.image[1] * p.image[2];
  if (p.pass == Pass::backward) s.in[1] = s.in[0];
  return s;
}

double flops_of(const NormProblem& p) {
  return static_cast<double>(elements(p)) * (p.uses_running() ? 4 : p.pass == Pass::forward ? 8 : 12);
}

OperandSizes sizes_of(const NormProblem& p) {
  OperandSizes s;
  const bool forward = p.pass == Pass::forward, running = p.kind == NormKind::batch;
  s.in[0] = s.out[0] = elements(p);
  if (p.scale) s.in[forward ? 1 : 2] = p.channels;
  if (forward) {
    if (p.shift) s.in[2] = p.channels;
    if (running) s.in[3] = 2 * p.channels;
    if (p.add) s.residual = s.in[0];
    if (!p.uses_running()) s.out[1] = 2 * p.sets();
    if (running && p.training) s.out[2] = 2 * p.channels;
  } else {
    s.in[1] = s.in[0];
    s.in[3] = 2 * p.sets();
    if (p.relu) s.in[4] = s.in[0];
    if (p.scale) s.out[1] = p.channels;
    if (p.shift) s.out[2] = p.channels;
    if (p.add) s.out[3] = s.in[0];
  }
  return s;
}

}  // namespace trine::dnn
