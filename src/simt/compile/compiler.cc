// What libtrine_simt exports.
#include "simt/compiler.h"

#include "simt/compile/headers.h"
#include "simt/compile/link_units.h"
#include "simt/compile/load_cpu.h"
#include "simt/compile/parse.h"
#include "simt/compile/ptx.h"

namespace trine::simt {
namespace {

std::vector<std::pair<std::string, std::string>> device_headers() {
  std::vector<std::pair<std::string, std::string>> found;
  const std::string folder = std::string(kDeviceHeaders) + "/";
  for (const Header& header : held_headers())
    if (header.path.starts_with(folder)) found.emplace_back(header.path.substr(folder.size()), header.text);
  return found;
}

}  // namespace
}  // namespace trine::simt

extern "C" __attribute__((visibility("default"))) const trine::simt::Compiler& trine_simt_compiler() {
  static constexpr trine::simt::Compiler compiler{trine::simt::parse, trine::simt::ptx, trine::simt::load_cpu,
                                                  trine::simt::device_headers, trine::simt::link_units};
  return compiler;
}
