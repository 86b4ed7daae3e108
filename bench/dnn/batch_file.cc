#include "batch_file.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "descriptor.h"
#include "options.h"
#include "trine/base/error.h"

namespace trine::bench {
namespace {

namespace fs = std::filesystem;

// What a list may cost, whoever wrote it.
constexpr uintmax_t kMostBytes = 64 << 20;
constexpr size_t kMostEntries = 500'000;
constexpr int kMostFilesDeep = 16;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Splits a text into tokens and knows their lines.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // Empty at the end.
  std::string next() {
    std::string token;
    for (;;) {
      skip_space();
      if (token.empty()) token_line_ = line_;
      const size_t begin = at_;
      while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
      token += text_.substr(begin, at_ - begin);
      if (token.starts_with('#')) {
        skip_line();
        token.clear();
      } else if (token.ends_with('\\')) {
        token.pop_back();
        if (at_ == text_.size()) return token;
      } else {
        return token;
      }
    }
  }
  int line() const { return token_line_; }

 private:
  void skip_space() {
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_) line_ += text_[at_] == '\n';
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1, token_line_ = 1;
};

Driver driver_of_folder(const std::string& path) {
  return driver_named(fs::path(path).parent_path().filename().string());
}

class Reader {
 public:
  // Both return the driver that was in force at the end.
  Driver read_file(const std::string& path, Driver driver, int depth) {
    std::error_code failed;
    const uintmax_t size = fs::file_size(path, failed);
    if (failed) throw Error(ErrorCode::io, fmt::format("{}: cannot read; a problem list is wanted", path));
    if (size > kMostBytes) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: {} bytes; a list has at most {}", path, size, kMostBytes));
    }
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return read_text(text, path, driver, depth);
  }

  Driver read_text(std::string_view text, const std::string& path, Driver driver, int depth) {
    Entry entry;
    entry.file = path;
    entry.driver = driver == Driver::none ? driver_of_folder(path) : driver;
    Tokens tokens(text);
    for (std::string token = tokens.next(); !token.empty(); token = tokens.next()) {
      entry.line = tokens.line();
      if (token == "--reset") {
        options_.reset();
      } else if (token.starts_with("--batch=")) {
        include(token, entry, depth);
      } else if (const Driver named = driver_option(token); named != Driver::none) {
        entry.driver = named;
        options_ = {};
      } else if (token.starts_with("--")) {
        options_.set(token, entry);
        if (entry.driver == Driver::graph && token.starts_with("--case=")) add(token.substr(7), entry);
      } else {
        add(token, entry);
      }
    }
    return entry.driver;
  }

  std::vector<Entry> entries;

 private:
  static Driver driver_option(std::string_view token) {
    return token.starts_with("--") ? driver_named(token.substr(2)) : Driver::none;
  }

  void include(const std::string& token, const Entry& where, int depth) {
    if (depth == kMostFilesDeep)
      refuse(where, token, fmt::format("lists within lists more than {} deep", kMostFilesDeep));
    const fs::path wanted = token.substr(8), folder = fs::path(where.file).parent_path();
    const fs::path places[] = {folder / wanted, folder.parent_path() / name(where.driver) / wanted, wanted};
    std::error_code ignored;
    for (const fs::path& place : places) {
      if (!fs::is_regular_file(place, ignored)) continue;
      const OptionState ours = options_;
      if (read_file(place.string(), where.driver, depth + 1) != where.driver) options_ = ours;
      return;
    }
    refuse(where, token, fmt::format("no such list; looked for {} and {}", places[0].string(), places[1].string()));
  }

  void add(const std::string& token, Entry entry) {
    if (entry.driver == Driver::none) {
      refuse(entry, token,
             fmt::format("no driver yet; accepted: a line --NAME before it, NAME one of {}", driver_names()));
    }
    if (token.starts_with('-')) refuse(entry, token, "accepted: an option --NAME=VALUE, or a problem");
    if (entry.driver == Driver::graph) {
      entry.text = token;
    } else if (entry.driver < kFirstOfTensors) {
      parse_descriptor(token, entry);
    } else {
      parse_tensors(token, entry);
    }
    for (auto& combination : options_.combinations(entry)) {
      if (entries.size() == kMostEntries) refuse(entry, token, fmt::format("more than {} problems", kMostEntries));
      entries.push_back(entry);
      apply(std::move(combination));
    }
  }

  // Options of the last entry; --mb replaces the batch size of a descriptor.
  void apply(std::map<std::string, std::string> options) {
    Entry& entry = entries.back();
    entry.options = std::move(options);
    const std::string mb = entry.option("mb", "0");
    size_t position = 0;
    const int64_t batch = parse_number(mb, position, entry);
    if (position != mb.size()) refuse(entry, "--mb=" + mb, "accepted: whole numbers; 0 keeps the list's");
    if (batch > 0 && entry.driver < kFirstOfTensors) set_batch(entry, batch);
  }

  OptionState options_;
};

}  // namespace

std::vector<Entry> read_batch_file(const std::string& path, Driver driver) {
  Reader reader;
  reader.read_file(path, driver, 0);
  return std::move(reader.entries);
}

std::vector<Entry> read_batch_text(std::string_view text, const std::string& path, Driver driver) {
  Reader reader;
  reader.read_text(text, path, driver, 0);
  return std::move(reader.entries);
}

}  // namespace trine::bench
