// Values: one line each, of `kWidth` elements where they vary along a packed loop.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/kernel_writer.h"
#include "codegen/cuda/scalar_text.h"
#include "trine/base/error.h"

namespace trine::codegen {

std::string KernelWriter::base(int id) const { return fmt::format("v{}{}", id, kept_.contains(id) ? "[k]" : ""); }
std::string KernelWriter::ref(int id) const { return base(id) + (is_packed(id) ? "[u]" : ""); }

void KernelWriter::need(int id) {
  if (id < 0) return;
  if (std::any_of(known_.begin(), known_.end(), [&](const auto& k) { return k.contains(id); })) return;
  compute(id);
}

void KernelWriter::compute(int id) {
  const Inst& i = loops_.inst(id);
  TRINE_CHECK(i.kind != InstKind::reduce, std::to_string(id));
  need(i.a);
  need(i.b);
  need(i.c);
  if (i.kind == InstKind::load) load(id);
  else assign(id, expression(id));
  known_[kept_.contains(id) ? row_scope_ : known_.size() - 1].insert(id);
}

void KernelWriter::assign(int id, const std::string& expression, bool touches_memory) {
  const bool kept = kept_.contains(id);
  const std::string type = compute_type_text(loops_.inst(id).type);
  if (!is_packed(id)) {
    out_.line(kept ? fmt::format("v{}[k] = {};", id, expression)
                   : fmt::format("const {} v{} = {};", type, id, expression));
    return;
  }
  const bool guarded = touches_memory && tail_;
  if (!kept) out_.line(fmt::format("{} v{}[kWidth]{};", type, id, guarded ? " = {}" : ""));
  out_.line(fmt::format("EACH {}{}[u] = {};", guarded ? "if (u < m) " : "", base(id), expression));
}

std::string KernelWriter::expression(int id) {
  const Inst& i = loops_.inst(id);
  switch (i.kind) {
    case InstKind::constant: return constant_text(i.type, i.bits);
    case InstKind::index: return fmt::format("static_cast<long long>({})", address(i.access, is_packed(id)));
    case InstKind::unary: return unary_text(i.op, loops_.inst(i.a).type, ref(i.a));
    case InstKind::binary: return binary_text(i.op, loops_.inst(i.a).type, ref(i.a), ref(i.b));
    case InstKind::select: return fmt::format("{} ? {} : {}", ref(i.a), ref(i.b), ref(i.c));
    case InstKind::cast: return cast_text(loops_.inst(i.a).type, i.to, ref(i.a));
    default: return {};
  }
}

std::string KernelWriter::pointer(int access) const { return fmt::format("p{}", loops_.access(access).operand); }

// Offset and loops, in elements; with the place in the pack for `element`.
std::string KernelWriter::address(int access, bool element) const {
  std::string out;
  auto add = [&](const std::string& term) { out += (out.empty() ? "" : " + ") + term; };
  if (const int64_t offset = loops_.offset(access); offset != 0) add(sizes_.number(fmt::format("o{}", access), offset));
  for (int l = 0; l < loops_.loop_count(); ++l) {
    const int64_t stride = loops_.stride(access, l);
    if (stride == 0) continue;
    const std::string by = stride == 1 ? "" : " * " + sizes_.number(fmt::format("t{}_{}", access, l), stride);
    add(element && s_.is_packed(l) ? fmt::format("(i{} + u){}", l, by) : fmt::format("i{}{}", l, by));
  }
  return out.empty() ? "0" : out;
}

int64_t KernelWriter::packed_stride(int access) const {
  int64_t stride = 0;
  for (int l = 0; l < loops_.loop_count(); ++l)
    if (s_.is_packed(l)) stride += loops_.stride(access, l);
  return stride;
}

void KernelWriter::load(int id) {
  const Inst& i = loops_.inst(id);
  const std::string p = pointer(i.access);
  if (is_packed(id) && packed_stride(i.access) == 1 && i.a < 0 && i.b < 0) {
    packs_.insert(loops_.access(i.access).operand);
    if (!kept_.contains(id)) out_.line(fmt::format("{} v{}[kWidth];", compute_type_text(i.type), id));
    out_.line(
        fmt::format("load_pack<kWide>({}, {} + ({}){});", base(id), p, address(i.access, false), tail_ ? ", m" : ""));
    return;
  }
  if (s_.edge && crosses(loops_, s_, i)) return assign(id, fmt::format("value({}[x][y])", square(id)));
  std::string at = address(i.access, is_packed(id));
  if (i.a >= 0) at += " + " + ref(i.a);
  std::string element = fmt::format("value({}[{}])", p, at);
  if (i.b >= 0) element = fmt::format("{} ? {} : {}", ref(i.b), element, ref(i.c));
  assign(id, element, true);
}

void KernelWriter::store(const Step& s, const std::string& condition) {
  need(s.inst);
  const Operand& operand = loops_.operand_of(s.access);
  if (operand.kind == Operand::Kind::scratch) return;  // kept in registers, or computed again
  std::string guard = clamped_ ? "active" : "";
  if (!condition.empty()) guard += (guard.empty() ? "" : " && ") + condition;
  if (!guard.empty()) out_.open("if (" + guard + ")");
  const std::string p = pointer(s.access), memory = memory_type_text(operand.dtype);
  const int64_t along = packed_stride(s.access);
  if (along == 1) {
    std::string from = base(s.inst);
    packs_.insert(loops_.access(s.access).operand);
    if (!is_packed(s.inst)) {
      from = fmt::format("w{}_{}", s.inst, s.access);
      out_.line(fmt::format("{} {}[kWidth];", compute_type_text(loops_.inst(s.inst).type), from));
      out_.line(fmt::format("EACH {}[u] = {};", from, ref(s.inst)));
    }
    out_.line(
        fmt::format("store_pack<kWide>({} + ({}), {}{});", p, address(s.access, false), from, tail_ ? ", m" : ""));
  } else {
    const bool each = along != 0;
    out_.line(fmt::format("{}{}{}[{}] = Stored<{}>::of({});", each ? "EACH " : "", each && tail_ ? "if (u < m) " : "",
                          p, address(s.access, each), memory, ref(s.inst)));
  }
  if (!guard.empty()) out_.close();
}

}  // namespace trine::codegen
