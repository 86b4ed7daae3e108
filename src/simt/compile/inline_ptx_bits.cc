// Fields of bits, bytes and the video instructions that libraries use to add what they have shifted.
#include <llvm/IR/IRBuilder.h>

#include "simt/compile/inline_ptx.h"

namespace trine::simt {
namespace {

using llvm::Value;

// Positions and lengths are the low bytes of their operands, and shifts beyond the width give nothing; hence 64 bits.
struct Wide {
  llvm::IRBuilder<>& build;
  Value* number(uint64_t value) const { return build.getInt64(value); }
  Value* at_most(Value* value, uint64_t most) const {
    return build.CreateBinaryIntrinsic(llvm::Intrinsic::umin, value, number(most));
  }
  Value* byte(Value* value) const { return build.CreateAnd(build.CreateZExt(value, build.getInt64Ty()), 255); }
  Value* ones(Value* count) const {  // of 0 to 32
    return build.CreateSub(build.CreateShl(number(1), count), number(1));
  }
  Value* narrow(Value* value) const { return build.CreateTrunc(value, build.getInt32Ty()); }
};

Value* extract(llvm::IRBuilder<>& build, Value* from, Value* position, Value* length, bool is_signed) {
  const Wide wide{build};
  Value* at = wide.at_most(wide.byte(position), 32);
  Value* bits = wide.at_most(wide.byte(length), 32);
  Value* all = build.CreateIntCast(from, build.getInt64Ty(), is_signed);
  if (!is_signed) return wide.narrow(build.CreateAnd(build.CreateLShr(all, at), wide.ones(bits)));
  Value* spare = build.CreateSub(wide.number(64), bits);
  Value* spread = build.CreateAShr(build.CreateShl(build.CreateAShr(all, at), build.CreateAnd(spare, 63)),
                                   build.CreateAnd(spare, 63));
  return wide.narrow(build.CreateSelect(build.CreateIsNull(bits), wide.number(0), spread));
}

Value* insert(llvm::IRBuilder<>& build, Value* what, Value* into, Value* position, Value* length) {
  const Wide wide{build};
  Value* at = wide.at_most(wide.byte(position), 32);
  Value* mask = build.CreateShl(wide.ones(wide.at_most(wide.byte(length), 32)), at);
  Value* shifted = build.CreateShl(build.CreateZExt(what, build.getInt64Ty()), at);
  Value* kept = build.CreateAnd(build.CreateZExt(into, build.getInt64Ty()), build.CreateNot(mask));
  return wide.narrow(build.CreateOr(kept, build.CreateAnd(shifted, mask)));
}

// Byte i is the one of b:a that nibble i selects; its bit 3 spreads the sign of that byte.
Value* permute(llvm::IRBuilder<>& build, Value* a, Value* b, Value* selectors) {
  Value* high = build.CreateShl(build.CreateZExt(b, build.getInt64Ty()), 32);
  Value* both = build.CreateOr(build.CreateZExt(a, build.getInt64Ty()), high);
  Value* result = build.getInt32(0);
  for (uint64_t i = 0; i < 4; ++i) {
    Value* selector = build.CreateZExt(build.CreateLShr(selectors, 4 * i), build.getInt64Ty());
    Value* byte =
        build.CreateTrunc(build.CreateLShr(both, build.CreateShl(build.CreateAnd(selector, 7), 3)), build.getInt8Ty());
    Value* sign = build.CreateAShr(byte, 7);
    byte = build.CreateSelect(build.CreateIsNull(build.CreateAnd(selector, 8)), byte, sign);
    result = build.CreateOr(result, build.CreateShl(build.CreateZExt(byte, build.getInt32Ty()), 8 * i));
  }
  return result;
}

Value* shifted_by(llvm::IRBuilder<>& build, Value* value, Value* count, bool left) {
  const Wide wide{build};
  Value* all = build.CreateZExt(value, build.getInt64Ty());
  Value* by = wide.at_most(build.CreateZExt(count, build.getInt64Ty()), 32);
  return wide.narrow(left ? build.CreateShl(all, by) : build.CreateLShr(all, by));
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

Value* result_of(llvm::IRBuilder<>& build, const PtxStatement& statement) {
  const std::string name = joined(statement.opcode);
  std::vector<Value*> s;
  for (size_t i = 0; i < statement.sources.size(); ++i) s.push_back(statement.source(i, build.getInt32Ty()));
  for (const Value* value : s)
    if (!value) return nullptr;
  const auto is = [&](const char* wanted, size_t sources) { return name == wanted && s.size() == sources; };
  if (is("bfe.u32", 3)) return extract(build, s[0], s[1], s[2], false);
  if (is("bfe.s32", 3)) return extract(build, s[0], s[1], s[2], true);
  if (is("bfi.b32", 4)) return insert(build, s[0], s[1], s[2], s[3]);
  if (is("prmt.b32", 3)) return permute(build, s[0], s[1], s[2]);
  if (is("vshl.u32.u32.u32.clamp.add", 3)) return build.CreateAdd(shifted_by(build, s[0], s[1], true), s[2]);
  if (is("vshr.u32.u32.u32.clamp.add", 3)) return build.CreateAdd(shifted_by(build, s[0], s[1], false), s[2]);
  if (is("vadd.u32.u32.u32.add", 3)) return build.CreateAdd(build.CreateAdd(s[0], s[1]), s[2]);
  if (is("popc.b32", 1)) return build.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, s[0]);
  if (is("brev.b32", 1)) return build.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, s[0]);
  if (is("clz.b32", 1)) return build.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, s[0], build.getFalse());
  return nullptr;
}

}  // namespace

bool translate_bits(const PtxStatement& statement) {
  llvm::IRBuilder<> build(statement.call);
  if (statement.destinations.size() != 1) return false;
  Value* result = result_of(build, statement);
  if (result) statement.finish(build, {result});
  return result != nullptr;
}

}  // namespace trine::simt
