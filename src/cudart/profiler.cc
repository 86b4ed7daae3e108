// cudaProfilerStart and cudaProfilerStop, the ranges of NVTX, and what launches do.
#include <nvtx3/nvToolsExt.h>
#include <trine_profile.h>

#include <mutex>
#include <set>
#include <string>

#include "cudart/state.h"
#include "trine/compute/profile.h"

using namespace trine::cudart;
using trine::compute::Profiler;

// Of the record that TRINE_PROFILE began; nothing without.
cudaError_t cudaProfilerStart() {
  return call([] { Profiler::resume(); });
}
cudaError_t cudaProfilerStop() {
  return call([] { Profiler::pause(); });
}

namespace {

thread_local int depth = 0;  // of pushed ranges

std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text && *text; ++text) {
    const auto c = static_cast<uint32_t>(*text);
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;  // bytes that follow
    out += static_cast<char>((0xf00u >> more & 0xf0) | c >> 6 * more);
    for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> 6 * i & 0x3f));
  }
  return out;
}

// Registered texts stay.
nvtxStringHandle_t keep(std::string text) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& kept = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(&*kept.insert(std::move(text)).first));
}

std::string text_of(const nvtxEventAttributes_t* attributes) {
  if (!attributes) return "";
  const nvtxMessageValue_t& m = attributes->message;
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return m.ascii ? m.ascii : "";
    case NVTX_MESSAGE_TYPE_UNICODE: return narrow(m.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: return m.registered ? *reinterpret_cast<const std::string*>(m.registered) : "";
    default: return "";
  }
}

// A profiler that has no memory for a name must not end the program.
template <class Body>
void quietly(const Body& body) noexcept {
  try {
    body();
  } catch (const std::exception&) {
    return;
  }
}

int push(const std::string& text) noexcept {
  if (!Profiler::running()) return NVTX_NO_PUSH_POP_TRACKING;
  quietly([&] { trine::compute::push_range(text); });
  return depth++;
}

int pop() noexcept {
  trine::compute::pop_range();
  if (!Profiler::running()) return NVTX_NO_PUSH_POP_TRACKING;
  return depth > 0 ? --depth : NVTX_NO_PUSH_POP_TRACKING;
}

nvtxRangeId_t start(const std::string& text) noexcept {
  nvtxRangeId_t range = 0;
  quietly([&] { range = trine::compute::start_range(text); });
  return range;
}

void end(nvtxRangeId_t range) noexcept {
  quietly([&] { trine::compute::end_range(range); });
}
void mark(const std::string& text) noexcept {
  quietly([&] { trine::compute::mark(text); });
}
std::string safe(const char* text) { return text ? text : ""; }

}  // namespace

extern "C" {

void nvtxInitialize(const void*) {}
int nvtxRangePushA(const char* text) { return push(safe(text)); }
int nvtxRangePushW(const wchar_t* text) { return push(narrow(text)); }
int nvtxRangePushEx(const nvtxEventAttributes_t* attributes) { return push(text_of(attributes)); }
int nvtxRangePop() { return pop(); }
int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t* a) { return push(text_of(a)); }
int nvtxDomainRangePop(nvtxDomainHandle_t) { return pop(); }

nvtxRangeId_t nvtxRangeStartA(const char* text) { return start(safe(text)); }
nvtxRangeId_t nvtxRangeStartW(const wchar_t* text) { return start(narrow(text)); }
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* attributes) { return start(text_of(attributes)); }
void nvtxRangeEnd(nvtxRangeId_t range) { end(range); }
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t, const nvtxEventAttributes_t* a) { return start(text_of(a)); }
void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t range) { end(range); }

void nvtxMarkA(const char* text) { mark(safe(text)); }
void nvtxMarkW(const wchar_t* text) { mark(narrow(text)); }
void nvtxMarkEx(const nvtxEventAttributes_t* attributes) { mark(text_of(attributes)); }
void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) { mark(text_of(attributes)); }

// Domains are not told apart: a handle is the name, so that it is never null.
nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(keep(safe(name)));
}
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(keep(narrow(name)));
}
void nvtxDomainDestroy(nvtxDomainHandle_t) {}
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char* text) { return keep(safe(text)); }
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t, const wchar_t* text) { return keep(narrow(text)); }

void nvtxNameCategoryA(uint32_t, const char*) {}
void nvtxDomainNameCategoryA(nvtxDomainHandle_t, uint32_t, const char*) {}
void nvtxNameOsThreadA(uint32_t, const char* name) {
  quietly([&] { trine::compute::name_thread(safe(name)); });
}

void trineProfileWork(double bytes, double flops) { trine::compute::set_launch_work({bytes, flops}); }
}
