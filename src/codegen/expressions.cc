// Building and sharing instructions: hash-consing, constant folding, renaming of loops.
#include "codegen/expressions.h"

#include <algorithm>
#include <bit>

#include "codegen/scalar_types.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

constexpr size_t kMaxInsts = 20000;  // recomputation that grows past this is no fusion worth having

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccd;
}

uint64_t hash_of(const Inst& i) {
  uint64_t h = mix(static_cast<uint64_t>(i.kind), static_cast<uint64_t>(i.op));
  h = mix(h, static_cast<uint64_t>(i.fold) << 16 | static_cast<uint64_t>(i.type) << 8 | static_cast<uint64_t>(i.to));
  for (int v : {i.a, i.b, i.c, i.access}) h = mix(h, static_cast<uint64_t>(v));
  for (int l : i.loops) h = mix(h, static_cast<uint64_t>(l));
  return mix(h, i.bits);
}

bool same(const Inst& x, const Inst& y) {
  return x.kind == y.kind && x.op == y.op && x.fold == y.fold && x.type == y.type && x.to == y.to && x.a == y.a &&
         x.b == y.b && x.c == y.c && x.access == y.access && x.bits == y.bits && x.loops == y.loops;
}

bool is_comparison(ScalarOp op) { return op >= ScalarOp::less && op <= ScalarOp::equal; }

}  // namespace

LoopKernel Expressions::take() {
  for (Access& a : kernel_.accesses) a.strides.resize(kernel_.extents.size());
  return std::move(kernel_);
}

int Expressions::add_loop(const Dim& extent) {
  if (loop_count() >= kMaxLoops) throw Refusal{"more loops than a kernel may have"};
  kernel_.extents.push_back(extent);
  symbols_.push_back(Dim::symbol("\1" + std::to_string(next_symbol_++)));
  return loop_count() - 1;
}

void Expressions::drop_loop() {
  kernel_.extents.pop_back();
  symbols_.pop_back();
}

int Expressions::loop_of(std::string_view symbol) const {
  if (symbol.empty() || symbol[0] != '\1') return -1;
  for (int i = 0; i < loop_count(); ++i) {
    if (symbols_[static_cast<size_t>(i)] == Dim::symbol(symbol)) return i;
  }
  return -1;
}

int Expressions::add_operand(Operand operand) {
  for (size_t i = 0; i < kernel_.operands.size(); ++i) {
    const Operand& o = kernel_.operands[i];
    if (o.kind == operand.kind && o.index == operand.index && o.dtype == operand.dtype &&
        o.constant.data() == operand.constant.data() && o.kind != Operand::Kind::scratch) {
      return static_cast<int>(i);
    }
  }
  kernel_.operands.push_back(std::move(operand));
  return static_cast<int>(kernel_.operands.size()) - 1;
}

int Expressions::intern(Access access) {
  while (!access.strides.empty() && access.strides.back() == Dim(0)) access.strides.pop_back();
  auto [at, fresh] = known_accesses_.try_emplace({access.operand, access.offset, access.strides},
                                                 static_cast<int>(kernel_.accesses.size()));
  if (fresh) kernel_.accesses.push_back(std::move(access));
  return at->second;
}

Scalar Expressions::intern(Inst inst) {
  const uint64_t h = hash_of(inst);
  for (auto [at, end] = known_.equal_range(h); at != end; ++at) {
    if (same(kernel_.insts[static_cast<size_t>(at->second)], inst)) return {at->second};
  }
  if (kernel_.insts.size() >= kMaxInsts) throw Refusal{"too many instructions: a value is recomputed at many places"};
  inst.deps = 0;
  for (int v : {inst.a, inst.b, inst.c}) {
    if (v >= 0) inst.deps |= kernel_.insts[static_cast<size_t>(v)].deps;
  }
  if (inst.access >= 0) {
    const auto& strides = access(inst.access).strides;
    for (size_t i = 0; i < strides.size(); ++i) {
      if (strides[i] != Dim(0)) inst.deps |= loop_bit(static_cast<int>(i));
    }
  }
  for (int l : inst.loops) inst.deps &= ~loop_bit(l);
  const int id = static_cast<int>(kernel_.insts.size());
  kernel_.insts.push_back(std::move(inst));
  known_.emplace(h, id);
  return {id};
}

Scalar Expressions::constant_bits(DType type, uint64_t bits) {
  return intern({.kind = InstKind::constant, .type = type, .bits = bits, .loops = {}});
}

Scalar Expressions::constant(DType type, double value) {
  switch (type) {
    case DType::f32: return constant_bits(type, std::bit_cast<uint32_t>(static_cast<float>(value)));
    case DType::f64: return constant_bits(type, std::bit_cast<uint64_t>(value));
    case DType::boolean: return constant_bits(type, value != 0);
    case DType::i32: return constant_bits(type, static_cast<uint32_t>(static_cast<int32_t>(value)));
    case DType::u32: return constant_bits(type, static_cast<uint32_t>(value));
    case DType::i64: return constant_bits(type, static_cast<uint64_t>(static_cast<int64_t>(value)));
    case DType::u64: return constant_bits(type, static_cast<uint64_t>(value));
    default: break;
  }
  const DType compute = compute_type(type);
  if (compute == DType::none) throw Refusal{"no scalar of type " + std::string(name(type))};
  return constant(compute, value);
}

Scalar Expressions::apply(ScalarOp op, Scalar a) {
  const DType type = this->type(a);
  if (op == ScalarOp::logical_not && is_constant(a)) return constant_bits(DType::boolean, inst(a).bits ^ 1);
  const bool test = op == ScalarOp::is_nan || op == ScalarOp::is_inf;
  TRINE_CHECK((op == ScalarOp::logical_not) == (type == DType::boolean) || type != DType::boolean);
  return intern({.kind = InstKind::unary, .op = op, .type = test ? DType::boolean : type, .a = a.id, .loops = {}});
}

// Folding of what index arithmetic and masks leave behind; floats only where it is exact for every value.
std::optional<Scalar> Expressions::fold(ScalarOp op, Scalar a, Scalar b) {
  const DType type = this->type(a);
  const bool ca = is_constant(a), cb = is_constant(b);
  const auto ia = static_cast<int64_t>(inst(a).bits), ib = static_cast<int64_t>(inst(b).bits);
  if (type == DType::boolean && (ca || cb)) {
    const Scalar other = ca ? b : a;
    const bool value = (ca ? ia : ib) != 0;
    if (op == ScalarOp::logical_and) return value ? other : constant_bits(type, 0);
    if (op == ScalarOp::logical_or) return value ? constant_bits(type, 1) : other;
  }
  if (type == DType::i64 && ca && cb) {
    const auto ua = static_cast<uint64_t>(ia), ub = static_cast<uint64_t>(ib);
    switch (op) {
      case ScalarOp::add: return constant_bits(type, ua + ub);
      case ScalarOp::sub: return constant_bits(type, ua - ub);
      case ScalarOp::mul: return constant_bits(type, ua * ub);
      case ScalarOp::less: return constant_bits(DType::boolean, ia < ib);
      case ScalarOp::less_equal: return constant_bits(DType::boolean, ia <= ib);
      case ScalarOp::equal: return constant_bits(DType::boolean, ia == ib);
      default: break;
    }
  }
  if (type == DType::i64) {
    if (op == ScalarOp::add && cb && ib == 0) return a;
    if (op == ScalarOp::add && ca && ia == 0) return b;
    if (op == ScalarOp::mul && cb && ib == 1) return a;
    if (op == ScalarOp::mul && ca && ia == 1) return b;
  }
  if (type == DType::f32 || type == DType::f64) {
    const Scalar one = constant(type, 1);
    if (op == ScalarOp::mul && b.id == one.id) return a;
    if (op == ScalarOp::mul && a.id == one.id) return b;
    if ((op == ScalarOp::div || op == ScalarOp::pow) && b.id == one.id) return a;
    if (op == ScalarOp::pow && b.id == constant(type, 2).id) return apply(ScalarOp::mul, a, a);
    if (op == ScalarOp::pow && b.id == constant(type, 3).id) {
      return apply(ScalarOp::mul, apply(ScalarOp::mul, a, a), a);
    }
  }
  return std::nullopt;
}

Scalar Expressions::apply(ScalarOp op, Scalar a, Scalar b) {
  const DType type = this->type(a);
  TRINE_CHECK(type == this->type(b), std::string(name(type)) + " and " + std::string(name(this->type(b))));
  if (auto folded = fold(op, a, b)) return *folded;
  return intern({.kind = InstKind::binary,
                 .op = op,
                 .type = is_comparison(op) ? DType::boolean : type,
                 .a = a.id,
                 .b = b.id,
                 .loops = {}});
}

Scalar Expressions::select(Scalar condition, Scalar a, Scalar b) {
  TRINE_CHECK(type(condition) == DType::boolean && type(a) == type(b));
  if (is_constant(condition)) return inst(condition).bits ? a : b;
  if (a.id == b.id) return a;
  if (Inst load = inst(a); load.kind == InstKind::load && load.b == condition.id) {  // it has this very mask
    load.c = b.id;
    return intern(std::move(load));
  }
  return intern({.kind = InstKind::select, .type = type(a), .a = condition.id, .b = a.id, .c = b.id, .loops = {}});
}

Scalar Expressions::cast(Scalar a, DType to) {
  const DType compute = compute_type(to);
  if (compute == DType::none) throw Refusal{"no cast to " + std::string(name(to))};
  if (type(a) == to) return a;
  const Inst& source = inst(a);
  if (source.kind == InstKind::cast && source.to == to) return a;
  if (is_constant(a) && type(a) == DType::i64 && (compute == DType::f32 || compute == DType::f64) && compute == to) {
    return constant(to, static_cast<double>(static_cast<int64_t>(source.bits)));
  }
  return intern({.kind = InstKind::cast, .type = compute, .to = to, .a = a.id, .loops = {}});
}

Scalar Expressions::reduce(Reduce fold, const std::vector<int>& loops, Scalar value) {
  if (loops.empty()) return value;
  return intern({.kind = InstKind::reduce, .fold = fold, .type = type(value), .a = value.id, .loops = loops});
}

std::optional<Scalar> Expressions::rename(Scalar s, const std::vector<int>& from, const std::vector<int>& to) {
  std::unordered_map<int, int> done;
  return rename(s, from, to, done);
}

std::optional<Scalar> Expressions::rename(Scalar s, const std::vector<int>& from, const std::vector<int>& to,
                                          std::unordered_map<int, int>& done) {
  LoopSet renamed = 0;
  for (int l : from) renamed |= loop_bit(l);
  if (!(inst(s).deps & renamed)) return s;
  if (auto known = done.find(s.id); known != done.end()) return Scalar{known->second};
  Inst copy = inst(s);
  for (int l : copy.loops) {
    if (std::find(to.begin(), to.end(), l) != to.end()) return std::nullopt;
  }
  for (int* operand : {&copy.a, &copy.b, &copy.c}) {
    if (*operand < 0) continue;
    const auto r = rename({*operand}, from, to, done);
    if (!r) return std::nullopt;
    *operand = r->id;
  }
  if (copy.access >= 0) {
    Access moved = access(copy.access);
    moved.strides.resize(static_cast<size_t>(loop_count()));
    for (size_t i = 0; i < from.size(); ++i) {
      std::swap(moved.strides[static_cast<size_t>(from[i])], moved.strides[static_cast<size_t>(to[i])]);
    }
    copy.access = intern(std::move(moved));
  }
  const Scalar result = intern(std::move(copy));
  done.emplace(s.id, result.id);
  return result;
}

}  // namespace trine::codegen
