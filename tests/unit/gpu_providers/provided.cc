#include "provided.h"

#include <cstring>
#include <optional>

#include "backends/cuda/providers/library.h"
#include "base/float_formats.h"

namespace trine::test {
namespace {

constexpr size_t kGuard = 256;
constexpr uint8_t kPoison = 0x5a;

std::vector<uint8_t> bytes_of(DType type, const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * byte_size(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    const uint16_t half = type == DType::f32 ? 0 : small_float_bits(type, values[i]);
    std::memcpy(bytes.data() + i * byte_size(type), type == DType::f32 ? static_cast<const void*>(&single) : &half,
                byte_size(type));
  }
  return bytes;
}

std::vector<double> values_of(DType type, const uint8_t* bytes, size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    float single = 0;
    uint16_t half = 0;
    std::memcpy(type == DType::f32 ? static_cast<void*>(&single) : &half, bytes + i * byte_size(type), byte_size(type));
    values[i] = type == DType::f32 ? static_cast<double>(single) : small_float_value(type, half);
  }
  return values;
}

}  // namespace

compute::Device& device() {
  static compute::Device instance = [] {
    const char* id = std::getenv("TRINE_TEST_DEVICE");
    if (!id || !std::string_view(id).starts_with("cuda")) cuda::pretended_libraries() = {.cublaslt = FAKE_CUBLASLT};
    return compute::Device::open(id ? id : "cpu");
  }();
  return instance;
}

bool is_gpu() { return device().info().id.starts_with("cuda"); }

DeviceArray::DeviceArray(compute::Stream& stream, DType type, const std::vector<double>& values, size_t skip)
    : type_(type),
      start_(kGuard + skip * byte_size(type)),
      bytes_(values.size() * byte_size(type)),
      buffer_(device().allocate(start_ + bytes_ + kGuard)) {
  stream.fill(buffer_, kPoison);
  const std::vector<uint8_t> bytes = bytes_of(type, values);
  stream.upload(buffer_, start_, bytes.data(), bytes_);
  stream.synchronize();
}

std::vector<double> DeviceArray::values(compute::Stream& stream) const {
  std::vector<uint8_t> all(buffer_.bytes());
  stream.download(all.data(), buffer_, 0, all.size());
  stream.synchronize();
  for (size_t i = 0; i < all.size(); ++i)
    if ((i < start_ || i >= start_ + bytes_) && all[i] != kPoison) {
      ADD_FAILURE() << "guard byte " << i << " of " << all.size() << " was written";
      break;
    }
  return values_of(type_, all.data() + start_, bytes_ / byte_size(type_));
}

std::vector<double> rounded(DType type, std::vector<double> values) {
  return values_of(type, bytes_of(type, values).data(), values.size());
}

std::vector<double> random_values(size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& v : values) v = normal(random);
  return values;
}

std::vector<double> small_integers(size_t count, std::mt19937_64& random) {
  std::vector<double> values(count);
  for (double& v : values) v = static_cast<double>(random() % 5) - 2;
  return values;
}

double half_ulp(DType type) { return type == DType::f32 ? 0x1p-24 : type == DType::f16 ? 0x1p-11 : 0x1p-8; }

std::shared_ptr<dnn::ProvidedCall> provided(std::string_view name, const dnn::Problem& problem, std::string& why) {
  device();  // says which libraries
  const dnn::DeviceRow* row = dnn::find_device_row(name);
  if (!row) {
    why = "no such row";
    return nullptr;
  }
  const char* reason = row->fits(*row, problem, dnn::traits_of(device()));
  why = reason ? reason : "";
  return reason ? nullptr : row->provide(*row, problem, device());
}

void run(dnn::ProvidedCall& call, const Operands& o, compute::Stream& stream) {
  std::optional<compute::Buffer> workspace;
  if (call.workspace_bytes()) workspace = device().allocate(call.workspace_bytes());
  const auto data = [](const DeviceArray* array) { return array ? array->data() : nullptr; };
  call.run(
      [&](const compute::OperandRole& role) -> void* {
        using Kind = compute::OperandRole::Kind;
        switch (role.kind) {
          case Kind::in: return data(role.index == 0 ? o.x : role.index == 1 ? o.weights : o.third);
          case Kind::out: return data(o.y);
          case Kind::bias: return data(o.bias);
          case Kind::residual: return data(o.residual);
          case Kind::workspace: return workspace ? workspace->data() : nullptr;
          default: return nullptr;
        }
      },
      stream);
  stream.synchronize();
}

}  // namespace trine::test
