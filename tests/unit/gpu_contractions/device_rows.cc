#include "device_rows.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "../dnn/row_data.h"

namespace trine::dnn::test {
namespace {

constexpr size_t kGuard = 1024;

compute::DevicePrograms& programs() {
  static auto* instance = new compute::DevicePrograms(test_device(), device_headers());
  return *instance;
}

compute::Stream& stream() {
  static auto* instance = new compute::Stream(test_device().create_stream());
  return *instance;
}

// Device memory between guards; what is not uploaded holds bytes of 0xa5.
class DeviceBytes {
 public:
  explicit DeviceBytes(size_t bytes, const void* from = nullptr)
      : bytes_(bytes), buffer_(test_device().allocate(bytes + 2 * kGuard)) {
    stream().fill(buffer_, 0xa5);
    if (from && bytes) stream().upload(buffer_, kGuard, from, bytes);
    stream().synchronize();
  }
  void* data() const { return static_cast<char*>(buffer_.data()) + kGuard; }
  size_t bytes() const { return bytes_; }

  std::vector<char> contents() const {
    std::vector<char> all(bytes_ + 2 * kGuard);
    stream().download(all.data(), buffer_, 0, all.size());
    stream().synchronize();
    for (size_t i = 0; i < kGuard; ++i)
      if (all[i] != char(0xa5) || all[kGuard + bytes_ + i] != char(0xa5)) {
        ADD_FAILURE() << "wrote outside, near byte " << i;
        break;
      }
    return {all.begin() + kGuard, all.end() - kGuard};
  }

 private:
  size_t bytes_;
  compute::Buffer buffer_;
};

std::vector<char> pack(const DeviceRow& row, const Problem& problem, const Data& data, const OperandSizes& sizes) {
  std::vector<char> packed(row.packed_bytes ? row.packed_bytes(row, problem) : 0);
  if (packed.empty()) return packed;
  std::vector<Encoded> encoded;
  std::vector<const void*> weights;
  for (size_t i = 0; i < kMostWeights; ++i) encoded.emplace_back(sizes.weight_types[i], data.weights[i]);
  for (const Encoded& e : encoded) weights.push_back(e.pointer());
  row.prepack(row, problem, weights, packed.data());
  return packed;
}

// The bytes of out[0].
std::vector<char> run(const DeviceRow& row, const Problem& problem, const Data& data, const DeviceTraits& traits) {
  using Kind = compute::OperandRole::Kind;
  const OperandSizes sizes = operand_sizes(problem);
  const compute::DeviceCall call = device_call(row, problem, traits, data.quantization);
  const auto uploaded = [](const Encoded& e) { return DeviceBytes(e.bytes(), e.pointer()); };
  std::vector<DeviceBytes> in, constants;
  for (size_t i = 0; i < 2; ++i) in.push_back(uploaded(Encoded(sizes.in_types[i], data.in[i])));
  for (const Tensor& t : call.constants) constants.emplace_back(t.bytes(), t.data());
  const DeviceBytes bias = uploaded(Encoded(sizes.bias_type, data.bias));
  const DeviceBytes residual = uploaded(Encoded(sizes.residual_type, data.residual));
  const DeviceBytes scales(data.scales.size() * 4, data.scales.data());
  const std::vector<char> packed_bytes = pack(row, problem, data, sizes);
  const DeviceBytes packed(packed_bytes.size(), packed_bytes.data()), workspace(call.workspace_bytes);
  const DeviceBytes out(static_cast<size_t>(sizes.out[0]) * byte_size(sizes.out_types[0]));
  const auto address = [&](const compute::OperandRole& role) -> void* {
    switch (role.kind) {
      case Kind::in: return in.at(static_cast<size_t>(role.index)).data();
      case Kind::out: return out.data();
      case Kind::packed: return packed.data();
      case Kind::bias: return bias.data();
      case Kind::residual: return residual.data();
      case Kind::scale: return scales.bytes() ? scales.data() : nullptr;
      case Kind::workspace: return workspace.data();
      case Kind::constant: return constants.at(static_cast<size_t>(role.index)).data();
      default: return nullptr;
    }
  };
  programs().submit(call, address, stream());
  stream().synchronize();
  workspace.contents();
  return out.contents();
}

// Each operand's rounding to tf32 changes it by 2^-11 at most.
void widen_for_tf32(Expected& e, const Expected& of_magnitudes) {
  for (size_t i = 0; i < e.bound[0].size(); ++i) e.bound[0][i] += 1.6 * 0x1.01p-10 * std::abs(of_magnitudes.out[0][i]);
}

// The same sums of magnitudes, without an epilogue.
Expected magnitudes(Problem problem, Data data, const Oracle& oracle) {
  std::visit(
      [](auto& p) {
        if constexpr (requires {
                        p.epilogue;
                        p.types;
                      })
          p.epilogue = {};
      },
      problem);
  for (Floats* v : {&data.in[0], &data.in[1], &data.weights[0]})
    for (float& x : *v) x = std::abs(x);
  data.bias.clear(), data.residual.clear();
  return oracle(problem, data);
}

}  // namespace

const compute::Device& test_device() {
  static const auto* device = [] {
    const char* id = std::getenv("TRINE_TEST_DEVICE");
    return new compute::Device(compute::Device::open(id ? id : "cpu"));
  }();
  return *device;
}

DeviceTraits test_traits(bool large) {
  DeviceTraits traits = traits_of(test_device());
  if (large) {
    traits.multiprocessors = 132;
    if (traits.is_cpu) traits.architecture = 90;
    traits.flops_per_second = 60e12, traits.bytes_per_second = 4e12;
  }
  return traits;
}

void check_device_rows(const Problem& problem, const DeviceOptions& options) {
  std::mt19937_64 random(seed() + hash(problem));
  const Oracle oracle = op_kind(problem) == OpKind::conv ? conv_oracle : matmul_oracle;
  const OperandSizes sizes = operand_sizes(problem);
  int fitting = 0;
  for (const bool integers : {true, false}) {
    if (integers && !options.integers) continue;
    Data data = make_data(problem, integers, random);
    if (options.adjust) options.adjust(data);
    Expected expected = oracle(problem, data);
    if (options.tf32 && !integers) widen_for_tf32(expected, magnitudes(problem, data, oracle));
    round_outputs(problem, integers, expected);
    if (integers) std::fill(expected.bound[0].begin(), expected.bound[0].end(), 0.0);
    for (const DeviceCandidate& c :
         find_on_device(problem, test_traits(options.large), {.tf32 = options.tf32}).candidates) {
      if (c.row->provide || c.row->tf32 != options.tf32 || c.row->name.find(options.only) == std::string_view::npos)
        continue;
      ++fitting;
      const std::vector<char> bytes = run(*c.row, problem, data, test_traits(options.large));
      std::vector<double> got;
      for (int64_t i = 0; i < sizes.out[0]; ++i) got.push_back(decode(sizes.out_types[0], bytes.data(), i));
      compare(c.row->name, got, expected.out[0], expected.bound[0], sizes.out_types[0],
              (integers ? "integers " : "reals ") + text(problem));
    }
  }
  EXPECT_GE(fitting, options.least_rows) << "rows for " << text(problem);
}

}  // namespace trine::dnn::test
