#include "codegen/llvm/flatten.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "trine/base/error.h"

namespace trine::codegen {
namespace {

// The object comes from our own back end, so its structure is trusted.
class Flattener {
 public:
  explicit Flattener(std::span<const uint8_t> elf) : elf_(elf) {
    const auto& header = at<Elf64_Ehdr>(0);
    for (size_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    names_ = sections_[header.e_shstrndx].sh_offset;
  }

  FlatCode run() {
    place_.assign(sections_.size(), -1);
    for (size_t i = 0; i < sections_.size(); ++i) place(i);
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type == SHT_RELA && place_[s.sh_info] >= 0) relocate(s);
      if (s.sh_type == SHT_SYMTAB) collect_functions(s);
    }
    return std::move(code_);
  }

 private:
  template <class T>
  const T& at(size_t offset) const {
    return *reinterpret_cast<const T*>(elf_.data() + offset);
  }
  std::string_view section_name(size_t i) const {
    return reinterpret_cast<const char*>(elf_.data() + names_ + sections_[i].sh_name);
  }

  void place(size_t i) {
    const Elf64_Shdr& s = sections_[i];
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_size == 0 || section_name(i).starts_with(".eh_frame")) return;
    if (s.sh_type != SHT_PROGBITS || (s.sh_flags & SHF_WRITE)) {
      throw Error(ErrorCode::unsupported, fmt::format("machine code: section {} cannot be flattened", section_name(i)));
    }
    const size_t align = std::max<size_t>(s.sh_addralign, 64);
    code_.bytes.resize((code_.bytes.size() + align - 1) / align * align);
    place_[i] = static_cast<int64_t>(code_.bytes.size());
    code_.bytes.insert(code_.bytes.end(), elf_.begin() + static_cast<int64_t>(s.sh_offset),
                       elf_.begin() + static_cast<int64_t>(s.sh_offset + s.sh_size));
  }

  const Elf64_Sym& symbol(const Elf64_Shdr& table, size_t i) const {
    return at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
  }
  std::string_view symbol_name(const Elf64_Shdr& table, const Elf64_Sym& s) const {
    return reinterpret_cast<const char*>(elf_.data() + sections_[table.sh_link].sh_offset + s.st_name);
  }

  void relocate(const Elf64_Shdr& rela) {
    for (size_t i = 0; i < rela.sh_size / sizeof(Elf64_Rela); ++i) {
      const auto& r = at<Elf64_Rela>(rela.sh_offset + i * sizeof(Elf64_Rela));
      const Elf64_Shdr& table = sections_[rela.sh_link];
      const Elf64_Sym& s = symbol(table, ELF64_R_SYM(r.r_info));
      const auto type = ELF64_R_TYPE(r.r_info);
      const bool inside = s.st_shndx < sections_.size() && place_[s.st_shndx] >= 0;
      if ((type != R_X86_64_PC32 && type != R_X86_64_PLT32) || !inside) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("machine code: relocation {} to '{}' cannot be resolved", type, symbol_name(table, s)));
      }
      const int64_t where = place_[rela.sh_info] + static_cast<int64_t>(r.r_offset);
      const int64_t target = place_[s.st_shndx] + static_cast<int64_t>(s.st_value) + r.r_addend;
      const auto distance = static_cast<int32_t>(target - where);
      std::memcpy(code_.bytes.data() + where, &distance, sizeof distance);
    }
  }

  void collect_functions(const Elf64_Shdr& table) {
    for (size_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
      const Elf64_Sym& s = symbol(table, i);
      if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || ELF64_ST_BIND(s.st_info) != STB_GLOBAL) continue;
      const auto offset = static_cast<uint32_t>(place_[s.st_shndx] + static_cast<int64_t>(s.st_value));
      code_.functions.emplace(symbol_name(table, s), offset);
    }
  }

  std::span<const uint8_t> elf_;
  std::vector<Elf64_Shdr> sections_;
  size_t names_ = 0;
  std::vector<int64_t> place_;  // per section: its offset in the blob, or -1
  FlatCode code_;
};

}  // namespace

FlatCode flatten(std::span<const uint8_t> elf) { return Flattener(elf).run(); }

}  // namespace trine::codegen
