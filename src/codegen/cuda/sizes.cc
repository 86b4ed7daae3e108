#include "codegen/cuda/sizes.h"

#include <fmt/format.h>

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

// Granlund and Montgomery 1994: n / d is (n * magic / 2^32 + n) >> shift for n below 2^31.
std::string KernelSizes::divisor(const std::string& name, int64_t value) {
  if (names_.insert(name).second) {
    const auto d = static_cast<uint64_t>(value < 1 ? 1 : value);
    uint32_t shift = 0;
    while ((uint64_t{1} << shift) < d) ++shift;
    fields_ += fmt::format("  Divisor {};\n", name);
    append(static_cast<uint32_t>(d));
    append(static_cast<uint32_t>((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d) / d + 1));
    append(shift);
  }
  return "s." + name;
}

std::string KernelSizes::declaration() const {
  return "struct Sizes {\n" + (fields_.empty() ? std::string("  Index unused;\n") : fields_) + "};\n";
}

}  // namespace trine::codegen
