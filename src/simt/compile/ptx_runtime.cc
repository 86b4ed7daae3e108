#include "simt/compile/ptx_runtime.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include "simt/compile/parse.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

// All blocks of a cooperative launch meet. The driver gives such launches a word of memory, whose address stands in the
// registers %envreg1 (high) and %envreg2, after 4 bytes of its own. Every meeting turns its top bit: the first block
// adds what the others leave to it.
constexpr const char* kSource = R"(
extern "C" __device__ void trine_simt_grid_sync() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  unsigned* word = (unsigned*)((unsigned long long)high << 32 | low) + 1;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    const unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    __threadfence();
    const unsigned before = atomicAdd(word, first ? 0x80000000u - others : 1u);
    while (((*(volatile unsigned*)word ^ before) & 0x80000000u) == 0) {}
    __threadfence();
  }
  __syncthreads();
}
)";

}  // namespace

void link_ptx_runtime(llvm::Module& module) {
  const llvm::Function* wanted = module.getFunction("trine_simt_grid_sync");
  if (!wanted || !wanted->isDeclaration()) return;
  static const DeviceModule runtime = parse(kSource, {.name = "runtime.cu"});
  auto added = llvm::parseBitcodeFile(llvm::MemoryBufferRef(runtime.bitcode, "runtime"), module.getContext());
  if (!added || llvm::Linker::linkModules(module, std::move(*added), llvm::Linker::LinkOnlyNeeded))
    throw Error(ErrorCode::unsupported, "ptx: the runtime's code cannot be linked");
}

}  // namespace trine::simt
