#include "codegen/cuda/sizes.h"

#include <fmt/format.h>

#include "base/divider.h"

namespace trine::codegen {

template <class T>
void KernelSizes::append(const T& value) {
  const size_t at = bytes_.size();
  bytes_.resize(at + sizeof(T));
  std::memcpy(bytes_.data() + at, &value, sizeof(T));
}

std::string KernelSizes::number(const std::string& name, int64_t value) {
  if (names_.insert(name).second) {
    fields_ += fmt::format("  Index {};\n", name);
    if (wide_) append(value);
    else append(static_cast<int32_t>(value));
  }
  return "s." + name;
}

std::string KernelSizes::divisor(const std::string& name, int64_t value) {
  if (names_.insert(name).second) {
    fields_ += fmt::format("  trine::Divider {};\n", name);
    append(divider_numbers(value));
  }
  return "s." + name;
}

std::string KernelSizes::declaration() const {
  return "struct Sizes {\n" + (fields_.empty() ? std::string("  Index unused;\n") : fields_) + "};\n";
}

}  // namespace trine::codegen
