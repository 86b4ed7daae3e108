#include "simt/compile/stored_code.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>

#include "simt/run/encode.h"

namespace trine::simt {

std::string encode(const StoredCode& code) {
  Writer to;
  to.text(code.symbol);
  to.text(code.object);
  to.text(code.why_none);
  for (const uint32_t number : {code.shared_bytes, code.frame_bytes, code.width, code.waits}) to.number(number);
  to.number(code.variables.size());
  for (const std::string& name : code.variables) to.text(name);
  return to.take();
}

std::optional<StoredCode> decode_code(std::string_view bytes) {
  Reader from(bytes);
  StoredCode code;
  code.symbol = from.text();
  code.object = from.text();
  code.why_none = from.text();
  code.shared_bytes = from.small();
  code.frame_bytes = from.small();
  code.width = from.small();
  code.waits = from.small();
  code.variables.resize(from.count());
  for (std::string& name : code.variables) name = from.text();
  return from.finished() ? std::optional(std::move(code)) : std::nullopt;
}

std::string key_of(const std::vector<std::string_view>& parts) {
  Writer all;
  for (const std::string_view part : parts) all.text(part);
  const std::string bytes = all.take();
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  return llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

}  // namespace trine::simt
