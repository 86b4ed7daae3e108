#include "simt/check/shadow.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "trine/base/error.h"

namespace trine::simt {
namespace {

constexpr size_t kMargin = 64;  // accesses out of bounds that nobody looks for

uint8_t pattern_at(uint64_t address) { return static_cast<uint8_t>(kUnwrittenWord >> address % 4 * 8); }
uint8_t* memory_at(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }

// Bits: which bytes of the word nobody has written. The shadow of the others becomes clean.
uint32_t unwritten_of_word(const Watched& memory, uint64_t word) {
  uint32_t marked = 0, same = 0, inside = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint64_t at = word + i;
    if (at < memory.low || at >= memory.end) continue;
    inside |= 1u << i;
    if (*memory.of(at)) marked |= 1u << i;
    if (memory.has_pattern && *memory_at(at) == pattern_at(at)) same |= 1u << i;
  }
  if (!memory.has_pattern) return marked;
  // One byte may be that of the pattern by chance; a word hardly is.
  const uint32_t unwritten = marked == inside && same != inside ? 0 : marked & same;
  for (uint32_t i = 0; i < 4; ++i)
    if ((marked & ~unwritten) >> i & 1) *memory.of(word + i) = 0;
  return unwritten;
}

template <class Body>  // of each byte: body(index, whether nobody has written it); stops when it returns true
void each_byte(const Watched& memory, uint64_t address, uint64_t bytes, const Body& body) {
  for (uint64_t word = address & ~uint64_t{3}; word < address + bytes; word += 4) {
    const uint32_t unwritten = unwritten_of_word(memory, word);
    for (uint64_t at = std::max(word, address); at < std::min(word + 4, address + bytes); ++at)
      if (body(at - address, (unwritten >> (at - word) & 1) != 0)) return;
  }
}

}  // namespace

bool is_clean(const void* shadow, uint64_t bytes) {
  const auto* at = static_cast<const uint8_t*>(shadow);
  return bytes == 0 || (*at == 0 && std::memcmp(at, at + 1, bytes - 1) == 0);
}

Shadow::Shadow(uint64_t bytes_of_memory) : size_(bytes_of_memory) {
  void* memory =
      mmap(nullptr, size_ + kMargin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, fmt::format("check: no {} bytes to tell which memory is written", size_));
  bytes_ = static_cast<uint8_t*>(memory);
}

Shadow::~Shadow() { munmap(bytes_, size_ + kMargin); }

void Shadow::mark(uint64_t bytes) { std::memset(bytes_, kUnwritten, bytes); }

void fill_unwritten(uint64_t low, uint64_t bytes) {
  for (uint64_t at = low; at < low + bytes; at += 4)
    std::memcpy(memory_at(at), &kUnwrittenWord, std::min<uint64_t>(4, low + bytes - at));
}

uint64_t first_unwritten(const Watched& memory, uint64_t address, uint64_t bytes) {
  uint64_t found = 0;
  each_byte(memory, address, bytes, [&](uint64_t i, bool unwritten) {
    if (unwritten) found = address + i;
    return unwritten;
  });
  return found;
}

void set_written(const Watched& memory, uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  // What the host has written beside it is known as long as the word is whole.
  if (memory.has_pattern && address % 4) unwritten_of_word(memory, address & ~uint64_t{3});
  if (memory.has_pattern && end % 4) unwritten_of_word(memory, end & ~uint64_t{3});
  std::memset(memory.of(address), 0, bytes);
}

bool copy_shadow(const Watched& to, uint64_t to_address, const Watched& from, uint64_t from_address, uint64_t bytes) {
  if (!to) return false;
  if (!from || is_clean(from.of(from_address), bytes)) {
    set_written(to, to_address, bytes);
    return false;
  }
  std::vector<uint8_t> marks(bytes);  // the two may overlap
  each_byte(from, from_address, bytes, [&](uint64_t i, bool unwritten) {
    marks[i] = unwritten ? kUnwritten : 0;
    return false;
  });
  set_written(to, to_address, bytes);
  std::memcpy(to.of(to_address), marks.data(), bytes);
  return to.has_pattern && !is_clean(marks.data(), bytes);
}

void write_pattern(const Watched& to, uint64_t address, uint64_t bytes) {
  for (uint64_t at = address; at < address + bytes; ++at)
    if (*to.of(at)) *memory_at(at) = pattern_at(at);
}

}  // namespace trine::simt
