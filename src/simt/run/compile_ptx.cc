#include "simt/run/compile_ptx.h"

#include <fmt/format.h>

#include "simt/compiler.h"
#include "simt/run/cache_key.h"
#include "simt/run/encode.h"

namespace trine::simt {

std::string encode(const PtxModule& module) {
  Writer to;
  to.text(module.ptx);
  to.text(module.info.warnings);
  write_contents(to, module.info);
  return to.take();
}

std::optional<PtxModule> decode(std::string_view bytes) {
  Reader from(bytes);
  PtxModule module;
  module.ptx = from.text();
  module.info.warnings = from.text();
  read_contents(from, module.info);
  return from.finished() ? std::optional(std::move(module)) : std::nullopt;
}

PtxModule compile_ptx(std::string_view source, const compute::CompileOptions& options, std::string_view architecture,
                      int version, const Cache& cache) {
  const std::optional<std::string> key = cache_key(source, options, fmt::format("ptx {} {}", architecture, version));
  if (key) {
    if (const std::optional<std::string> kept = cache.find(*key))
      if (std::optional<PtxModule> module = decode(*kept)) {
        module->cached = true;
        return std::move(*module);
      }
  }
  PtxModule module;
  module.info = compiler().parse(source, options);
  module.ptx = compiler().ptx(module.info, architecture, version, options.fast_math);
  module.info.bitcode.clear();
  if (key) cache.store(*key, encode(module));
  return module;
}

}  // namespace trine::simt
