// printf of kernels. clang packs the arguments into a struct: each at its natural alignment, promoted as C promotes.
#include <cctype>
#include <cstdio>
#include <cstring>

#include "simt/run/executor.h"

namespace trine::simt {
namespace {

constexpr size_t kMostPending = 64 << 10;

class Arguments {
 public:
  explicit Arguments(const void* at) : at_(static_cast<const char*>(at)) {}
  template <class T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, at_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count;
    return value;
  }
  int32_t count = 0;

 private:
  const char* at_;
  size_t offset_ = 0;
};

template <class T>
void put(std::string& out, const std::string& format, T value) {
  char small[128];
  const int bytes = std::snprintf(small, sizeof(small), format.c_str(), value);
  if (bytes < 0) return;
  if (static_cast<size_t>(bytes) < sizeof(small)) {
    out.append(small, static_cast<size_t>(bytes));
    return;
  }
  const size_t old = out.size();
  out.resize(old + static_cast<size_t>(bytes) + 1);
  std::snprintf(out.data() + old, static_cast<size_t>(bytes) + 1, format.c_str(), value);
  out.resize(old + static_cast<size_t>(bytes));
}

// One conversion, from its '%'; returns what follows it. Widths given by arguments are written into the format.
const char* convert(const char* p, Arguments& arguments, std::string& out) {
  const char* begin = p;
  std::string format(1, *p++);
  for (; *p && std::strchr("-+ #0123456789.*", *p); ++p) {
    if (*p == '*') format += std::to_string(arguments.next<int>());
    else format += *p;
  }
  bool wide = false;
  for (; *p && std::strchr("hlLjzt", *p); ++p) wide |= *p != 'h' && *p != 'L';
  const bool narrow = p - begin >= 1 && p[-1] == 'h';
  const bool byte = narrow && p[-2] == 'h';
  const char kind = *p;
  if (!kind) {
    out.append(begin);
    return p;
  }
  ++p;
  switch (kind) {
    case '%': out += '%'; break;
    case 'd':
    case 'i': {
      const long long value = wide ? arguments.next<long long>() : arguments.next<int>();
      const long long kept = byte ? static_cast<signed char>(value) : narrow ? static_cast<short>(value) : value;
      put(out, format + "ll" + kind, kept);
      break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      const unsigned long long value = wide ? arguments.next<unsigned long long>() : arguments.next<unsigned>();
      const unsigned long long kept = byte     ? static_cast<unsigned char>(value)
                                      : narrow ? static_cast<unsigned short>(value)
                                               : value;
      put(out, format + "ll" + kind, kept);
      break;
    }
    case 'c': put(out, format + kind, arguments.next<int>()); break;
    case 'p': put(out, format + kind, arguments.next<void*>()); break;
    case 's': {
      const auto* text = arguments.next<const char*>();
      put(out, format + kind, text ? text : "(null)");
      break;
    }
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': put(out, format + kind, arguments.next<double>()); break;
    default: out.append(begin, p);
  }
  return p;
}

}  // namespace

// Returns the number of arguments, as CUDA's does; -1 without a format.
extern "C" int32_t trine_simt_vprintf(const char* format, const void* packed) {
  if (!format) return -1;
  Executor& executor = *Executor::running();
  ++executor.inside_runtime;
  Arguments arguments(packed);
  std::string& out = executor.output();
  for (const char* p = format; *p;) {
    if (*p == '%') {
      p = convert(p, arguments, out);
    } else {
      const size_t plain = std::strcspn(p, "%");
      out.append(p, plain);
      p += plain;
    }
  }
  if (out.size() > kMostPending) executor.write_output();
  --executor.inside_runtime;
  return arguments.count;
}

}  // namespace trine::simt
