// What the check `init` remembers of memory: for each byte another one, 0 once a kernel has written there.
//
// Others write memory of the device too: copies, the host through a pointer, kernels that are not checked. So that they
// need not tell, what is given out is filled with a pattern: a word that still has it, and that no kernel is known to
// have written, was written by nobody. Local and shared memory are written by kernels alone and have no pattern.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trine::simt {

// No number, as half of a double too; rare among integers, and no opaque colour.
constexpr uint32_t kUnwrittenWord = 0x7FEDB5A9;
constexpr uint8_t kUnwritten = 0xFF;  // a byte of the shadow

// Clean until marked, and only then memory.
class Shadow {
 public:
  explicit Shadow(uint64_t bytes_of_memory);  // throws Error{out_of_memory}
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  // What an address of memory at `low` is added to.
  char* base(uint64_t low) const { return reinterpret_cast<char*>(reinterpret_cast<uint64_t>(bytes_) - low); }
  void mark(uint64_t bytes);  // the first so many: never written
  uint64_t bytes() const { return size_; }

 private:
  const uint64_t size_;
  uint8_t* bytes_;
};

// Memory that is watched.
struct Watched {
  char* shadow = nullptr;  // null: it is not
  bool has_pattern = false;
  uint64_t low = 0, end = 0;

  explicit operator bool() const { return shadow; }
  uint8_t* of(uint64_t address) const {
    return reinterpret_cast<uint8_t*>(reinterpret_cast<uint64_t>(shadow) + address);
  }
};

bool is_clean(const void* shadow, uint64_t bytes);
// Fills new memory of the device.
void fill_unwritten(uint64_t low, uint64_t bytes);
// The address of the first byte of so many that nobody has written, or 0.
uint64_t first_unwritten(const Watched& memory, uint64_t address, uint64_t bytes);
void set_written(const Watched& memory, uint64_t address, uint64_t bytes);
// Of a copy that is about to be made. True: the pattern is to be written once it is.
bool copy_shadow(const Watched& to, uint64_t to_address, const Watched& from, uint64_t from_address, uint64_t bytes);
void write_pattern(const Watched& to, uint64_t address, uint64_t bytes);

}  // namespace trine::simt
