#include "device_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/float_formats.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

constexpr int kPoison = 0xa5;

template <class T>
T read(const char* p, int64_t i) {
  T x;
  std::memcpy(&x, p + i * static_cast<int64_t>(sizeof x), sizeof x);
  return x;
}
template <class T>
void write(T x, char* p, int64_t i) {
  std::memcpy(p + i * static_cast<int64_t>(sizeof x), &x, sizeof x);
}

void set_type(Problem& problem, DType type) {
  std::visit(
      [&](auto& p) {
        if constexpr (requires { p.type; }) p.type = type;
        if constexpr (requires { p.b_type; }) p.b_type = type;
      },
      problem);
}

CaseData make_data(const Problem& problem, const CaseOptions& options, std::mt19937_64& random) {
  CaseData data;
  data.sizes = operand_sizes(problem);
  std::normal_distribution<double> normal;
  const auto fill = [&](std::vector<char>& to, DType type, int64_t n) {
    to.resize(static_cast<size_t>(n) * byte_size(type));
    const bool is_float = type == DType::f32 || is_half(type);
    for (int64_t i = 0; i < n; ++i) {
      double x = options.integers ? static_cast<double>(random() % 7) - 3 : normal(random);
      if (!is_float)
        x = type == DType::i8 ? static_cast<double>(random() % 256) - 128 : static_cast<double>(random() % 256);
      if (type == DType::boolean) x = static_cast<double>(random() % 2);
      encode(type, x, to.data(), i);
    }
  };
  for (int i = 0; i < kMostOperands; ++i) {
    if (data.sizes.integers[i]) data.sizes.in_types[i] = DType::i32;
    fill(data.in[i], data.sizes.in_types[i], data.sizes.in[i]);
    for (int64_t j = 0; data.sizes.integers[i] && j < data.sizes.in[i]; ++j) data.set(i, j, *data.sizes.integers[i]);
  }
  for (int i = 0; i < kMostWeights; ++i) fill(data.weights[i], data.sizes.weight_types[i], data.sizes.weights[i]);
  fill(data.bias, data.sizes.bias_type, data.sizes.bias);
  fill(data.residual, data.sizes.residual_type, data.sizes.residual);
  return data;
}

size_t out_bytes(const OperandSizes& s, int i) { return static_cast<size_t>(s.out[i]) * byte_size(s.out_types[i]); }
const void* pointer(const std::vector<char>& v) { return v.empty() ? nullptr : v.data(); }

std::vector<std::vector<char>> reference(const Problem& problem, const CaseData& data) {
  static const uint64_t nothing = 0;
  Operands operands;
  for (int i = 0; i < kMostOperands; ++i) operands.in[i] = pointer(data.in[i]);
  if (!operands.in[0]) operands.in[0] = &nothing;
  for (int i = 0; i < kMostWeights; ++i) operands.weights[i] = pointer(data.weights[i]);
  operands.bias = pointer(data.bias), operands.residual = pointer(data.residual);
  std::vector<std::vector<char>> outputs(kMostOperands);
  for (int i = 0; i < kMostOperands; ++i) {
    outputs[static_cast<size_t>(i)].assign(out_bytes(data.sizes, i), static_cast<char>(kPoison));
    if (data.sizes.out[i]) operands.out[i] = outputs[static_cast<size_t>(i)].data();
  }
  Primitive(problem).run(operands);
  return outputs;
}

// Half a unit in the last place for each of two roundings.
double rounding(DType type, double value) {
  const double size = std::abs(value);
  if (type == DType::f16) return std::max(size * 0x1p-10, 0x1p-24);
  if (type == DType::bf16) return std::max(size * 0x1p-7, 0x1p-133);
  return type == DType::f32 ? 0 : 1;
}

void compare(const std::string& what, DType type, const std::vector<char>& got, const std::vector<char>& want,
             const CaseOptions& options) {
  const int64_t n = static_cast<int64_t>(got.size() / byte_size(type));
  int64_t bad = 0, first = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double g = decoded(type, got.data(), i), w = decoded(type, want.data(), i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double allowed = options.integers ? 0 : options.bound(w);
    if (allowed > 0 && std::abs(g - w) <= allowed + rounding(type, w)) continue;
    if (bad++ == 0) first = i;
  }
  if (bad)
    ADD_FAILURE() << what << ": " << bad << " of " << n << " elements, the first " << first << ", which is "
                  << decoded(type, got.data(), first) << ", should be " << decoded(type, want.data(), first) << " +- "
                  << options.bound(decoded(type, want.data(), first));
}

// A kernel that may begin before the one before it is done must wait for it.
void expect_that_kernels_wait(const compute::DeviceCall& call) {
  for (const compute::DeviceLaunch& l : call.launches) {
    if (!l.shape.overlap) continue;
    const std::string &text = l.source->text, name = l.kernel.substr(0, l.kernel.find('<'));
    const size_t at = text.find(" " + name.substr(name.rfind(':') + 1) + "(");
    ASSERT_NE(at, std::string::npos) << l.kernel;
    const std::string body = text.substr(at, text.find("__global__", at) - at);
    EXPECT_TRUE(body.find("meet_neighbours()") != std::string::npos || body.find("wait_for_") != std::string::npos)
        << l.kernel;
  }
}

void check_row(const DeviceRow& row, const compute::DeviceCall& call, const Problem& problem, const CaseData& data,
               const std::vector<std::vector<char>>& want, const CaseOptions& options) {
  using Role = compute::OperandRole;
  expect_that_kernels_wait(call);
  const OperandSizes& s = data.sizes;
  std::vector<Guarded> inputs, outputs, constants;
  const auto* copy = std::get_if<CopyProblem>(&problem);
  const auto shift = [&](int i, DType type) {
    if (i) return size_t{0};
    return static_cast<size_t>(options.shift) * (copy ? static_cast<size_t>(copy->element_bytes) : byte_size(type));
  };
  for (int i = 0; i < kMostOperands; ++i)
    inputs.emplace_back(data.in[i].data(), data.in[i].size(), 0xff, shift(i, s.in_types[i]));
  for (int i = 0; i < kMostOperands; ++i)
    outputs.emplace_back(nullptr, out_bytes(s, i), kPoison, shift(i, s.out_types[i]));
  for (const Tensor& t : call.constants) constants.emplace_back(t.data(), t.bytes(), 0xff);
  std::vector<char> weights(row.packed_bytes ? row.packed_bytes(row, problem) : 0);
  if (!weights.empty()) {
    const void* given[kMostWeights];
    for (int i = 0; i < kMostWeights; ++i) given[i] = pointer(data.weights[i]);
    row.prepack(row, problem, std::span<const void* const>(given), weights.data());
  }
  const Guarded packed(weights.data(), weights.size(), 0xff), workspace(nullptr, call.workspace_bytes, 0xff);
  const Guarded bias(data.bias.data(), data.bias.size(), 0xff),
      residual(data.residual.data(), data.residual.size(), 0xff);
  const auto address = [&](const Role& role) -> void* {
    const auto index = static_cast<size_t>(role.index);
    switch (role.kind) {
      case Role::Kind::in: return data.in[index].empty() ? nullptr : inputs[index].data();
      case Role::Kind::out: return s.out[index] ? outputs[index].data() : nullptr;
      case Role::Kind::packed: return packed.data();
      case Role::Kind::bias: return data.bias.empty() ? nullptr : bias.data();
      case Role::Kind::residual: return data.residual.empty() ? nullptr : residual.data();
      case Role::Kind::workspace: return workspace.data();
      case Role::Kind::constant: return constants[index].data();
      default: return nullptr;
    }
  };
  compute::Stream stream = test_device().create_stream();
  test_programs().submit(call, address, stream);
  stream.synchronize();
  const std::string what = std::string(row.name) + " " + text(problem);
  EXPECT_TRUE(workspace.intact()) << what << ": wrote outside its workspace";
  for (int i = 0; i < kMostOperands; ++i) {
    const auto index = static_cast<size_t>(i);
    EXPECT_TRUE(inputs[index].intact()) << what << ": wrote beside input " << i;
    EXPECT_TRUE(outputs[index].intact()) << what << ": wrote outside output " << i;
    if (s.out[i])
      compare(what + ", output " + std::to_string(i), s.out_types[i], outputs[index].values(), want[index], options);
  }
}

}  // namespace

double decoded(DType type, const char* p, int64_t i) {
  switch (type) {
    case DType::f32: return read<float>(p, i);
    case DType::f16:
    case DType::bf16: return small_float_value(type, read<uint16_t>(p, i));
    case DType::i8: return read<int8_t>(p, i);
    case DType::i32: return read<int32_t>(p, i);
    case DType::i64: return static_cast<double>(read<int64_t>(p, i));
    default: return read<uint8_t>(p, i);
  }
}
void encode(DType type, double x, char* p, int64_t i) {
  switch (type) {
    case DType::f32: return write(static_cast<float>(x), p, i);
    case DType::f16:
    case DType::bf16: return write(small_float_bits(type, x), p, i);
    case DType::i8: return write(static_cast<int8_t>(x), p, i);
    case DType::i32: return write(static_cast<int32_t>(x), p, i);
    case DType::i64: return write(static_cast<int64_t>(x), p, i);
    default: return write(static_cast<uint8_t>(x), p, i);
  }
}

double CaseData::at(int i, int64_t element) const { return decoded(sizes.in_types[i], in[i].data(), element); }
void CaseData::set(int i, int64_t element, double value) { encode(sizes.in_types[i], value, in[i].data(), element); }

const compute::Device& test_device() {
  static const compute::Device device = [] {
    const char* id = std::getenv("TRINE_TEST_DEVICE");
    return compute::Device::open(id ? id : "cpu");
  }();
  return device;
}
compute::DevicePrograms& test_programs() {
  static auto* programs = new compute::DevicePrograms(test_device(), device_headers());
  return *programs;
}
uint64_t test_seed() {
  static const uint64_t value = [] {
    const char* given = std::getenv("TRINE_SEED");
    const uint64_t s = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::printf("TRINE_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return value;
}

Guarded::Guarded(const void* from, size_t bytes, int poison, size_t shift_bytes)
    : bytes_(bytes),
      shift_(shift_bytes),
      poison_(poison),
      buffer_(test_device().allocate(bytes + shift_ + 2 * kGuard)) {
  std::vector<char> content(buffer_.bytes(), static_cast<char>(poison));
  if (from) std::memcpy(content.data() + kGuard + shift_, from, bytes);
  compute::Stream stream = test_device().create_stream();
  stream.upload(buffer_, 0, content.data(), content.size());
  stream.synchronize();
}
std::vector<char> Guarded::all() const {
  std::vector<char> content(buffer_.bytes());
  compute::Stream stream = test_device().create_stream();
  stream.download(content.data(), buffer_, 0, content.size());
  stream.synchronize();
  return content;
}
std::vector<char> Guarded::values() const {
  const std::vector<char> content = all();
  const auto begin = content.begin() + static_cast<std::ptrdiff_t>(kGuard + shift_);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes_)};
}
bool Guarded::intact() const {
  const std::vector<char> content = all();
  for (size_t i = 0; i < content.size(); ++i)
    if ((i < kGuard + shift_ || i >= kGuard + shift_ + bytes_) && content[i] != static_cast<char>(poison_))
      return false;
  return true;
}

void Cases::add(Problem problem, CaseOptions options) {
  cases_.push_back({std::move(problem), std::move(options), {}});
}
void Cases::add(Problem problem, const std::vector<DType>& types, const CaseOptions& options) {
  for (DType type : types) {
    set_type(problem, type);
    add(problem, options);
  }
}

void Cases::run() {
  const DeviceTraits traits = traits_of(test_device());
  std::vector<const compute::DeviceCall*> calls;
  for (Case& c : cases_) {
    const DeviceChoice choice = find_on_device(c.problem, traits, {.drop = c.options.drop});
    EXPECT_GE(choice.candidates.size(), static_cast<size_t>(c.options.least_rows)) << text(c.problem);
    const std::string& only = c.options.only;
    for (const DeviceCandidate& candidate : choice.candidates)
      if (candidate.row->call && (only.empty() || candidate.row->name == only))
        c.calls.emplace_back(candidate.row, candidate.row->call(*candidate.row, c.problem, traits));
    EXPECT_TRUE(only.empty() || !c.calls.empty()) << only << " does not fit " << text(c.problem);
    for (const auto& [row, call] : c.calls) calls.push_back(&call);
  }
  test_programs().prepare(calls);
  std::mt19937_64 random(test_seed());
  for (const Case& c : cases_) {
    CaseData data = make_data(c.problem, c.options, random);
    if (c.options.adjust) c.options.adjust(data);
    const auto want = reference(c.problem, data);
    for (const auto& [row, call] : c.calls) check_row(*row, call, c.problem, data, want, c.options);
  }
}

}  // namespace trine::dnn::test
