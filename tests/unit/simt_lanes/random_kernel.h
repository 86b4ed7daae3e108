// Random kernels: a text in CUDA C++, and the same program run thread by thread here.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace trine::simt {

struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<Expression>;
using Block = std::vector<std::unique_ptr<Statement>>;

constexpr int kVariables = 4, kDepth = 3, kIn = 97;

struct Expression {
  enum Kind { number, variable, argument, thread, input, operation, choice } kind;
  uint32_t value = 0;  // the number, or which variable or argument
  char symbol = 0;     // of the operation
  ExpressionPtr a, b, c;
};

struct Statement {
  enum Kind { assign, branch, loop, leave_loop, next_round, leave, select, exchange, store } kind;
  uint32_t target = 0;
  ExpressionPtr value;
  std::vector<Block> parts;
};

// A kernel `k(const unsigned* in, unsigned* out, unsigned u0, unsigned u1)`; in has kIn elements, out kVariables for
// each thread of the grid.
class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed);
  std::string text() const;
  // One block of `threads`, whose first thread is `first` of the grid.
  void run(const std::vector<uint32_t>& in, uint32_t* out, uint32_t u0, uint32_t u1, uint32_t threads,
           uint32_t block) const;

 private:
  Block top_;
};

}  // namespace trine::simt
