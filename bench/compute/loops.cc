// Opens the module of loops in C++ (loops/).
#include "loops/loops.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "party.h"
#include "trine/base/error.h"

namespace trine::bench_compute {

class Loops {
 public:
  const LoopTable* table;
};

namespace {

constexpr size_t kAlign = 64;

struct Freed {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kAlign}); }
};
using Memory = std::unique_ptr<std::byte[], Freed>;

struct Prepared {
  explicit Prepared(const Case& from) : problem(from) {
    for (const Array& array : problem.arrays) {
      memory.emplace_back(new (std::align_val_t{kAlign}) std::byte[array.content.size()]);
      addresses.push_back(memory.back().get());
    }
  }
  void reset() {
    for (size_t i = 0; i < memory.size(); ++i)
      std::memcpy(addresses[i], problem.arrays[i].content.data(), problem.arrays[i].content.size());
  }
  Contents outputs() const {
    Contents contents;
    for (size_t i = 0; i < memory.size(); ++i)
      if (problem.arrays[i].is_output)
        contents.emplace_back(memory[i].get(), memory[i].get() + problem.arrays[i].content.size());
    return contents;
  }

  const Case& problem;
  std::vector<Memory> memory;
  std::vector<void*> addresses;
};

}  // namespace

std::shared_ptr<Loops> open_loops(int threads, std::string& why_not) {
  void* module = dlopen(TRINE_BENCH_LOOPS, RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    why_not = fmt::format("the loops in C++ were not built (OpenMP is needed): {}", dlerror());
    return nullptr;
  }
  const auto* table = static_cast<const LoopTable*>(dlsym(module, "trine_bench_loops"));
  TRINE_CHECK(table, "the module of loops has no table");
  table->set_threads(threads);
  return std::make_shared<Loops>(Loops{table});
}

std::string describe(const Loops& loops) { return loops.table->compiler; }

Party loops_party(const std::shared_ptr<Loops>& loops, const Case& problem) {
  const LoopTable& table = *loops->table;
  for (size_t i = 0; i < table.count; ++i) {
    if (problem.name != table.rows[i].name) continue;
    const auto prepared = std::make_shared<Prepared>(problem);
    return {.name = "cxx",
            .note = "",
            .reset = [prepared] { prepared->reset(); },
            .run = [prepared,
                    run = table.rows[i].run] { run({prepared->addresses.data(), prepared->problem.numbers.data()}); },
            .outputs = [prepared] { return prepared->outputs(); }};
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("bench_compute: no loop in C++ for {}", problem.name));
}

}  // namespace trine::bench_compute
