// Expressions: builds a kernel's instruction list. Every instruction is pure and hash-consed (asked for twice, it is
// made once), so common subexpressions are shared by construction.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>

#include "codegen/loop_ir.h"

namespace trine::codegen {

// Thrown while lowering: this group cannot become a loop kernel.
struct Refusal {
  std::string why;
};

// One loop symbol in a Dim: "\1" and a number that is never used twice.
class Expressions {
 public:
  LoopKernel take();  // insts, accesses, extents, operands; no nest yet

  int add_loop(const Dim& extent);
  void drop_loop();  // the newest, which nothing kept depends on
  const Dim& symbol(int loop) const { return symbols_[static_cast<size_t>(loop)]; }
  const Dim& extent(int loop) const { return kernel_.extents[static_cast<size_t>(loop)]; }
  int loop_count() const { return static_cast<int>(kernel_.extents.size()); }
  int loop_of(std::string_view symbol) const;  // -1: no loop symbol
  int add_operand(Operand operand);            // equal ones are shared, constants by data pointer

  const Inst& inst(Scalar s) const { return kernel_.insts[static_cast<size_t>(s.id)]; }
  DType type(Scalar s) const { return inst(s).type; }
  const Access& access(int id) const { return kernel_.accesses[static_cast<size_t>(id)]; }
  bool is_constant(Scalar s) const { return inst(s).kind == InstKind::constant; }

  Scalar constant(DType type, double value);
  Scalar constant_bits(DType type, uint64_t bits);
  Scalar integer(int64_t value) { return constant_bits(DType::i64, static_cast<uint64_t>(value)); }
  Scalar apply(ScalarOp op, Scalar a);
  Scalar apply(ScalarOp op, Scalar a, Scalar b);
  Scalar select(Scalar condition, Scalar a, Scalar b);
  Scalar cast(Scalar a, DType to);
  Scalar reduce(Reduce fold, const std::vector<int>& loops, Scalar value);

  // The value of an index expression, affine or not; see affine.h.
  Scalar index_value(const Dim& index);
  // Element `address` of an operand. mask -1: always read.
  Scalar load(int operand, const Dim& address, Scalar mask, Scalar fallback);
  // An affine access; refuses another.
  int affine_access(int operand, const Dim& address);
  // A symbol that stands for a run-time i64 scalar in index expressions.
  Dim dynamic_symbol(Scalar at) const;

  // `s` with loops from[i] replaced by to[i]; nothing when a fold inside would capture one.
  std::optional<Scalar> rename(Scalar s, const std::vector<int>& from, const std::vector<int>& to);

 private:
  struct Split;
  Split split(const Dim& index);
  Scalar term_value(const Dim& term);
  Scalar atom_value(const Dim& atom);
  Dim simplify(const Dim& index);
  int intern(Access access);
  Scalar intern(Inst inst);
  std::optional<Scalar> fold(ScalarOp op, Scalar a, Scalar b);
  std::optional<Scalar> rename(Scalar s, const std::vector<int>& from, const std::vector<int>& to,
                               std::unordered_map<int, int>& done);

  LoopKernel kernel_;
  std::vector<Dim> symbols_;
  int next_symbol_ = 0;
  std::unordered_multimap<uint64_t, int> known_;
  std::map<std::tuple<int, Dim, std::vector<Dim>>, int> known_accesses_;
};

}  // namespace trine::codegen
