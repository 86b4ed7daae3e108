#include "peer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "trine/base/error.h"

namespace trine::bench {

const Peer& open_onednn() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string module = (program.parent_path().parent_path() / "lib" / "bench_onednn.so").string();
  void* library = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("--against onednn: {}; install scripts/requirements-bench.txt into .venv, run cmake again and "
                    "build bench_dnn",
                    ::dlerror()));
  }
  return *reinterpret_cast<OpenPeer*>(::dlsym(library, kOpenPeer))();
}

}  // namespace trine::bench
