#include "simt/run/fibre.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

char* map_stack() {
  const size_t guard = page_bytes();
  void* memory = mmap(nullptr, guard + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory != MAP_FAILED && mprotect(memory, guard, PROT_NONE) == 0) return static_cast<char*>(memory) + guard;
  const int why = errno;
  if (memory != MAP_FAILED) munmap(memory, guard + kStackBytes);
  throw Error(ErrorCode::out_of_memory,
              fmt::format("launch: no stack of {} bytes for a thread of a kernel: {}; see ulimit -v and the kernel's "
                          "vm.max_map_count",
                          kStackBytes, std::strerror(why)));
}

}  // namespace

bool Fibre::overflows_at(const void* address) const {
  const auto* p = static_cast<const char*>(address);
  return p < low && p >= low - page_bytes();
}

FibrePool::~FibrePool() { keep(0); }

void FibrePool::keep(size_t most) {
  if (all_.size() <= most) return;
  for (size_t i = most; i < all_.size(); ++i) munmap(all_[i]->low - page_bytes(), kStackBytes + page_bytes());
  all_.resize(most);
  idle_.clear();
  for (const auto& fibre : all_) idle_.push_back(fibre.get());
}

Fibre& FibrePool::take() {
  if (idle_.empty()) {
    idle_.reserve(all_.size() + 1);
    auto fibre = std::make_unique<Fibre>();
    fibre->low = map_stack();
    all_.push_back(std::move(fibre));
    restart(*all_.back());
    return *all_.back();
  }
  Fibre& fibre = *idle_.back();
  idle_.pop_back();
  return fibre;
}

void FibrePool::give(Fibre& fibre) { idle_.push_back(&fibre); }

void FibrePool::restart(Fibre& fibre) {
  // Tops that lie at one place of their pages would share a few sets of the cache: a different line for each.
  const size_t colour = (reinterpret_cast<uintptr_t>(fibre.low) / kStackBytes * 5 % 16) * 128;
  fibre.context.begin(fibre.low, kStackBytes - colour, entry_, caller_);
}

void FibrePool::restart_all() {
  idle_.clear();
  for (const auto& fibre : all_) {
    restart(*fibre);
    idle_.push_back(fibre.get());
  }
}

}  // namespace trine::simt
