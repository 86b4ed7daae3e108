#include "simt/run/compile_ptx.h"

#include <fmt/format.h>

#include <cstring>

#include "simt/compiler.h"
#include "simt/run/cache_key.h"

namespace trine::simt {
namespace {

class Writer {
 public:
  void number(uint64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  uint64_t number() {
    uint64_t value = 0;
    const std::string_view from = take(sizeof value);
    if (good_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  uint32_t small() { return static_cast<uint32_t>(number()); }
  std::string text() { return std::string(take(number())); }
  // Of things that are written in 8 bytes each at least.
  uint64_t count() {
    const uint64_t value = number();
    good_ = good_ && value <= left_.size() / 8;
    return good_ ? value : 0;
  }
  bool finished() const { return good_ && left_.empty(); }

 private:
  std::string_view take(uint64_t bytes) {
    good_ = good_ && bytes <= left_.size();
    if (!good_) return {};
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }

  std::string_view left_;
  bool good_ = true;
};

void write(Writer& to, const KernelInfo& kernel) {
  to.text(kernel.symbol);
  to.text(kernel.name);
  to.number(kernel.aliases.size());
  for (const std::string& alias : kernel.aliases) to.text(alias);
  to.number(kernel.parameters.size());
  for (const Parameter& parameter : kernel.parameters) {
    to.number(parameter.offset);
    to.number(parameter.bytes);
  }
  to.number(kernel.parameter_bytes);
  to.number(kernel.shared_bytes);
  to.number(kernel.most_threads);
}

KernelInfo read_kernel(Reader& from) {
  KernelInfo kernel;
  kernel.symbol = from.text();
  kernel.name = from.text();
  kernel.aliases.resize(from.count());
  for (std::string& alias : kernel.aliases) alias = from.text();
  kernel.parameters.resize(from.count());
  for (Parameter& parameter : kernel.parameters) {
    parameter.offset = from.small();
    parameter.bytes = from.small();
  }
  kernel.parameter_bytes = from.small();
  kernel.shared_bytes = from.small();
  kernel.most_threads = from.small();
  return kernel;
}

void write(Writer& to, const VariableInfo& variable) {
  to.text(variable.symbol);
  to.text(variable.name);
  to.number(variable.bytes);
  to.number(variable.constant);
  to.number(variable.managed);
}

VariableInfo read_variable(Reader& from) {
  VariableInfo variable;
  variable.symbol = from.text();
  variable.name = from.text();
  variable.bytes = from.number();
  variable.constant = from.number() != 0;
  variable.managed = from.number() != 0;
  return variable;
}

}  // namespace

std::string encode(const PtxModule& module) {
  Writer to;
  to.text(module.ptx);
  to.text(module.info.warnings);
  to.number(module.info.kernels.size());
  for (const KernelInfo& kernel : module.info.kernels) write(to, kernel);
  to.number(module.info.variables.size());
  for (const VariableInfo& variable : module.info.variables) write(to, variable);
  return to.take();
}

std::optional<PtxModule> decode(std::string_view bytes) {
  Reader from(bytes);
  PtxModule module;
  module.ptx = from.text();
  module.info.warnings = from.text();
  for (uint64_t left = from.count(); left > 0; --left) module.info.kernels.push_back(read_kernel(from));
  for (uint64_t left = from.count(); left > 0; --left) module.info.variables.push_back(read_variable(from));
  return from.finished() ? std::optional(std::move(module)) : std::nullopt;
}

PtxModule compile_ptx(std::string_view source, const compute::CompileOptions& options, std::string_view architecture,
                      int version, const Cache& cache) {
  const std::optional<std::string> key = cache_key(source, options, fmt::format("ptx {} {}", architecture, version));
  if (key) {
    if (const std::optional<std::string> kept = cache.find(*key))
      if (std::optional<PtxModule> module = decode(*kept)) return std::move(*module);
  }
  PtxModule module;
  module.info = compiler().parse(source, options);
  module.ptx = compiler().ptx(module.info, architecture, version, options.fast_math);
  module.info.bitcode.clear();
  if (key) cache.store(*key, encode(module));
  return module;
}

}  // namespace trine::simt
