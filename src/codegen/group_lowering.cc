#include "codegen/group_lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/scalar_types.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

constexpr int kMaxDepth = 400;  // operators on one path

Dim flat_address(const Shape& shape, const Index& index) {
  Dim address;
  for (int i = 0; i < shape.rank(); ++i) address = address * shape[i] + index[static_cast<size_t>(i)];
  return address;
}

Scalar element_of_constant(Expressions& e, const Tensor& t) {
  if (is_float(t.dtype())) return e.constant(compute_type(t.dtype()), t.f64_values()[0]);
  const auto v = static_cast<uint64_t>(t.i64_values()[0]);
  const DType compute = compute_type(t.dtype());
  return e.constant_bits(compute, byte_size(compute) == 4 ? static_cast<uint32_t>(v) : v);
}

// One operator asked for one element.
class NodeContext final : public LowerContext {
 public:
  NodeContext(GroupLowering& group, const Node& node, int output, const Index& index, Scalar mask)
      : group_(group), e_(group.expressions()), node_(node), mask_(mask) {
    output_ = output;
    index_ = index;
  }

  const Node& node() const override { return node_; }
  const Type& input_type(int i) const override { return group_.graph().type(input(i)); }
  const Type& output_type() const override { return group_.graph().type(node_.outputs[static_cast<size_t>(output_)]); }
  Tensor constant(int i) const override {
    return has(i) && group_.graph().is_constant(input(i)) ? group_.graph().value(input(i)).constant : Tensor();
  }

  Scalar load(int i, const Index& index) override { return group_.element(input(i), index, mask_); }

  Scalar load_if(Scalar inside, int i, const Index& index, Scalar fallback) override {
    const Scalar mask = mask_.id < 0 ? inside : e_.apply(ScalarOp::logical_and, mask_, inside);
    if (e_.is_constant(mask) && !e_.inst(mask).bits) return fallback;
    return e_.select(inside, group_.element(input(i), index, mask), fallback);
  }

  Scalar load_at(int i, const Index& index, int dim, Scalar at) override {
    Index dynamic = index;
    dynamic[static_cast<size_t>(dim)] = e_.dynamic_symbol(e_.cast(at, DType::i64));
    return group_.element(input(i), dynamic, mask_);
  }

  Scalar constant(DType type, double value) override { return e_.constant(type, value); }
  Scalar index_value(const Dim& index) override { return e_.index_value(index); }
  Scalar apply(ScalarOp op, Scalar a) override { return e_.apply(op, a); }
  Scalar apply(ScalarOp op, Scalar a, Scalar b) override { return e_.apply(op, a, b); }
  Scalar select(Scalar condition, Scalar a, Scalar b) override { return e_.select(condition, a, b); }
  Scalar cast(Scalar a, DType to) override { return e_.cast(a, to); }
  DType type(Scalar a) const override { return e_.type(a); }
  Scalar reduce(Reduce kind, const std::vector<Dim>& extents,
                const std::function<Scalar(const Index& r)>& body) override {
    return group_.reduce(kind, extents, body);
  }

 private:
  ValueId input(int i) const { return has(i) ? node_.inputs[static_cast<size_t>(i)] : kNoValue; }

  GroupLowering& group_;
  Expressions& e_;
  const Node& node_;
  const Scalar mask_;
};

}  // namespace

GroupLowering::GroupLowering(const Graph& body, bool unify)
    : graph_(body), unify_(unify), producers_(body.producers()), input_of_(body.values.size(), -1) {
  for (size_t i = 0; i < body.inputs.size(); ++i) input_of_[static_cast<size_t>(body.inputs[i])] = static_cast<int>(i);
}

int GroupLowering::operand_of(ValueId value) {
  const Value& v = graph_.value(value);
  if (input_of_[static_cast<size_t>(value)] >= 0) {
    return e_.add_operand({.kind = Operand::Kind::input,
                           .index = input_of_[static_cast<size_t>(value)],
                           .dtype = v.type.dtype,
                           .constant = {},
                           .elements = {}});
  }
  return e_.add_operand({.kind = Operand::Kind::constant,
                         .index = value,
                         .dtype = v.constant.dtype(),
                         .constant = v.constant,
                         .elements = {}});
}

Scalar GroupLowering::element(ValueId value, const Index& index, Scalar mask) {
  if (value == kNoValue) throw Refusal{"an absent input is read"};
  const Type& type = graph_.type(value);
  if (!type.is_tensor() || !type.shape.has_rank()) throw Refusal{"a value of unknown rank or no tensor"};
  if (compute_type(type.dtype) == DType::none) throw Refusal{fmt::format("no scalars of type {}", name(type.dtype))};
  TRINE_CHECK(static_cast<int>(index.size()) == type.shape.rank(), graph_.value(value).name);
  const auto key = std::make_tuple(value, index, mask.id);
  if (auto at = known_.find(key); at != known_.end()) return at->second;
  const Scalar s = compute(value, index, mask);
  known_.emplace(key, s);
  return s;
}

Scalar GroupLowering::compute(ValueId value, const Index& index, Scalar mask) {
  const Value& v = graph_.value(value);
  const int producer = producers_[static_cast<size_t>(value)];
  const bool is_input = input_of_[static_cast<size_t>(value)] >= 0;
  if (graph_.is_constant(value) && v.constant.elements() == 1) return element_of_constant(e_, v.constant);
  if (is_input || graph_.is_constant(value)) {
    const Scalar fallback = mask.id < 0 ? mask : e_.constant(compute_type(v.type.dtype), 0);
    return e_.load(operand_of(value), flat_address(v.type.shape, index), mask, fallback);
  }
  TRINE_CHECK(producer >= 0, v.name);
  const Node& node = graph_.nodes[static_cast<size_t>(producer)];
  if (!node.op->lower) throw Refusal{fmt::format("{} has no lowering", node.op->name)};
  if (depth_ >= kMaxDepth) throw Refusal{"too many operators behind one another"};
  ++depth_;
  const auto output = std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin();
  NodeContext context(*this, node, static_cast<int>(output), index, mask);
  Scalar s = node.op->lower(context);
  --depth_;
  if (s.id < 0) throw Refusal{fmt::format("{} '{}' has no loop form", node.op->name, node.name)};
  const DType want = compute_type(v.type.dtype);
  if (e_.type(s) != want) s = e_.cast(s, want);
  // Between operators a narrow integer wraps as it would in memory; small floats keep their extra precision.
  if (!is_compute_type(v.type.dtype) && is_integer(v.type.dtype)) {
    const Inst& made = e_.inst(s);
    if (made.kind != InstKind::load) s = e_.cast(s, v.type.dtype);
  }
  return s;
}

Scalar GroupLowering::reduce(Reduce kind, const std::vector<Dim>& extents,
                             const std::function<Scalar(const Index&)>& body) {
  Index r;
  std::vector<int> fresh;
  for (const Dim& extent : extents) {
    if (extent == Dim(1)) {
      r.emplace_back(0);
    } else {
      fresh.push_back(e_.add_loop(extent));
      r.push_back(e_.symbol(fresh.back()));
    }
  }
  Scalar value = body(r);
  const bool sums = kind == Reduce::sum || kind == Reduce::prod;
  if (sums && e_.type(value) == DType::i32) value = e_.cast(value, DType::i64);
  if (sums && e_.type(value) == DType::u32) value = e_.cast(value, DType::u64);

  const LoopSet deps = e_.inst(value).deps;
  std::vector<int> free;
  for (int l : output_loops_) {
    if (!(deps & loop_bit(l))) free.push_back(l);
  }
  if (unify_) {
    if (auto s = over_loops(kind, value, fresh, free)) return *s;
    for (const auto& box : boxes_) {
      if (auto s = over_loops(kind, value, fresh, box)) return *s;
    }
    boxes_.push_back(fresh);
  }
  return e_.reduce(kind, fresh, value);
}

// The fold over loops `to` that already exist, when they fit and nothing inside uses them.
std::optional<Scalar> GroupLowering::over_loops(Reduce kind, Scalar value, const std::vector<int>& from,
                                                const std::vector<int>& to) {
  if (from.size() != to.size()) return std::nullopt;
  for (size_t i = 0; i < from.size(); ++i) {
    if (e_.extent(from[i]) != e_.extent(to[i]) || (e_.inst(value).deps & loop_bit(to[i]))) return std::nullopt;
  }
  const auto moved = e_.rename(value, from, to);
  if (!moved) return std::nullopt;
  const bool newest = !from.empty() && from.back() == e_.loop_count() - 1;
  for (size_t i = 0; newest && i < from.size(); ++i) e_.drop_loop();
  return e_.reduce(kind, to, *moved);
}

}  // namespace trine::codegen
