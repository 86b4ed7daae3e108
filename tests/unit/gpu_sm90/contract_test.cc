// The rows for compute capability 9.0 beside plain sums: they need such a GPU, and are skipped elsewhere.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <span>

#include "base/float_formats.h"
#include "dnn/device_row.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

using compute::Buffer;
using compute::Device;
using compute::DeviceCall;
using compute::DevicePrograms;
using compute::OperandRole;
using compute::Stream;

std::optional<Device> device_of_9_0() {
  const char* id = std::getenv("TRINE_TEST_DEVICE");
  for (const compute::DeviceInfo& info : compute::devices())
    if (info.architecture == "sm_90" && (!id || info.id == id)) return Device::open(info.id);
  return std::nullopt;
}

uint32_t test_seed() {
  static const uint32_t seed = [] {
    const uint32_t fresh = std::random_device{}();
    std::printf("seed %u\n", fresh);
    return fresh;
  }();
  return seed;
}

enum class Numbers { integers, reals };

// Numbers of `type`, and what they are.
struct Values {
  std::vector<double> exact;
  std::vector<uint16_t> bits;
};

Values random_values(int64_t count, DType type, Numbers numbers, std::mt19937& generator) {
  Values v;
  for (int64_t i = 0; i < count; ++i) {
    const float x = numbers == Numbers::integers ? static_cast<float>(static_cast<int>(generator() % 5) - 2)
                                                 : std::uniform_real_distribution<float>(-1, 1)(generator);
    v.bits.push_back(small_float_bits(type, x));
    v.exact.push_back(small_float_value(type, v.bits.back()));
  }
  return v;
}

// Sums and sums of magnitudes of m x n results.
struct Sums {
  std::vector<double> sum, magnitude;
};

Sums sums_of(const ConvProblem& p, const Values& x, const Values& w) {
  Sums s;
  const int64_t taps = p.kernel[1] * p.kernel[2], pixel = p.in_pixel_stride ? p.in_pixel_stride : p.in_channels;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t oh = 0; oh < p.out[1]; ++oh)
      for (int64_t ow = 0; ow < p.out[2]; ++ow)
        for (int64_t m = 0; m < p.out_channels; ++m) {
          double sum = 0, magnitude = 0;
          for (int64_t t = 0; t < taps; ++t) {
            const int64_t h = oh * p.stride[1] + t / p.kernel[2] * p.dilation[1] - p.pad_begin[1],
                          v = ow * p.stride[2] + t % p.kernel[2] * p.dilation[2] - p.pad_begin[2];
            if (h < 0 || v < 0 || h >= p.in[1] || v >= p.in[2]) continue;
            for (int64_t c = 0; c < p.in_channels; ++c) {
              const double term = x.exact[static_cast<size_t>(((n * p.in[1] + h) * p.in[2] + v) * pixel + c)] *
                                  w.exact[static_cast<size_t>((m * p.in_channels + c) * taps + t)];
              sum += term, magnitude += std::abs(term);
            }
          }
          s.sum.push_back(sum), s.magnitude.push_back(magnitude);
        }
  return s;
}

Sums sums_of(const MatmulProblem& p, const Values& a, const Values& b) {
  Sums s;
  const int64_t rows = p.m * element_count(p.a_batch);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        const double term = a.exact[static_cast<size_t>(i * p.k + k)] *
                            b.exact[static_cast<size_t>(p.trans_b ? j * p.k + k : k * p.n + j)];
        sum += term, magnitude += std::abs(term);
      }
      s.sum.push_back(p.alpha * sum), s.magnitude.push_back(std::abs(p.alpha) * magnitude);
    }
  return s;
}

// A problem on the device: operands there, results held to the sums.
class Run {
 public:
  Run(Device device, DevicePrograms& programs, const Problem& problem, Numbers numbers)
      : device_(device), programs_(programs), stream_(device.create_stream()), problem_(problem), numbers_(numbers) {
    std::mt19937 generator(test_seed());
    if (const auto* conv = std::get_if<ConvProblem>(&problem)) set(*conv, generator);
    else set(std::get<MatmulProblem>(problem), generator);
  }

  void check(const DeviceRow& row) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, std::string(row.name) + ": " + text(problem_));
    const DeviceTraits traits = traits_of(device_);
    const size_t packed_bytes = row.packed_bytes(row, problem_);
    std::vector<char> packed(packed_bytes);
    const std::vector<const void*> weights = {b_.bits.data()};
    if (packed_bytes) row.prepack(row, problem_, weights, packed.data());
    const DeviceCall call = row.call(row, problem_, traits);
    programs_.prepare({&call});
    const size_t element = types_.out == DType::f32 ? 4 : 2, bytes = static_cast<size_t>(rows_ * stride_) * element;
    const Buffer a = upload(a_.bits), b = upload(b_.bits), w = upload(packed), bias = upload(bias_), old = residual();
    Buffer out = device_.allocate(bytes + kGuard);
    stream_.fill(out, 0xa5);
    programs_.submit(
        call,
        [&](const OperandRole& role) -> void* {
          switch (role.kind) {
            case OperandRole::Kind::in: return role.index == 0 ? a.data() : b.data();
            case OperandRole::Kind::out: return out.data();
            case OperandRole::Kind::packed: return w.data();
            case OperandRole::Kind::bias: return epilogue_.bias ? bias.data() : nullptr;
            case OperandRole::Kind::residual: return epilogue_.residual != Residual::none ? old.data() : nullptr;
            default: return nullptr;
          }
        },
        stream_);
    std::vector<uint8_t> made(bytes + kGuard);
    stream_.download(made.data(), out, 0, made.size());
    stream_.synchronize();
    compare(made, bytes, element);
  }

 private:
  static constexpr size_t kGuard = 256;

  void set(const ConvProblem& p, std::mt19937& generator) {
    const int64_t pixel = p.in_pixel_stride ? p.in_pixel_stride : p.in_channels;
    a_ = random_values(p.n * p.in[1] * p.in[2] * pixel, p.types.in, numbers_, generator);
    b_ = random_values(p.out_channels * p.in_channels * p.kernel[1] * p.kernel[2], p.types.in, numbers_, generator);
    sums_ = sums_of(p, a_, b_);
    rows_ = p.n * p.out[1] * p.out[2], columns_ = p.out_channels;
    finish_set(p.out_pixel_stride, p.epilogue, p.types, generator);
  }
  void set(const MatmulProblem& p, std::mt19937& generator) {
    rows_ = p.m * element_count(p.a_batch), columns_ = p.n;
    a_ = random_values(rows_ * p.k, p.types.in, numbers_, generator);
    b_ = random_values(p.n * p.k, p.types.in, numbers_, generator);
    sums_ = sums_of(p, a_, b_);
    finish_set(p.out_row_stride, p.epilogue, p.types, generator);
  }
  void finish_set(int64_t stride, const Epilogue& epilogue, const ElementTypes& types, std::mt19937& generator) {
    stride_ = stride ? stride : columns_;
    epilogue_ = epilogue, types_ = types;
    for (int64_t i = 0; i < columns_; ++i) bias_.push_back(static_cast<float>(static_cast<int>(generator() % 9) - 4));
    old_ = random_values(rows_ * stride_, types.in, numbers_, generator);
  }

  template <class T>
  Buffer upload(const std::vector<T>& data) {
    Buffer buffer = device_.allocate(data.size() * sizeof(T) + 16);
    stream_.upload(buffer, 0, data.data(), data.size() * sizeof(T));
    return buffer;
  }
  Buffer residual() {
    if (types_.out != DType::f32) return upload(old_.bits);
    std::vector<float> wide(old_.exact.begin(), old_.exact.end());
    Buffer buffer = upload(wide);
    stream_.synchronize();
    return buffer;
  }

  void compare(const std::vector<uint8_t>& made, size_t bytes, size_t element) const {
    int wrong = 0;
    for (int64_t r = 0; r < rows_ && wrong < 5; ++r)
      for (int64_t c = 0; c < stride_ && wrong < 5; ++c) {
        const uint8_t* at = made.data() + static_cast<size_t>(r * stride_ + c) * element;
        if (c >= columns_) {
          for (size_t i = 0; i < element; ++i) wrong += at[i] != 0xa5;
          EXPECT_EQ(wrong, 0) << "between rows, " << r << ", " << c;
          continue;
        }
        const auto i = static_cast<size_t>(r * columns_ + c);
        const double sum = sums_.sum[i] + (epilogue_.bias ? bias_[static_cast<size_t>(c)] : 0);
        const double old = old_.exact[static_cast<size_t>(r * stride_ + c)];
        double want = sum + (epilogue_.residual == Residual::before_activation ? old : 0);
        want = apply(epilogue_.activation, want, epilogue_.alpha, epilogue_.beta);
        want += epilogue_.residual == Residual::after_activation ? old : 0;
        float got;
        uint16_t half;
        std::memcpy(&half, at, 2);
        if (element == 4) std::memcpy(&got, at, 4);
        else got = static_cast<float>(small_float_value(types_.out, half));
        const double round = element == 4 ? 1e-6 : types_.out == DType::f16 ? 0x1p-11 : 0x1p-8;
        const bool exact =
            numbers_ == Numbers::integers && std::abs(want) <= 256 && epilogue_.activation <= Activation::relu;
        const double bound =
            exact ? 0 : round * (std::abs(want) + 1e-3) * 2 + 4e-7 * (sums_.magnitude[i] + std::abs(old) + 4);
        if (!(std::abs(got - want) <= bound)) {
          ++wrong;
          ADD_FAILURE() << "row " << r << " column " << c << ": " << got << ", expected " << want << " within "
                        << bound;
        }
      }
    for (size_t i = bytes; i < made.size(); ++i)
      if (made[i] != 0xa5) {
        ADD_FAILURE() << "behind the results";
        break;
      }
  }

  Device device_;
  DevicePrograms& programs_;
  Stream stream_;
  Problem problem_;
  Numbers numbers_;
  Values a_, b_, old_;
  Sums sums_;
  std::vector<float> bias_;
  Epilogue epilogue_;
  ElementTypes types_;
  int64_t rows_ = 0, columns_ = 0, stride_ = 0;
};

ElementTypes types(DType in, DType out) { return {.in = in, .weights = in, .out = out}; }

ConvProblem conv(int64_t n, int64_t c, int64_t k, int64_t h, int64_t w, int64_t r, int64_t stride = 1,
                 int64_t dilation = 1, int64_t pad = -1) {
  if (pad < 0) pad = r / 2;
  const auto out = [&](int64_t in) { return (in + 2 * pad - dilation * (r - 1) - 1) / stride + 1; };
  return {.n = n,
          .in_channels = c,
          .out_channels = k,
          .in = {1, h, w},
          .out = {1, out(h), out(w)},
          .kernel = {1, r, r},
          .stride = {1, stride, stride},
          .dilation = {1, dilation, dilation},
          .pad_begin = {0, pad, pad},
          .types = types(DType::f16, DType::f16)};
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  ConvProblem p = conv(1, 64, 64, 14, 14, 3);
  p.epilogue = {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  all.push_back(p);
  all.push_back(conv(2, 72, 40, 9, 11, 3, 2));
  all.push_back(conv(3, 8, 16, 7, 5, 5));
  all.push_back(conv(1, 128, 136, 13, 13, 3, 1, 2, 2));
  all.push_back(conv(2, 256, 64, 10, 6, 1, 2));
  p = conv(1, 64, 256, 12, 12, 1);
  p.epilogue = {.bias = true, .residual = Residual::after_activation, .activation = Activation::silu};
  p.in_pixel_stride = 80, p.out_pixel_stride = 264;
  all.push_back(p);
  p = conv(1, 512, 64, 7, 7, 3);
  p.types = types(DType::bf16, DType::bf16);
  all.push_back(p);
  p = conv(1, 64, 24, 30, 30, 7, 2);
  p.types = types(DType::f16, DType::f32);
  all.push_back(p);
  MatmulProblem m{.m = 128, .n = 256, .k = 512, .b_constant = true, .types = types(DType::f16, DType::f16)};
  m.epilogue = {.bias = true, .activation = Activation::gelu};
  all.push_back(m);
  m = {.m = 33,
       .n = 72,
       .k = 1000,
       .a_batch = {3},
       .trans_b = true,
       .alpha = 0.5f,
       .types = types(DType::bf16, DType::f32)};
  all.push_back(m);
  m = {.m = 1, .n = 1000, .k = 2048, .trans_b = true, .b_constant = true, .types = types(DType::f16, DType::f16)};
  all.push_back(m);
  return all;
}

void check_rows(OpKind op, Numbers numbers) {
  const std::optional<Device> device = device_of_9_0();
  if (!device) GTEST_SKIP() << "no GPU of compute capability 9.0 here";
  DevicePrograms programs(*device, device_headers());
  int rows = 0;
  for (const Problem& problem : problems()) {
    if (op_kind(problem) != op) continue;
    Run run(*device, programs, problem, numbers);
    for (const DeviceRow* row : device_rows_of(op))
      if (row->name.find("_sm90_") != std::string_view::npos && !row->fits(*row, problem, traits_of(*device))) try {
          run.check(*row), ++rows;
        } catch (const Error& error) {
          ADD_FAILURE() << row->name << ": " << error.what();
        }
  }
  EXPECT_GT(rows, 0);
}

TEST(Sm90, ConvolutionsOfIntegersAreExact) { check_rows(OpKind::conv, Numbers::integers); }
TEST(Sm90, ConvolutionsOfReals) { check_rows(OpKind::conv, Numbers::reals); }
TEST(Sm90, ProductsOfIntegersAreExact) { check_rows(OpKind::matmul, Numbers::integers); }
TEST(Sm90, ProductsOfReals) { check_rows(OpKind::matmul, Numbers::reals); }

}  // namespace
}  // namespace trine::dnn
