// Runs a graph's kernels as machine code and in the interpreter.
#pragma once

#include "engine/build/compile.h"
#include "harness.h"

namespace trine::test {

inline std::unique_ptr<codegen::LoadedCode> g_code;

inline codegen::LoopEntry entry_of(uint64_t hash) {
  const auto entry = g_code->find(hash);
  EXPECT_NE(entry, nullptr) << "kernel was not compiled";
  return entry;
}

// NaNs of either sign and payload are equal, everything else must agree to the bit.
inline void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& where) {
  if (same_bits(a, b)) return;
  const auto x = a.f64_values(), y = b.f64_values();
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    ASSERT_EQ(x[i], y[i]) << where << " element " << i;
    ASSERT_EQ(std::signbit(x[i]), std::signbit(y[i])) << where << " element " << i;
  }
}

inline void expect_compiled_equals_interpreted(const std::string& text, const std::vector<Tensor>& inputs,
                                               bool every_level = true, const Bindings& bindings = no_symbols()) {
  const Graph graph = parse(text);
  const codegen::Lowered lowered = codegen::lower_group(graph);
  ASSERT_TRUE(lowered) << lowered.refusal;
  std::vector<Tensor> like;
  for (Datum& d : evaluate(graph, {inputs.begin(), inputs.end()})) like.push_back(d.tensor());
  std::vector<const codegen::LoopKernel*> kernels;
  for (const auto& k : lowered.kernels) kernels.push_back(&k);
  for (CpuLevel level : kLevels) {
    if (level > cpu_info().level || (!every_level && level != cpu_info().level)) continue;
    const auto result = compile_kernels(kernels, name(level));
    ASSERT_TRUE(result.refusals.empty()) << result.refusals[0];
    g_code = std::make_unique<codegen::LoadedCode>(result.object);
    limit_cpu_level(level);
    const auto want = run_kernels(lowered, bindings, inputs, like);
    const auto got = run_kernels(lowered, bindings, inputs, like, 1, entry_of);
    const auto pieces = run_kernels(lowered, bindings, inputs, like, 3, entry_of);
    limit_cpu_level(std::nullopt);
    for (size_t i = 0; i < like.size(); ++i) {
      const std::string where =
          "output " + std::to_string(i) + " on " + std::string(name(level)) + "\n" + lowered.kernels[0].text();
      expect_same_bits(got[i], want[i], where);
      expect_same_bits(pieces[i], want[i], "in pieces: " + where);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace trine::test
