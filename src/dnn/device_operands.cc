#include "dnn/device_operands.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/float_formats.h"

namespace trine::dnn {
namespace {

// The pattern of `count` elements of `size` bytes at the front of `bytes` goes on to the end.
void repeat(std::vector<char>& bytes, size_t pattern) {
  for (size_t at = pattern; at > 0 && at < bytes.size(); at += pattern)
    std::memcpy(bytes.data() + at, bytes.data(), std::min(pattern, bytes.size() - at));
}

std::vector<char> random_indices(const GatherProblem& p) {
  std::mt19937 random(7);
  std::vector<char> bytes(static_cast<size_t>(p.count) * byte_size(p.index));
  for (int64_t i = 0; i < p.count; ++i) {
    const int64_t index = static_cast<int64_t>(random()) % std::max<int64_t>(p.axis, 1);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * byte_size(p.index), &index, byte_size(p.index));
  }
  return bytes;
}

}  // namespace

std::vector<char> random_content(DType type, int64_t count) {
  constexpr int64_t kPeriod = 65521;
  std::mt19937 random(7);
  const size_t size = byte_size(type);
  std::vector<char> bytes(static_cast<size_t>(count) * size);
  const int64_t first = std::min(count, kPeriod);
  for (int64_t i = 0; i < first; ++i) {
    const float x = static_cast<float>(random()) * 0x1p-31f - 1;
    const uint16_t half = is_half(type) ? small_float_bits(type, x) : 0;
    const int64_t index = static_cast<int64_t>(random() % 100);
    const void* from = type == DType::f32 ? static_cast<const void*>(&x)
                       : is_half(type)    ? &half
                                          : static_cast<const void*>(&index);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * size, from, size);
  }
  repeat(bytes, static_cast<size_t>(first) * size);
  return bytes;
}

DeviceOperands::DeviceOperands(const compute::Device& device, const Problem& problem)
    : device_(device), problem_(problem), sizes_(operand_sizes(problem)) {
  const auto filled = [&](const std::vector<char>& content) { return uploaded(content.data(), content.size()); };
  for (int i = 0; i < kMostOperands; ++i) {
    in_.push_back(filled(input_content(i)));
    out_.push_back(room(static_cast<size_t>(sizes_.out[i]) * byte_size(sizes_.out_types[i])));
  }
  for (int i = 0; i < kMostWeights; ++i) weights_.push_back(random_content(sizes_.weight_types[i], sizes_.weights[i]));
  bias_ = filled(random_content(sizes_.bias_type, sizes_.bias));
  residual_ = filled(random_content(sizes_.residual_type, sizes_.residual));
}

std::vector<char> DeviceOperands::input_content(int i) const {
  if (const auto* gather = std::get_if<GatherProblem>(&problem_); gather && i == 1) return random_indices(*gather);
  if (!sizes_.integers[i]) return random_content(sizes_.in_types[i], sizes_.in[i]);
  const int32_t value = *sizes_.integers[i];  // lengths: any other would be bad
  std::vector<char> bytes(static_cast<size_t>(sizes_.in[i]) * sizeof value);
  if (bytes.empty()) return bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  repeat(bytes, sizeof value);
  return bytes;
}

compute::Buffer DeviceOperands::room(size_t bytes) const { return device_.allocate(bytes + 16); }

compute::Buffer DeviceOperands::uploaded(const void* from, size_t bytes) const {
  compute::Buffer buffer = room(bytes);
  if (!bytes) return buffer;
  compute::Stream stream = device_.create_stream();
  stream.upload(buffer, 0, from, bytes);
  stream.synchronize();
  return buffer;
}

compute::Buffer DeviceOperands::copy(const compute::Buffer& from) const {
  compute::Buffer buffer = device_.allocate(from.bytes());
  compute::Stream stream = device_.create_stream();
  stream.copy(buffer, 0, from, 0, from.bytes());
  stream.synchronize();
  return buffer;
}

void* DeviceOperands::address(const compute::OperandRole& role) const {
  using Kind = compute::OperandRole::Kind;
  const auto i = static_cast<size_t>(role.index);
  switch (role.kind) {
    case Kind::in: return i < in_.size() && sizes_.in[i] ? in_[i].data() : nullptr;
    case Kind::out: return i < out_.size() && sizes_.out[i] ? out_[i].data() : nullptr;
    case Kind::bias: return sizes_.bias ? bias_->data() : nullptr;
    case Kind::residual: return sizes_.residual ? residual_->data() : nullptr;
    default: return nullptr;
  }
}

WayOperands::WayOperands(const DeviceOperands& shared, const DeviceRow& row, const compute::DeviceCall* call,
                         size_t workspace_bytes, size_t cold_bytes, int most_copies)
    : shared_(shared), workspace_(shared.room(workspace_bytes)) {
  std::vector<std::vector<char>> contents = shared.weights();
  std::vector<char> packed(row.packed_bytes ? row.packed_bytes(row, shared.problem()) : 0);
  packs_ = !packed.empty();
  if (packs_) {
    std::vector<const void*> given;
    for (const std::vector<char>& w : contents) given.push_back(w.data());
    row.prepack(row, shared.problem(), given, packed.data());
    contents = {packed};
  }
  size_t together = 0;
  for (const std::vector<char>& c : contents) together += c.size();
  const auto wanted = together ? static_cast<int>(std::min(cold_bytes / together + 1, size_t{1} << 20)) : 1;
  const int copies = std::clamp(wanted, 1, std::max(most_copies, 1));
  for (const std::vector<char>& c : contents) {
    std::vector<compute::Buffer>& held = weights_.emplace_back();
    for (int copy = 0; copy < copies && !c.empty(); ++copy)
      held.push_back(copy ? shared.copy(held[0]) : shared.uploaded(c.data(), c.size()));
  }
  for (const Tensor& t : call ? call->constants : std::vector<Tensor>())
    constants_.push_back(shared.uploaded(t.data(), t.bytes()));
}

compute::OperandAddresses WayOperands::addresses(int turn) const {
  return [this, turn](const compute::OperandRole& role) { return address(role, turn); };
}

void* WayOperands::weights(size_t which, int turn) const {
  if (which >= weights_.size() || weights_[which].empty()) return nullptr;
  const std::vector<compute::Buffer>& copies = weights_[which];
  return copies[static_cast<size_t>(turn) % copies.size()].data();
}

void* WayOperands::address(const compute::OperandRole& role, int turn) const {
  using Kind = compute::OperandRole::Kind;
  switch (role.kind) {
    case Kind::packed: return packs_ ? weights(0, turn) : nullptr;
    case Kind::workspace: return workspace_.data();
    case Kind::constant: return constants_[static_cast<size_t>(role.index)].data();
    case Kind::in: {
      void* plain = shared_.address(role);
      // Weights that are not packed follow the one input of a convolution or product.
      return plain || packs_ || role.index < 1 ? plain : weights(static_cast<size_t>(role.index - 1), turn);
    }
    default: return shared_.address(role);
  }
}

}  // namespace trine::dnn
