#include "simt/run/encode.h"

#include <cstring>

namespace trine::simt {
namespace {

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

uint64_t Reader::number() {
  uint64_t value = 0;
  const std::string_view from = take(sizeof value);
  if (good_) std::memcpy(&value, from.data(), sizeof value);
  return value;
}

uint64_t Reader::count() {
  const uint64_t value = number();
  good_ = good_ && value <= left_.size() / 8;
  return good_ ? value : 0;
}

std::string_view Reader::take(uint64_t bytes) {
  good_ = good_ && bytes <= left_.size();
  if (!good_) return {};
  const std::string_view taken = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return taken;
}

void write_contents(Writer& to, const DeviceModule& module) {
  to.number(module.kernels.size());
  for (const KernelInfo& kernel : module.kernels) write(to, kernel);
  to.number(module.variables.size());
  for (const VariableInfo& variable : module.variables) write(to, variable);
}

void read_contents(Reader& from, DeviceModule& module) {
  for (uint64_t left = from.count(); left > 0; --left) module.kernels.push_back(read_kernel(from));
  for (uint64_t left = from.count(); left > 0; --left) module.variables.push_back(read_variable(from));
}

}  // namespace trine::simt
