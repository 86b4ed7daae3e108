// The common forms of NVTX in C++: scoped_range, unique_range, mark, start_range, end_range, NVTX3_FUNC_RANGE. Domains
// are taken and not told apart.
#pragma once

#include <string>
#include <utility>

#include "nvToolsExt.h"

#define NVTX3_CPP_VERSION_MAJOR 1
#define NVTX3_CPP_VERSION_MINOR 0

namespace nvtx3 {
inline namespace v1 {

struct rgb {
  using component_type = uint8_t;
  constexpr rgb(uint8_t r, uint8_t g, uint8_t b) noexcept : red(r), green(g), blue(b) {}
  uint8_t red, green, blue;
};
struct argb {
  using component_type = uint8_t;
  constexpr argb(uint8_t a, uint8_t r, uint8_t g, uint8_t b) noexcept : alpha(a), red(r), green(g), blue(b) {}
  uint8_t alpha, red, green, blue;
};
class color {
 public:
  using value_type = uint32_t;
  constexpr explicit color(value_type hex) noexcept : value_(hex) {}
  constexpr color(argb c) noexcept
      : value_(uint32_t{c.alpha} << 24 | uint32_t{c.red} << 16 | uint32_t{c.green} << 8 | c.blue) {}
  constexpr color(rgb c) noexcept : color(argb(0xff, c.red, c.green, c.blue)) {}
  constexpr value_type get_value() const noexcept { return value_; }

 private:
  value_type value_;
};

class category {
 public:
  using id_type = uint32_t;
  constexpr explicit category(id_type id) noexcept : id_(id) {}
  constexpr id_type get_id() const noexcept { return id_; }

 private:
  id_type id_;
};

class payload {
 public:
  explicit payload(int64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT64) { value_.llValue = v; }
  explicit payload(int32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT32) { value_.iValue = v; }
  explicit payload(uint64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) { value_.ullValue = v; }
  explicit payload(uint32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) { value_.uiValue = v; }
  explicit payload(float v) noexcept : type_(NVTX_PAYLOAD_TYPE_FLOAT) { value_.fValue = v; }
  explicit payload(double v) noexcept : type_(NVTX_PAYLOAD_TYPE_DOUBLE) { value_.dValue = v; }
  auto get_value() const noexcept { return value_; }
  int32_t get_type() const noexcept { return type_; }

 private:
  decltype(nvtxEventAttributes_t::payload) value_{};
  int32_t type_;
};

class domain {
 public:
  struct global {};
  domain(const domain&) = delete;
  template <class D = global>
  static const domain& get() noexcept {
    static const domain only;
    return only;
  }
  operator nvtxDomainHandle_t() const noexcept { return nullptr; }

 private:
  domain() = default;
};

template <class D = domain::global>
class registered_string_in {
 public:
  explicit registered_string_in(const char* text) noexcept : handle_(nvtxDomainRegisterStringA(nullptr, text)) {}
  explicit registered_string_in(const std::string& text) noexcept : registered_string_in(text.c_str()) {}
  // `M` has a member `message`: made once.
  template <class M>
  static const registered_string_in& get() noexcept {
    static const registered_string_in only(M::message);
    return only;
  }
  nvtxStringHandle_t get_handle() const noexcept { return handle_; }

 private:
  nvtxStringHandle_t handle_;
};
using registered_string = registered_string_in<>;

// Refers to the text: it must last as long as the attributes do.
class message {
 public:
  message(const char* text) noexcept : type_(NVTX_MESSAGE_TYPE_ASCII) { value_.ascii = text; }
  message(const std::string& text) noexcept : message(text.c_str()) {}
  message(const wchar_t* text) noexcept : type_(NVTX_MESSAGE_TYPE_UNICODE) { value_.unicode = text; }
  message(const std::wstring& text) noexcept : message(text.c_str()) {}
  template <class D>
  message(const registered_string_in<D>& text) noexcept : type_(NVTX_MESSAGE_TYPE_REGISTERED) {
    value_.registered = text.get_handle();
  }
  nvtxMessageValue_t get_value() const noexcept { return value_; }
  int32_t get_type() const noexcept { return type_; }

 private:
  nvtxMessageValue_t value_{};
  int32_t type_;
};

class event_attributes {
 public:
  using value_type = nvtxEventAttributes_t;
  event_attributes() noexcept {
    value_.version = NVTX_VERSION;
    value_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  }
  // In any order: a message, a color, a category, a payload.
  template <class First, class... Rest>
  explicit event_attributes(const First& first, const Rest&... rest) noexcept : event_attributes() {
    set(first);
    (set(rest), ...);
  }
  const value_type* get() const noexcept { return &value_; }

 private:
  void set(const color& c) noexcept {
    value_.colorType = NVTX_COLOR_ARGB;
    value_.color = c.get_value();
  }
  void set(const rgb& c) noexcept { set(color(c)); }
  void set(const argb& c) noexcept { set(color(c)); }
  void set(const category& c) noexcept { value_.category = c.get_id(); }
  void set(const payload& p) noexcept {
    value_.payloadType = p.get_type();
    value_.payload = p.get_value();
  }
  void set(const message& m) noexcept {
    value_.messageType = m.get_type();
    value_.message = m.get_value();
  }
  value_type value_{};
};

template <class D = domain::global>
class scoped_range_in {
 public:
  explicit scoped_range_in(const event_attributes& attributes) noexcept {
    nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
  }
  template <class First, class... Rest>
  explicit scoped_range_in(const First& first, const Rest&... rest) noexcept
      : scoped_range_in(event_attributes(first, rest...)) {}
  scoped_range_in() noexcept : scoped_range_in(event_attributes()) {}
  scoped_range_in(const scoped_range_in&) = delete;
  scoped_range_in& operator=(const scoped_range_in&) = delete;
  ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::get<D>()); }
};
using scoped_range = scoped_range_in<>;
using thread_range = scoped_range;  // its name in earlier versions

class range_handle {
 public:
  using value_type = nvtxRangeId_t;
  constexpr explicit range_handle(value_type id = 0) noexcept : id_(id) {}
  constexpr explicit operator bool() const noexcept { return id_ != 0; }
  constexpr value_type get_value() const noexcept { return id_; }

 private:
  value_type id_;
};

template <class D = domain::global>
range_handle start_range_in(const event_attributes& attributes) noexcept {
  return range_handle(nvtxDomainRangeStartEx(domain::get<D>(), attributes.get()));
}
template <class D = domain::global, class First, class... Rest>
range_handle start_range_in(const First& first, const Rest&... rest) noexcept {
  return start_range_in<D>(event_attributes(first, rest...));
}
template <class... Parts>
range_handle start_range(const Parts&... parts) noexcept {
  return start_range_in<>(parts...);
}
template <class D = domain::global>
void end_range_in(range_handle range) noexcept {
  nvtxDomainRangeEnd(domain::get<D>(), range.get_value());
}
inline void end_range(range_handle range) noexcept { end_range_in<>(range); }

template <class D = domain::global>
class unique_range_in {
 public:
  template <class First, class... Rest>
  explicit unique_range_in(const First& first, const Rest&... rest) noexcept
      : range_(start_range_in<D>(first, rest...)) {}
  unique_range_in(unique_range_in&& other) noexcept : range_(std::exchange(other.range_, range_handle())) {}
  unique_range_in& operator=(unique_range_in&& other) noexcept {
    std::swap(range_, other.range_);
    return *this;
  }
  ~unique_range_in() noexcept {
    if (range_) end_range_in<D>(range_);
  }

 private:
  range_handle range_;
};
using unique_range = unique_range_in<>;

template <class D = domain::global>
void mark_in(const event_attributes& attributes) noexcept {
  nvtxDomainMarkEx(domain::get<D>(), attributes.get());
}
template <class D = domain::global, class First, class... Rest>
void mark_in(const First& first, const Rest&... rest) noexcept {
  mark_in<D>(event_attributes(first, rest...));
}
template <class... Parts>
void mark(const Parts&... parts) noexcept {
  mark_in<>(parts...);
}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) const ::nvtx3::scoped_range_in<D> nvtx3_func_range__(__func__)
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
