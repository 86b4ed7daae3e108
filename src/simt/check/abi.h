// What checked kernels and the checker agree on: tables that the compiler writes beside a kernel's code, and the
// functions that its code calls.
//
// Every access of memory that is not provably a thread's own has a site. Before it, code looks into the block's cache
// for that site: an address outside of [low, low + span) goes to trine_check_locate(), which finds the region, fills
// the cache, or reports. Sites seldom change regions, so most accesses cost a few instructions.
#pragma once

#include <cstdint>

namespace trine::simt {

enum SiteFlag : uint32_t {
  kSiteReads = 1,
  kSiteWrites = 2,
  kSiteAtomic = 4,
  kSiteVolatile = 8,
  kSiteConstantSize = 16,  // bytes are known; else they come with the call
};

struct CheckSite {
  const char* place;  // "kernel.cu:12"; "" when not known
  uint32_t bytes;
  uint32_t flags;
  uint32_t align;  // that the access needs
  uint32_t unused;
  const char* variable;  // of the thread, that the address is computed from; "" when it is none
};

enum class VariableKind : uint32_t { shared, global, constant, internal };

struct CheckVariable {
  const char* name;
  uint64_t address;  // of shared ones: the offset in the block's arena
  uint64_t bytes;
  VariableKind kind;
  uint32_t unused;
};

struct CheckTable {
  const CheckSite* sites;
  const CheckVariable* variables;
  uint32_t site_count, variable_count;
  uint32_t checks;  // CheckSet's bits
  uint32_t unused;
};

struct CheckCache {
  uint64_t low, span;  // addresses for which an access of this site lies within its region
  void* region;        // null: memory of the thread itself, or unknown
  // The check `init`: with an address added, its byte of the shadow (shadow.h). Null: nobody watches.
  char* shadow;
};

extern "C" {
// Fills the cache of the site, or reports. `bytes` is the size of this access.
void trine_check_locate(uint64_t address, uint64_t bytes, uint32_t site);
// After locate: `value` is what is stored, when it fits in 8 bytes.
void trine_check_access(uint64_t address, uint64_t bytes, uint64_t value, uint32_t site);
void trine_check_acquire(uint64_t address, uint32_t site);  // after an atomic or volatile access that reads
void trine_check_fence(int32_t whole_device);
[[noreturn]] void trine_check_local(uint64_t offset, uint64_t variable_bytes, const char* variable, uint32_t site);
// Of the check `init`. The shadow of this thread's stack: add an address.
char* trine_check_stack();
// Before a read for which the shadow is not clean: reports, unless the host has written there.
void trine_check_unwritten(uint64_t address, uint64_t bytes, uint32_t site);
// Before memory is copied: what was never written is not at the new place either. Then trine_check_copied is called
// after the copy when this returns 1.
int32_t trine_check_copy(uint64_t to, char* to_shadow, uint64_t from, char* from_shadow, uint64_t bytes);
void trine_check_copied(uint64_t to, uint64_t bytes);
// Of writes by the runtime, of parameters that a call has made, and of less than a word whose shadow is not clean.
void trine_check_written(uint64_t address, uint64_t bytes);
}

}  // namespace trine::simt
