#include "cc_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "trine/base/error.h"

namespace trine::cli {
namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(ErrorCode::invalid_argument, "cc: " + message); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

// nvcc's flags that have no meaning here, and whether their value is the next word unless it follows a `=`.
struct Ignored {
  std::string_view name;
  bool valued;
};
constexpr Ignored kIgnored[] = {
    {"-arch", true},
    {"--gpu-architecture", true},
    {"-code", true},
    {"--gpu-code", true},
    {"-gencode", true},
    {"--generate-code", true},
    {"-maxrregcount", true},
    {"--maxrregcount", true},
    {"-ccbin", true},
    {"--compiler-bindir", true},
    {"-cudart", true},
    {"--cudart", true},
    {"-Xptxas", true},
    {"--ptxas-options", true},
    {"-t", true},
    {"--threads", true},
    {"-diag-suppress", true},
    {"--diag-suppress", true},
    {"-Xcudafe", true},
    {"-m64", false},
    {"-lineinfo", false},
    {"--generate-line-info", false},
    {"-extended-lambda", false},
    {"--extended-lambda", false},
    {"-expt-extended-lambda", false},
    {"--expt-extended-lambda", false},
    {"-expt-relaxed-constexpr", false},
    {"--expt-relaxed-constexpr", false},
    {"-res-usage", false},
    {"--resource-usage", false},
    {"-cuda", false},
    {"-restrict", false},
    {"-dlto", false},
    {"-lcudart", false},
    {"-lcudart_static", false},
    {"-lcuda", false},
    {"-lnvrtc", false},
    {"-lcudadevrt", false},
    {"-lnvToolsExt", false},
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  CcArguments parse() {
    out_.device.standard = 17;
    out_.device.whole_program = true;
    for (at_ = 0; at_ < words_.size(); ++at_) take(words_[at_]);
    out_.host.push_back(fmt::format("-std=c++{}", out_.device.standard));
    if (out_.sources.empty() && out_.link.empty()) bad("no file; give one that ends in .cu");
    if (out_.compile_only && !out_.output.empty() && out_.sources.size() > 1)
      bad(fmt::format("-c and -o for {} files; give one file, or no -o", out_.sources.size()));
    return std::move(out_);
  }

 private:
  // The rest of this word, or the next one.
  std::string value(std::string_view flag) {
    const std::string& word = words_[at_];
    if (word.size() > flag.size()) return word.substr(flag.size() + (word[flag.size()] == '=' ? 1 : 0));
    if (at_ + 1 == words_.size()) bad(fmt::format("{} without a value", flag));
    return words_[++at_];
  }

  bool is(const std::string& word, std::string_view flag) const {
    return word == flag || (word.starts_with(flag) && word[flag.size()] == '=');
  }

  void take(const std::string& word) {
    if (!word.starts_with('-')) return file(word);
    if (ignored(word) || parts(word) || both(word) || own(word) || linker(word)) return;
    if (is(word, "-Xcompiler") || is(word, "--compiler-options")) {
      for (const std::string& part : split(value(word.starts_with("--") ? "--compiler-options" : "-Xcompiler")))
        out_.host.push_back(part);
      return;
    }
    if (word.starts_with("-W") || word.starts_with("-f") || word.starts_with("-m") || word == "-w" ||
        word == "-pthread" || word == "-pedantic")
      return out_.host.push_back(word);
    bad(fmt::format("flag '{}'; accepted are those of `trine cc --help`, and -Xcompiler FLAG for the host's compiler",
                    word));
  }

  void file(const std::string& name) {
    const auto ends = [&](std::string_view end) { return name.ends_with(end); };
    constexpr std::string_view kSources[] = {".cu", ".cc", ".cpp", ".cxx", ".C", ".c"}, kLinked[] = {".o", ".a", ".so"};
    const bool source = std::any_of(std::begin(kSources), std::end(kSources), ends) ||
                        (out_.all_cuda && std::none_of(std::begin(kLinked), std::end(kLinked), ends));
    (source ? out_.sources : out_.link).push_back(name);
  }

  bool ignored(const std::string& word) {
    for (const Ignored& row : kIgnored) {
      if (!is(word, row.name)) continue;
      out_.notes.push_back(word);
      if (row.valued && word == row.name) value(row.name);
      return true;
    }
    return false;
  }

  // Device code in parts, as nvcc has it.
  bool parts(const std::string& word) {
    const std::string_view flag = is(word, "-rdc") ? "-rdc" : "--relocatable-device-code";
    if (is(word, flag)) {
      const std::string said = value(flag);
      if (said != "true" && said != "false") bad(fmt::format("{}={}; accepted are true and false", flag, said));
      out_.relocatable = said == "true";
    } else if (word == "-dc" || word == "--device-c") {
      out_.relocatable = out_.compile_only = true;
    } else if (word == "-dlink" || word == "--device-link") {
      out_.link_only = true;
    } else if (word == "-lib" || word == "--lib") {
      out_.library = true;
    } else if (is(word, "-x") || is(word, "--x")) {
      out_.all_cuda = value(word.starts_with("--") ? "--x" : "-x") == "cu";
    } else {
      return false;
    }
    return true;
  }

  // What the host's compiler and that of kernels both see.
  bool both(const std::string& word) {
    if (word.starts_with("-I") || is(word, "--include-path")) {
      const std::string folder = value(word.starts_with("-I") ? "-I" : "--include-path");
      out_.device.include_dirs.push_back(folder);
      out_.host.push_back("-I" + folder);
    } else if (is(word, "-isystem")) {
      const std::string folder = value("-isystem");
      out_.device.include_dirs.push_back(folder);
      out_.host.insert(out_.host.end(), {"-isystem", folder});
    } else if (word.starts_with("-D") || is(word, "--define-macro")) {
      const std::string define = value(word.starts_with("-D") ? "-D" : "--define-macro");
      out_.device.defines.push_back(define);
      out_.host.push_back("-D" + define);
    } else if (is(word, "-std") || is(word, "--std")) {
      const std::string name = value(word.starts_with("--") ? "--std" : "-std");
      out_.device.standard = name.ends_with("14") || name.ends_with("11") ? 14 : name.ends_with("20") ? 20 : 17;
    } else if (word == "-use_fast_math" || word == "--use_fast_math") {
      out_.device.fast_math = true;
    } else if (word.starts_with("-O")) {
      out_.host.push_back(word);
    } else if (word == "-g" || word == "--debug") {
      out_.host.push_back("-g");
      out_.device.debug = true;
    } else if (word == "-G" || word == "--device-debug") {
      out_.device.debug = true;
    } else {
      return false;
    }
    return true;
  }

  bool own(const std::string& word) {
    if (word == "-c" || word == "--compile") out_.compile_only = true;
    else if (word == "-v" || word == "--verbose") out_.verbose = true;
    else if (word.starts_with("-o") || is(word, "--output-file"))
      out_.output = value(word.starts_with("-o") ? "-o" : "--output-file");
    else if (word == "--gpu") out_.architectures.push_back("sm_80");
    else if (is(word, "--gpu")) out_.architectures = split(value("--gpu"));
    else if (is(word, "--check")) checks(value("--check"));
    else return false;
    return true;
  }

  bool linker(const std::string& word) {
    if (word.starts_with("-L") || word.starts_with("-l")) {
      const std::string flag = word.substr(0, 2);
      out_.link.push_back(flag + value(flag));
    } else if (is(word, "-Xlinker")) {
      out_.link.push_back("-Wl," + value("-Xlinker"));
    } else if (word.starts_with("-Wl,") || word == "-shared" || word == "-static-libstdc++" || word == "-rdynamic") {
      out_.link.push_back(word);
    } else {
      return false;
    }
    return true;
  }

  void checks(const std::string& list) {
    for (const std::string& name : split(list)) {
      constexpr std::string_view kKnown[] = {"memory", "race", "barrier", "init", "all"};
      if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown))
        bad(fmt::format("--check={}; accepted are {}", name, fmt::join(kKnown, ", ")));
      out_.device.checks.push_back(name);
    }
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  CcArguments out_;
};

}  // namespace

bool is_cuda(const CcArguments& arguments, const std::string& source) {
  return arguments.all_cuda || source.ends_with(".cu");
}

CcArguments parse_cc(const std::vector<std::string>& words) { return Parser(words).parse(); }

}  // namespace trine::cli
