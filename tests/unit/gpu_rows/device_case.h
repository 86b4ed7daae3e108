// Runs every device row that fits a problem on TRINE_TEST_DEVICE (default: the CPU) and compares it with the CPU's row:
// random operands with a printed seed, outputs and workspace poisoned before the run and between guards.
#pragma once

#include <functional>
#include <vector>

#include "dnn/device_row.h"
#include "dnn/operands.h"

namespace trine::dnn::test {

// Operands in memory of their types.
struct CaseData {
  OperandSizes sizes;
  std::vector<char> in[kMostOperands], weights[kMostWeights], bias, residual;

  // Elements of in[i] as numbers.
  double at(int i, int64_t element) const;
  void set(int i, int64_t element, double value);
};

struct CaseOptions {
  bool integers = false;  // numbers from -3 to 3: results are exact
  int shift = 0;          // elements by which in[0] and out[0] lie past an aligned address
  std::function<void(CaseData&)> adjust = {};
  // The error of f32 sums that is allowed where `want` is right; the rounding to the output's type comes on top.
  std::function<double(double want)> bound = [](double) { return 0.0; };
  int least_rows = 1;
  std::vector<std::string> drop = {};  // rows that are not held to this
  std::string only = {};               // the one row that is
};

// Problems that are compiled together and then run one by one.
class Cases {
 public:
  void add(Problem problem, CaseOptions options = {});
  // The same in these types, with the same options.
  void add(Problem problem, const std::vector<DType>& types, const CaseOptions& options = {});
  void run();

 private:
  struct Case {
    Problem problem;
    CaseOptions options;
    std::vector<std::pair<const DeviceRow*, compute::DeviceCall>> calls;
  };
  std::vector<Case> cases_;
};

const compute::Device& test_device();
compute::DevicePrograms& test_programs();
uint64_t test_seed();

// Device memory with guards on both sides.
class Guarded {
 public:
  Guarded(const void* from, size_t bytes, int poison, size_t shift_bytes = 0);  // `from` null: poisoned
  void* data() const { return static_cast<char*>(buffer_.data()) + kGuard + shift_; }
  std::vector<char> values() const;
  bool intact() const;

  static constexpr size_t kGuard = 256;

 private:
  std::vector<char> all() const;
  size_t bytes_, shift_;
  int poison_;
  compute::Buffer buffer_;
};

double decoded(DType type, const char* bytes, int64_t element);
void encode(DType type, double value, char* bytes, int64_t element);

}  // namespace trine::dnn::test
