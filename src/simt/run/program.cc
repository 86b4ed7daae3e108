#include "simt/run/program.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "simt/compiler.h"
#include "simt/run/encode.h"
#include "trine/base/error.h"
#include "trine/compute/program.h"

namespace trine::simt {
namespace {

constexpr uint32_t kVersion = 2;
constexpr char kMagic[8] = {'t', 'r', 'i', 'n', 'e', 'f', 'a', 't'};

struct Title {
  char magic[8];
  uint32_t version, unused;
  uint64_t bytes, hash;  // of what follows
};

constexpr uint64_t kMostBytes = uint64_t{1} << 32;

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "program: " + what + "; accepted is what `trine cc` makes");
}

Title title_at(const void* address) {
  Title title;
  std::memcpy(&title, address, sizeof title);
  if (std::memcmp(title.magic, kMagic, sizeof kMagic) != 0) bad("device code that is not ours");
  if (title.version != kVersion) bad(fmt::format("version {}, where {} is known", title.version, kVersion));
  if (title.bytes > kMostBytes) bad(fmt::format("{} bytes", title.bytes));
  return title;
}

void write_options(Writer& to, const compute::CompileOptions& options) {
  to.text(options.name);
  to.number(options.debug);
  to.number(options.fast_math);
  to.number(static_cast<uint64_t>(options.mode));
  to.text(options.unit);
  to.number(options.checks.size());
  for (const std::string& check : options.checks) to.text(check);
}

void read_options(Reader& from, compute::CompileOptions& options) {
  options.name = from.text();
  options.debug = from.number() != 0;
  options.fast_math = from.number() != 0;
  const uint64_t mode = from.number();
  if (mode > static_cast<uint64_t>(compute::CpuMode::threads)) bad(fmt::format("mode {}", mode));
  options.mode = static_cast<compute::CpuMode>(mode);
  options.unit = from.text();
  options.checks.resize(from.count());
  for (std::string& check : options.checks) check = from.text();
}

}  // namespace

std::string encode_program(const Program& program) {
  Writer to;
  write_options(to, program.options);
  to.text(program.module.bitcode);
  write_contents(to, program.module);
  to.number(program.ptx.size());
  for (const PtxText& ptx : program.ptx) {
    to.text(ptx.architecture);
    to.text(ptx.text);
  }
  const std::string rest = to.take();
  Title title{{}, kVersion, 0, rest.size(), XXH3_64bits(rest.data(), rest.size())};
  std::memcpy(title.magic, kMagic, sizeof kMagic);
  return std::string(reinterpret_cast<const char*>(&title), sizeof title) + rest;
}

Program decode_program(std::string_view bytes) {
  if (bytes.size() < sizeof(Title)) bad(fmt::format("{} bytes", bytes.size()));
  const Title title = title_at(bytes.data());
  bytes.remove_prefix(sizeof title);
  if (bytes.size() < title.bytes) bad(fmt::format("{} of {} bytes", bytes.size(), title.bytes));
  bytes = bytes.substr(0, title.bytes);
  if (XXH3_64bits(bytes.data(), bytes.size()) != title.hash) bad("damaged bytes");
  Reader from(bytes);
  Program program;
  read_options(from, program.options);
  program.module.bitcode = from.text();
  read_contents(from, program.module);
  program.ptx.resize(from.count());
  for (PtxText& ptx : program.ptx) {
    ptx.architecture = from.text();
    ptx.text = from.text();
  }
  if (!from.finished()) bad("damaged contents");
  return program;
}

std::string_view program_at(const void* address) {
  return {static_cast<const char*>(address), sizeof(Title) + title_at(address).bytes};
}

}  // namespace trine::simt

namespace trine::compute {

namespace {

// The oldest PTX that knows the architecture, for the oldest drivers.
int ptx_version_for(std::string_view architecture) {
  int number = 0;
  for (char c : architecture)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  if (number < 100) return 80;
  return number <= 101 ? 86 : number == 120 ? 87 : 88;
}

}  // namespace

CompiledProgram compile_program(std::string_view source, const CompileOptions& options,
                                const std::vector<std::string>& architectures) {
  simt::Program program{options, simt::compiler().parse(source, options), {}};
  for (const std::string& architecture : architectures)
    program.ptx.push_back({architecture, options.unit.empty()
                                             ? simt::compiler().ptx(program.module, architecture,
                                                                    ptx_version_for(architecture), options.fast_math)
                                             : ""});
  const simt::DeviceModule& made = program.module;
  return {simt::encode_program(program), made.warnings, made.defined, made.shared, made.wanted};
}

std::vector<std::pair<std::string, std::string>> program_headers() { return simt::compiler().device_headers(); }

}  // namespace trine::compute
