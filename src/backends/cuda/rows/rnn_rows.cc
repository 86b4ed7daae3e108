// One layer of a recurrent network on devices: the input's products for all steps by a row of matmul, then the steps in
// one cooperative launch of kernels/rnn.cu.
#include <limits>

#include "backends/cuda/rows/row_support.h"
#include "base/float_formats.h"

namespace trine::cuda {
namespace {

using namespace dnn;

const RnnProblem& of(const Problem& problem) { return std::get<RnnProblem>(problem); }

size_t rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Packed: w and r as they are, then bias [D, 2, G*H] and peepholes [D, 3*H] as f32, each at a multiple of 256 bytes.
struct Packed {
  size_t w, r, bias, peephole;  // bytes
  explicit Packed(const RnnProblem& p) {
    const auto rows = static_cast<size_t>(p.directions() * p.gates() * p.hidden);
    w = rows * static_cast<size_t>(p.input) * byte_size(p.type);
    r = rows * static_cast<size_t>(p.hidden) * byte_size(p.type);
    bias = rows * 2 * sizeof(float);
    peephole = static_cast<size_t>(p.directions() * 3 * p.hidden) * sizeof(float);
  }
  size_t r_at() const { return rounded_up(w); }
  size_t bias_at() const { return r_at() + rounded_up(r); }
  size_t peephole_at() const { return bias_at() + rounded_up(bias); }
  size_t bytes() const { return peephole_at() + rounded_up(peephole); }
};

// Workspace: the input's products, the states, what matmul needs.
struct Scratch {
  size_t sums, states;
  explicit Scratch(const RnnProblem& p) {
    sums = rounded_up(static_cast<size_t>(p.steps * p.batch * p.directions() * p.gates() * p.hidden) * sizeof(float));
    states = rounded_up(static_cast<size_t>(5 * p.directions() * p.batch * p.hidden) * sizeof(float));
  }
};

MatmulProblem input_product(const RnnProblem& p) {
  MatmulProblem m{.m = p.steps * p.batch, .n = p.directions() * p.gates() * p.hidden, .k = p.input, .trans_b = true};
  m.types.in = m.types.weights = p.type;
  return m;
}

const DeviceRow* product_row(const RnnProblem& p, const DeviceTraits& traits) {
  for (const DeviceCandidate& c : find_on_device(input_product(p), traits, {.providers = false}).candidates)
    if (c.row->call && !c.row->packed_bytes) return c.row;
  for (const DeviceCandidate& c : find_on_device(input_product(p), traits, {.providers = false}).candidates)
    if (c.row->call && c.row->packed_bytes(*c.row, input_product(p)) == 0) return c.row;
  return nullptr;
}

const char* fits(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const RnnProblem& p = of(problem);
  if (p.pass != RnnPass::inference) return "training and gradients";
  if (p.layers != 1) return "several layers";
  if (p.projection) return "a projection";
  if (p.skip_input) return "a skipped input";
  if (p.kind != RnnKind::lstm && p.peephole) return "peepholes of cells other than lstm";
  if (p.type != DType::f32 && p.type != DType::f16 && p.type != DType::bf16) return "types other than f32, f16, bf16";
  const double sums =
      static_cast<double>(p.steps) * static_cast<double>(p.batch * p.directions() * p.gates() * p.hidden);
  if (sums > kMostItems) return "2^31 sums of gates or more";
  return p.steps * p.batch * p.hidden > 0 && !product_row(p, traits) ? "no row for the input's products" : nullptr;
}

size_t packed_bytes(const DeviceRow&, const Problem& problem) { return Packed(of(problem)).bytes(); }

void widen(DType type, const void* from, int64_t first, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = type == DType::f32
                ? static_cast<const float*>(from)[first + i]
                : static_cast<float>(small_float_value(type, static_cast<const uint16_t*>(from)[first + i]));
}

void prepack(const DeviceRow&, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const RnnProblem& p = of(problem);
  const Packed at(p);
  char* to = static_cast<char*>(packed);
  std::memset(to, 0, at.bytes());
  if (at.w) std::memcpy(to, weights[0], at.w);
  if (at.r) std::memcpy(to + at.r_at(), weights[1], at.r);
  auto* bias = reinterpret_cast<float*>(to + at.bias_at());
  const int64_t rows = p.gates() * p.hidden, halves = p.bias == RnnBias::both ? 2 : 1;
  const bool biased = weights.size() > 2 && weights[2] && p.bias != RnnBias::none;
  for (int64_t d = 0; biased && d < p.directions(); ++d)
    widen(p.type, weights[2], d * halves * rows, halves * rows,
          bias + (2 * d + (p.bias == RnnBias::recurrent ? 1 : 0)) * rows);
  if (p.peephole && weights.size() > 3 && weights[3])
    widen(p.type, weights[3], 0, p.directions() * 3 * p.hidden, reinterpret_cast<float*>(to + at.peephole_at()));
}

Role packed(size_t offset) { return {Role::Kind::packed, 0, static_cast<int64_t>(offset)}; }

// The launches of the input's products, its operands being where this row has them.
void add_product(const RnnProblem& p, const DeviceTraits& traits, DeviceCall& call) {
  const DeviceRow* row = product_row(p, traits);
  const Scratch scratch(p);
  DeviceCall product = row->call(*row, input_product(p), traits);
  const auto placed = [&](Role role) -> Role {
    if (role.kind == Role::Kind::in && role.index == 1) return packed(static_cast<size_t>(role.offset));
    if (role.kind == Role::Kind::out) return workspace(role.offset);
    if (role.kind == Role::Kind::workspace)
      return workspace(static_cast<int64_t>(scratch.sums + scratch.states) + role.offset);
    return role;
  };
  for (DeviceLaunch& l : product.launches) {
    for (DeviceArgument& argument : l.arguments) {
      if (auto* role = std::get_if<Role>(&argument)) *role = placed(*role);
      if (auto* map = std::get_if<compute::TensorMapArgument>(&argument)) map->address = placed(map->address);
    }
    call.launches.push_back(std::move(l));
  }
  call.constants = std::move(product.constants);
  call.workspace_bytes += product.workspace_bytes;
}

DeviceCall layer_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const RnnProblem& p = of(problem);
  const Packed weights(p);
  const Scratch scratch(p);
  DeviceCall call;
  if (p.sequence_lens) call.fault = fmt::format("rnn: sequence length {{}}; want 0 to {}", p.steps);
  if (p.batch * p.hidden == 0) return call;
  call.workspace_bytes = scratch.sums + scratch.states;
  if (p.steps > 0) add_product(p, traits, call);
  const auto number = [](int64_t x) { return static_cast<int>(x); };
  const RnnSizes s{.kind = static_cast<int>(p.kind),
                   .steps = number(p.steps),
                   .batch = number(p.batch),
                   .hidden = number(p.hidden),
                   .directions = number(p.directions()),
                   .reverse = p.direction == RnnDirection::reverse,
                   .joined = p.joined,
                   .linear_before_reset = p.linear_before_reset,
                   .peephole = p.peephole,
                   .lengths = p.sequence_lens,
                   .clip = p.clip,
                   .cell_min = p.cell_min,
                   .cell_max = p.cell_max};
  constexpr int64_t kEntries = 4, kWarps = 8;  // as in the kernel
  const int64_t warps = p.directions() * ((p.batch + kEntries - 1) / kEntries) * p.hidden;
  // All at once: one block for a multiprocessor fits whatever it is. A CPU's blocks are fibres of one thread.
  const int64_t blocks = std::min<int64_t>((warps + kWarps - 1) / kWarps, traits.multiprocessors);
  const auto lens = p.sequence_lens ? DeviceArgument(in(3)) : by_value<void*>(nullptr);
  DeviceLaunch steps = launch("rnn.cu", fmt::format("trine::rnn_layer<{}>", element_name(p.type)), blocks_of(blocks, 1),
                              {by_value(s), workspace(0), packed(weights.r_at()), packed(weights.bias_at()),
                               packed(weights.peephole_at()), in(1), in(2), lens, out(0), out(1), out(2),
                               workspace(static_cast<int64_t>(scratch.sums)), Role{Role::Kind::fault}});
  steps.shape.cooperative = true;
  steps.shape.overlap = false;
  call.launches.push_back(std::move(steps));
  return call;
}

double cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const RnnProblem& p = of(problem);
  const double parts = p.kind == RnnKind::gru && !p.linear_before_reset ? 2 : 1;
  const double read = static_cast<double>(p.directions() * p.gates() * p.hidden * p.hidden) *
                      static_cast<double>(byte_size(p.type) * static_cast<size_t>((p.batch + 3) / 4));
  return streaming_seconds(bytes(problem), traits) +
         static_cast<double>(p.steps) * (parts * 2e-6 + read / traits.bytes_per_second);
}

const DeviceRow kRnn[] = {{.name = "rnn_any_persistent",
                           .op = OpKind::rnn,
                           .fits = fits,
                           .cost = cost,
                           .packed_bytes = packed_bytes,
                           .prepack = prepack,
                           .call = layer_call}};
const RegisterDeviceRows registered(kRnn);

}  // namespace
}  // namespace trine::cuda
