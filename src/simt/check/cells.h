// What the race check remembers of each 4 bytes: the latest write, and two reads by different threads.
//
// A time is that of one clock for the whole process, which goes on at every barrier, collective operation and fence:
// who knows that a thread has come past time t knows of what it did before t.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trine::simt {

// Packed: site 15 bits, thread 10, bytes of the word 4, atomic, volatile, silent (a write of the value that was there).
struct Entry {
  uint32_t time = 0;  // 0: none
  uint32_t block = 0;
  uint32_t packed = 0;

  uint32_t site() const { return packed >> 17; }
  uint32_t thread() const { return packed >> 7 & 1023; }
  uint32_t bytes() const { return packed >> 3 & 15; }
  bool is_atomic() const { return packed & 4; }
  bool is_volatile() const { return packed & 2; }
  bool is_silent() const { return packed & 1; }
};
constexpr uint32_t kMostSites = 1u << 15;

struct Cell {
  std::atomic<uint32_t> lock{0};
  Entry write, reads[2];
};

// Zero until touched, and only then memory.
class Cells {
 public:
  explicit Cells(uint64_t bytes_of_memory);
  ~Cells();
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  Cell& of_word(uint64_t word) { return cells_[word]; }

 private:
  Cell* cells_;
  size_t mapped_;
};

}  // namespace trine::simt
