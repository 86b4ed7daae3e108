#include "simt/run/cache_key.h"

#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "simt/run/cache.h"

namespace trine::simt {
namespace {

using Options = compute::CompileOptions;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin);
}

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), {});
  return file.bad() ? std::nullopt : std::optional(std::move(text));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Goes through #include lines, also those that #if leaves out: a key may depend on too much, never on too little.
class Includes {
 public:
  Includes(const Options& options, KeyHash& hash) : options_(options), hash_(hash) {}

  // False when it cannot be told. `folder` is that of the file, for names in quotes.
  bool scan(std::string_view text, const std::string& folder) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      if (!take_line(trimmed(text.substr(begin, end - begin)), folder)) return false;
      begin = end + 1;
    }
    return true;
  }

 private:
  bool take_line(std::string_view line, const std::string& folder) {
    if (line.find("__has_include") != std::string_view::npos) return false;
    if (!line.starts_with('#')) return true;
    line = trimmed(line.substr(1));
    if (line.starts_with("embed")) return false;
    if (!line.starts_with("include")) return true;
    line = trimmed(line.substr(7));
    const char close = line.starts_with('<') ? '>' : '"';
    if (!line.starts_with('<') && !line.starts_with('"')) return false;  // a macro, include_next
    const size_t end = line.find(close, 1);
    return end == std::string_view::npos || take_file(std::string(line.substr(1, end - 1)), close == '"', folder);
  }

  // Files of no folder that is searched are the compiler's, or missing.
  bool take_file(const std::string& name, bool quoted, const std::string& folder) {
    for (const auto& [given, text] : options_.headers)
      if (given == name) return true;  // hashed and scanned with the options
    std::vector<std::string> paths;
    if (name.starts_with('/')) paths = {name};
    else if (quoted) paths = {folder + name};
    if (!name.starts_with('/'))
      for (const std::string& searched : options_.include_dirs) paths.push_back(searched + "/" + name);
    for (const std::string& path : paths) {
      const std::optional<std::string> text = text_of(path);
      if (!text) continue;
      if (!seen_.insert(path).second) return true;
      hash_.add(name);
      hash_.add(*text);
      return scan(*text, folder_of(path));
    }
    return true;
  }

  const Options& options_;
  KeyHash& hash_;
  std::set<std::string> seen_;
};

}  // namespace

std::string_view compiler_stamp() { return TRINE_SIMT_STAMP; }

std::optional<std::string> cache_key(std::string_view source, const Options& options, std::string_view target) {
  KeyHash hash;
  hash.add(compiler_stamp());
  hash.add(target);
  hash.add(source);
  const auto add_list = [&](const std::vector<std::string>& list) {
    hash.add(list.size());
    for (const std::string& text : list) hash.add(text);
  };
  add_list(options.defines);
  add_list(options.instances);
  hash.add(options.headers.size());
  for (const auto& [name, text] : options.headers) {
    hash.add(name);
    hash.add(text);
  }
  hash.add(static_cast<uint64_t>(options.standard));
  hash.add(uint64_t{options.debug} + 2 * uint64_t{options.fast_math} + 4 * uint64_t{options.whole_program});
  hash.add(options.name);  // assert and __FILE__ say it
  Includes includes(options, hash);
  if (!includes.scan(source, "")) return std::nullopt;
  for (const auto& [name, text] : options.headers)
    if (!includes.scan(text, "")) return std::nullopt;
  return hash.text();
}

}  // namespace trine::simt
