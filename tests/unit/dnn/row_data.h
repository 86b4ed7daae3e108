// Made-up operands of a problem in memory of their types, and how results are held to what f64 loops say: for tests of
// rows on any device.
#pragma once

#include <random>
#include <string>
#include <string_view>

#include "check_rows.h"

namespace trine::dnn::test {

// TRINE_SEED, or a fresh one; printed once.
uint64_t seed();
// Small integers, or reals that the operands' types hold.
Data make_data(const Problem& problem, bool integers, std::mt19937_64& random);

// Numbers in memory of their type; numbers must be representable.
class Encoded {
 public:
  Encoded(DType type, const Floats& v);
  const void* pointer() const { return bytes_.empty() ? nullptr : bytes_.data(); }
  size_t bytes() const { return bytes_.size(); }

 private:
  std::vector<char> bytes_;
};
double decode(DType type, const void* p, int64_t i);  // number i of an array

// Fails with the worst element past its bound. What may be past the largest f16 may be infinity.
void compare(std::string_view row, const std::vector<double>& got, const std::vector<double>& want,
             const std::vector<double>& bound, DType type, const std::string& what);

// To what outputs of 16 and 8 bits hold, their bounds along with them; contractions of integers round in the oracle.
void round_outputs(const Problem& problem, bool integers, Expected& e);
// To what the operands' types hold, after `adjust`.
void round_inputs(const Problem& problem, Data& data);

}  // namespace trine::dnn::test
